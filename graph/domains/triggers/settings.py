"""The settings of the triggers."""

from pydantic import Field, IPvAnyNetwork, PositiveFloat

from graph.settings import CommaSeparated, SettingsPart


class TriggerSettings(SettingsPart):
    """Who delivers webhooks, and where they may be sent."""

    deliver: bool = Field(
        True, description="Whether `serve` delivers webhooks and follows watches; if not, `quakegraph deliver` has to."
    )
    deliverer_lease: float = Field(
        10.0,
        ge=1,
        le=600,
        description="Seconds after which another process delivers if the one that did has died.",
    )
    webhook_timeout: float = Field(
        15.0, gt=0, le=60, description="Seconds that an endpoint may take to answer a webhook."
    )
    webhook_retries: CommaSeparated[PositiveFloat] = Field(
        (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400),
        min_length=1,
        max_length=20,
        description="Greatest seconds before each further attempt of a delivery, separated by commas.",
    )
    webhook_networks: CommaSeparated[IPvAnyNetwork] = Field(
        (),
        description="Networks such as `10.0.0.0/8`, separated by commas, to which webhooks may be sent beside public "
        "addresses.",
    )
    webhook_http: bool = Field(False, description="Whether webhooks may be sent to `http://` as well as `https://`.")
    max_endpoints: int = Field(20, ge=1, le=40, description="Maximum number of endpoints of a user.")
    max_watch_events: int = Field(
        10_000, ge=1, le=10_000_000, description="Maximum number of events that the watches of a user make in an hour."
    )
