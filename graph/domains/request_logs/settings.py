"""The settings of the request logs."""

from pydantic import Field

from graph.settings import SettingsPart


class RequestLogSettings(SettingsPart):
    """How many request logs are written and kept."""

    max_logs: int = Field(
        1_000_000,
        ge=0,
        description="Maximum number of stored request logs, 0 for none. A day stores a ninth of them whole, "
        "then a sample.",
    )
    max_log_bytes: int = Field(536_870_912, ge=0, description="Maximum size of all stored request logs in bytes.")
    max_logs_per_minute: int = Field(
        6000,
        ge=0,
        description="Number of request logs that one process stores whole in a minute. Of further ones it stores a "
        "sample, an eighth as many at most.",
    )
    max_log_bytes_per_minute: int = Field(
        4_194_304, ge=0, description="Size of these request logs in bytes, without the sample."
    )
