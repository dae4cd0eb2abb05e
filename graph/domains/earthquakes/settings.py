"""The settings of the catalogue."""

from pydantic import Field, field_validator

from graph.settings import SettingsPart, Url


class EarthquakeSettings(SettingsPart):
    """How the catalogue is kept up and shown."""

    poll: float = Field(0, ge=0, le=86_400, description="Seconds between polls of USGS, 60 or more; 0 for none.")
    demo: bool = Field(False, description="Load a real week of events when the catalogue is empty.")
    usgs_url: Url = Field(
        "https://earthquake.usgs.gov",
        description="Where USGS is reached. Redirects to another origin are not followed.",
    )
    usgs_timeout: float = Field(30.0, gt=0, le=600, description="Seconds for one attempt on USGS.")
    max_days_counted: int = Field(
        100, ge=1, le=100_000, description="Day buckets that `totalCount` reads at most; beyond, it is null."
    )
    dashboard: bool = Field(True, description="Whether the root is the dashboard.")

    @field_validator("poll")
    @classmethod
    def _is_polite(cls, seconds: float) -> float:
        if 0 < seconds < 60:
            raise ValueError("must be 0, or 60 or more: USGS renews its feeds once a minute")
        return seconds
