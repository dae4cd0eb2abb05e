"""The settings of the own logs."""

from pydantic import Field

from graph.settings import SettingsPart


class OwnLogSettings(SettingsPart):
    """Whether own logs are kept, and how many."""

    own_logs: bool = Field(
        False, description="Whether the service keeps its own log lines as service logs, of the service `quakegraph`."
    )
    max_own_logs_per_minute: int = Field(
        6000, ge=0, description="Maximum number of own logs of one process in a minute; further ones are lost."
    )
