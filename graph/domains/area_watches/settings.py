"""The settings of the area watches."""

from pydantic import Field

from graph.settings import SettingsPart


class AreaWatchSettings(SettingsPart):
    """How many area watches there may be."""

    sighting_watches: int = Field(100, ge=1, le=10_000, description="Maximum number of watched areas of a user.")
