"""The settings of the sightings."""

from pathlib import Path

from pydantic import Field, ValidationInfo, field_validator

from graph.domains.sightings.categories import CategoryName
from graph.settings import CommaSeparated, SettingsPart

LONGEST_S = 82_800  # 23 hours, so that the hour of the day tells when an active sighting was reported


class SightingSettings(SettingsPart):
    """How long sightings are active, what they are about, and how many a user may report."""

    sighting_lifetime: int = Field(
        1800, ge=60, le=LONGEST_S, description="Seconds until a new sighting expires, on the next whole minute."
    )
    sighting_refresh: int = Field(
        1800, ge=0, le=LONGEST_S, description="Seconds that a sighting has left at least once it is confirmed."
    )
    sighting_longest: int = Field(
        21_600, ge=60, le=LONGEST_S, description="Seconds after which a sighting expires although it is confirmed."
    )
    sighting_categories: CommaSeparated[CategoryName] = Field(
        (), max_length=32, description="Categories of sightings beside the usual ones, separated by commas."
    )
    sighting_areas: Path | None = Field(
        None, description="CSV file of known areas: `slug,name,lat,lon`. A position then belongs to the nearest one."
    )
    sighting_reports: int = Field(
        10,
        ge=1,
        le=10_000,
        description="Maximum number of reports of a user in an area, or from a cell of 10 km, within an hour.",
    )

    @field_validator("sighting_longest")
    @classmethod
    def _is_at_least_the_lifetime(cls, longest: int, info: ValidationInfo) -> int:
        if longest < info.data.get("sighting_lifetime", 0):
            raise ValueError("must not be less than GRAPH_SIGHTING_LIFETIME")
        return longest
