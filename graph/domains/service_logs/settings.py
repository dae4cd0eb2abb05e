"""The settings of the service logs."""

from pydantic import Field

from graph.settings import CommaSeparated, SettingsPart

MOST_DAYS = 36_500


class ServiceLogSettings(SettingsPart):
    """How long service logs are kept, and how they are spread."""

    application_log_days: int = Field(
        90, ge=0, le=MOST_DAYS, description="Days that a service log of the type application is kept; 0 for ever."
    )
    system_log_days: int = Field(
        90, ge=0, le=MOST_DAYS, description="Days that a service log of the type system is kept; 0 for ever."
    )
    audit_log_days: int = Field(
        90, ge=0, le=MOST_DAYS, description="Days that a service log of the type audit is kept; 0 for ever."
    )
    hot_services: CommaSeparated[str] = Field(
        (),
        description="Names of services, separated by commas, that write so many logs that each is spread over ten "
        "partitions of DynamoDB.",
    )
    max_services: int = Field(
        1000,
        ge=1,
        le=10_000,
        description="Maximum number of services that write logs, of which one sender may add half; the logs of others "
        "are rejected.",
    )
