"""The settings of statistics."""

from pydantic import Field

from graph.settings import SettingsPart


class StatisticsSettings(SettingsPart):
    """The limits of statistics."""

    max_statistics_events: int = Field(
        30_000,  # SQLite reads so many in a tenth of a second
        ge=1_000,
        le=1_000_000,
        description="Maximum number of events that `catalogueStatistics` reads; beyond it, what needs them is null "
        "with a reason, or refused. Filters beyond time and magnitude are tested on ten times as many.",
    )
