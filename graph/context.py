"""What one request carries to its resolvers."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from graph.access.callers import Caller
from graph.clock import Clock
from graph.earthquakes.catalogue import Catalogue
from graph.earthquakes.ingest import Ingest
from graph.earthquakes.live import Charge, Live, nothing
from graph.earthquakes.upkeep import Upkeep
from graph.paging import PageSizes
from graph.request_log.access_patterns import RequestLogs
from graph.request_log.buffer import LogBuffer

FieldObserver = Callable[[str, str, float], None]
"""(root field, code of its error or OK, seconds): told of each root field of a query."""


def unobserved(field: str, code: str, seconds: float) -> None:
    """Observe nothing."""


@dataclass(slots=True, kw_only=True)
class Context:
    """The parts of the service that resolvers ask, and who is asking."""

    catalogue: Catalogue
    ingest: Ingest
    live: Live
    upkeep: Upkeep
    request_logs: RequestLogs
    log_buffer: LogBuffer
    page_sizes: PageSizes
    clock: Clock
    caller: Caller
    request_id: str  # UUID v4
    observe_field: FieldObserver = unobserved
    charge_replay: Charge = nothing
    _logged: int = 0

    def next_log_id(self) -> str:
        """The id of a root field's log: the request's own for the first, as each log needs one of its own."""
        self._logged += 1
        return self.request_id if self._logged == 1 else str(uuid4())
