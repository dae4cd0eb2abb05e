"""The settings of the request logs."""

from pydantic import Field

from graph.settings import SettingsPart


class RequestLogSettings(SettingsPart):
    """How many request logs are written and kept."""

    max_logs: int = Field(
        1_000_000,
        ge=0,
        description="Maximum number of stored request logs, of which each day gets an eighth; 0 for none.",
    )
    max_log_bytes: int = Field(536_870_912, ge=0, description="Maximum size of all stored request logs in bytes.")
    max_logs_per_minute: int = Field(
        6000, ge=0, description="Maximum number of request logs of one process in a minute."
    )
    max_log_bytes_per_minute: int = Field(4_194_304, ge=0, description="Maximum size of these request logs in bytes.")
