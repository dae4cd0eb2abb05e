"""The settings of the request logs."""

from pydantic import Field

from graph.settings import SettingsPart


class RequestLogSettings(SettingsPart):
    """How many request logs are written and kept."""

    max_logs: int = Field(
        1_000_000, ge=0, description="Request logs that are kept at most, an eighth of them for each day; 0 for none."
    )
    max_log_bytes: int = Field(536_870_912, ge=0, description="Bytes that they take at most.")
    max_logs_per_minute: int = Field(6000, ge=0, description="Request logs of a minute in one process at most.")
    max_log_bytes_per_minute: int = Field(4_194_304, ge=0, description="Bytes that they take at most.")
