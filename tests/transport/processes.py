"""What a process holds, for tests of the transport: `a_process(rates=…)`."""

from typing import Any

from graph.access.callers import Caller
from graph.access.rate import Rates
from graph.api.recording import Recording
from graph.core.clock import now_ms
from graph.core.paging import PageSizes
from graph.core.services import Services
from graph.observability.metrics import Metrics
from graph.observability.requests import timed_requests
from graph.observability.tracing import Tracing
from graph.transport.deadline import Deadlines
from graph.transport.exchange import Exchange, ExecutionLimits, Process
from graph.work.account import Work
from graph.work.endings import Endings
from graph.work.slots import Slots
from graph.work.threads import FairThreads

ANYBODY = Caller("ada", frozenset())


def a_process(**given: Any) -> Process:
    """What a process without limits and services holds, but for what is given."""
    metrics = Metrics()
    held: dict[str, Any] = {
        "services": Services(),
        "recording": Recording(metrics),
        "page_sizes": PageSizes(),
        "clock": now_ms,
        "requests": timed_requests(metrics),
        "tracing": Tracing(),
        "authenticate": lambda header: ANYBODY,
        "rates": Rates(),
        "limits": ExecutionLimits(1000, 60, 60),
        "work": Work(),
        "preparing": FairThreads(1, "documents"),
        "deadlines": Deadlines(),
        "subscriptions": Slots(of_caller=1),
        "downloads": Slots(of_caller=1),
        "sockets": Slots(of_caller=1),
        "endings": Endings(),
        "feeds": None,  # only a GET needs them
    }
    return Process(**{**held, **given})


def an_exchange(process: Process, caller: Caller = ANYBODY) -> Exchange:
    """A request of a caller."""
    return Exchange(process, {}, "1", None, caller=caller)
