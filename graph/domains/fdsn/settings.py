"""The settings of the web service."""

from pydantic import Field

from graph.domains.fdsn.public_ids import AUTHORITY
from graph.settings import SettingsPart


class FdsnSettings(SettingsPart):
    """Whether and how the web service answers."""

    fdsn: bool = Field(True, description="Whether `/fdsnws/event/1` answers as FDSN describes.")
    fdsn_authority: str = Field(
        "quakegraph",
        pattern=f"^{AUTHORITY}$",
        description="Authority in the public ids of QuakeML, such as the domain of the service: 3 characters or more, "
        "no colon.",
    )
    fdsn_max_events: int = Field(
        200_000, ge=1, le=100_000_000, description="Maximum number of events in one answer of `/fdsnws/event/1/query`."
    )
