"""What one request carries to its resolvers."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from graph.access.callers import Caller
from graph.core.clock import Clock
from graph.core.paging import PageSizes
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.ingest.status import Upkeep
from graph.domains.earthquakes.live import EventBroadcast
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.buffer import LogBuffer
from graph.feed.broadcast import Charge, free_of_charge

FieldObserver = Callable[[str, str, float], None]
"""(root field, code of its error or OK, seconds): told of each root field of a query."""


def unobserved(field: str, code: str, seconds: float) -> None:
    """Observe nothing."""


@dataclass(slots=True, kw_only=True)
class Context:
    """The parts of the service that resolvers ask, and who is asking."""

    catalogue: Catalogue
    ingest: Ingest
    live: EventBroadcast
    upkeep: Upkeep
    request_logs: RequestLogs
    log_buffer: LogBuffer
    page_sizes: PageSizes
    clock: Clock
    caller: Caller
    request_id: str  # UUID v4
    observe_field: FieldObserver = unobserved
    charge_replay: Charge = free_of_charge
    _logged: int = 0

    def next_log_id(self) -> str:
        """The id of a root field's log: the request's own for the first, as each log needs one of its own."""
        self._logged += 1
        return self.request_id if self._logged == 1 else str(uuid4())
