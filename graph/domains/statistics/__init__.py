"""Counts by magnitude and time, and what seismology makes of them: a part of the catalogue."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from graph.domain import Domain, Resources
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.statistics.reader import StatisticsReader
from graph.domains.statistics.schema.statistics import StatisticsQueries
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


async def open_services(resources: Resources) -> Sequence[object]:
    """Open the statistics."""
    most_events = resources.settings.part(StatisticsSettings).max_statistics_events
    return [StatisticsReader(resources.database, resources.services.of(Catalogue), most_events=most_events)]


DOMAIN = Domain(
    name="statistics",
    part_of="earthquakes",
    settings=StatisticsSettings,
    open=open_services,
    queries=(StatisticsQueries,),
    examples=Path(__file__).parent / "examples",
)
