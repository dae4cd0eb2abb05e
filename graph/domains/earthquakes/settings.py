"""The settings of the catalogue."""

from typing import Literal

from pydantic import Field, field_validator

from graph.settings import SettingsPart, Url

PUBLIC_SERVICE = "https://earthquake.usgs.gov"


class EarthquakeSettings(SettingsPart):
    """The settings of polling, USGS, totals and summaries."""

    poll: float = Field(0, ge=0, le=86_400, description="Seconds between polls of USGS, 60 or more; 0 for no polling.")
    demo: bool = Field(
        False,
        description="Whether a real week of events is loaded into an empty catalogue, and examples into other domains.",
    )
    revisions: Literal["keep", "ignore"] = Field(
        "keep",
        description="`keep` stores what USGS revises as a new version. With `ignore` the first write of an event wins.",
    )
    usgs_url: Url = Field(
        PUBLIC_SERVICE,
        description="Address of USGS. Redirects to another origin are not followed.",
    )
    usgs_timeout: float = Field(30.0, gt=0, le=600, description="Seconds for one attempt on USGS.")
    max_days_counted: int | None = Field(
        None,
        ge=1,
        le=100_000,
        description="Maximum number of days that `totalCount` reads; beyond it, the total is null. "
        "By default 100 on DynamoDB, and 100,000 on SQLite.",
    )
    check_summaries: float = Field(
        300,
        ge=0,
        le=86_400,
        description="Seconds between checks whether the summaries count all events, 60 or more; 0 for no checks.",
    )

    @field_validator("poll")
    @classmethod
    def _is_at_most_once_a_minute(cls, seconds: float) -> float:
        if 0 < seconds < 60:
            raise ValueError("must be 0, or 60 or more: USGS renews its feeds once a minute")
        return seconds

    @field_validator("check_summaries")
    @classmethod
    def _is_at_most_one_check_a_minute(cls, seconds: float) -> float:
        if 0 < seconds < 60:
            raise ValueError("must be 0, or 60 or more")
        return seconds
