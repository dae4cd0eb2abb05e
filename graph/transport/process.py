"""What a process holds while it serves: one typed value, which the application makes at its start."""

from dataclasses import dataclass

from starlette.types import Scope

from graph.access.authentication import Authenticate
from graph.access.rate import Rates
from graph.api.recording import Recording
from graph.core.clock import Clock
from graph.core.paging import PageSizes
from graph.core.services import Services
from graph.observability.requests import Telemetry
from graph.transport.deadline import Deadlines
from graph.transport.streams import Streams
from graph.work.account import Work
from graph.work.endings import Endings
from graph.work.threads import FairThreads


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """What all requests of a process share."""

    services: Services
    recording: Recording
    page_sizes: PageSizes
    clock: Clock
    telemetry: Telemetry
    authenticate: Authenticate
    rates: Rates
    work: Work
    preparing: FairThreads  # of long documents
    deadlines: Deadlines
    subscriptions: Streams
    downloads: Streams
    sockets: Streams
    endings: Endings


def process_of(scope: Scope) -> Process:
    """The process that serves a request. The application's lifespan has put it into the state of each."""
    process: Process = scope["state"]["process"]
    return process
