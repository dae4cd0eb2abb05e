"""The settings of the service, read once from the environment: `GRAPH_PORT` is `port` here.

Options of the command line set the same names. The README's table of settings is checked
against this file.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, AnyHttpUrl, Field, TypeAdapter, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from graph.store.location import StoreLocation


def _store_url(url: str) -> str:
    StoreLocation.of(url)
    return url


def _http_url(url: str) -> str:
    TypeAdapter(AnyHttpUrl).validate_python(url)
    return url.rstrip("/")


class Settings(BaseSettings):
    """What an operator can set. Each line has its unit and default; the description says what it does."""

    model_config = SettingsConfigDict(env_prefix="GRAPH_", frozen=True, extra="ignore", env_ignore_empty=True)

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    store: Annotated[str, AfterValidator(_store_url)] = Field(
        "sqlite:///quakegraph.db", description="Where the catalogue is kept: `sqlite:///FILE` or `dynamodb://TABLE`."
    )
    workers: int = Field(1, ge=1, le=64, description="Number of processes that serve.")
    poll: float = Field(0, ge=0, le=86_400, description="Seconds between ingests of recent events; 0 for none.")
    demo: bool = Field(False, description="Load a real week of events when the catalogue is empty.")
    usgs_url: Annotated[str, AfterValidator(_http_url)] = Field(
        "https://earthquake.usgs.gov", description="Where USGS is reached."
    )
    usgs_timeout: float = Field(30.0, gt=0, le=600, description="Seconds for one attempt on USGS.")
    page_size: int = Field(50, ge=1, le=1000, description="Records on a page where a query names no number.")
    max_page_size: int = Field(1000, ge=1, le=10_000, description="Records on a page at most.")
    max_days_counted: int = Field(
        100, ge=1, le=100_000, description="Day buckets that `totalCount` reads at most; beyond, it is null."
    )
    shutdown_timeout: int = Field(30, ge=1, le=600, description="Seconds that requests have to finish at the end.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="What is logged at least.")

    @field_validator("max_page_size")
    @classmethod
    def _holds_a_default_page(cls, most: int, info: ValidationInfo) -> int:
        if most < info.data.get("page_size", 1):
            raise ValueError("must not be less than GRAPH_PAGE_SIZE")
        return most

    @field_validator("poll")
    @classmethod
    def _is_a_lease(cls, seconds: float) -> float:
        if 0 < seconds < 1:
            raise ValueError("must be 0, or 1 or more: the lease of a poll is of whole seconds")
        return seconds

    def environment(self) -> dict[str, str]:
        """The settings as environment variables, for a process that reads them itself."""
        return {f"GRAPH_{name.upper()}": str(value) for name, value in self.model_dump().items()}
