"""The settings of the watches."""

from pydantic import Field

from graph.settings import SettingsPart


class WatchSettings(SettingsPart):
    """How many watches there may be."""

    max_watches: int = Field(1000, ge=1, le=100_000, description="Maximum number of watches of a user.")
