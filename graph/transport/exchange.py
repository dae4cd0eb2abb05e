"""One request and its answer, of any transport, with what the process holds for all.

    caller → points → scopes → context → answered or refused → recorded

A request that is refused before it has paid costs a point, which limits refused requests too.

Root fields record themselves. Where none ran, nothing else would say that a client fails: its document cannot be
parsed, is not valid or costs too much, its variables do not fit, its token lacks a scope. Each such request has one
record with one stable route, a status and a code, and nothing of what the client sent. One whose client has no point
left has no record, and the recorder keeps fewer of these records than of others. A route beside the graph, such as a
download, is recorded like a root field.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Self, TypeVar

from starlette.types import Scope

from graph.access.authentication import Authenticate
from graph.access.callers import Caller
from graph.access.rate import Rates, spender
from graph.api.context import Context
from graph.api.documents.prepared import InvalidDocument
from graph.api.recording import RecordedWork, Recording
from graph.core.clock import Clock
from graph.core.errors import GraphError, InternalServerError, RateLimited
from graph.core.paging import PageSizes
from graph.core.services import Services
from graph.feed.states import FeedStates
from graph.observability.metrics import OK
from graph.observability.requests import ABANDONED, RequestOutcome, record
from graph.observability.timed import Timed
from graph.observability.tracing import Tracing
from graph.settings import Settings
from graph.transport.deadline import Deadlines
from graph.work.account import Account, Charge, Work
from graph.work.endings import Endings
from graph.work.slots import Slots
from graph.work.threads import FairThreads

GRAPH_ROUTE = "/graphql"
NOBODY = Caller(None, frozenset())

T = TypeVar("T")

AtEnd = Callable[[str], None]
"""Called at the end of an answer with the code of its error, `OK` or `ABANDONED`."""


@dataclass(frozen=True, slots=True)
class ExecutionLimits:
    """What one operation may take."""

    cost: int  # points
    query_seconds: float
    mutation_seconds: float  # an ingest waits for USGS

    @classmethod
    def of(cls, settings: Settings) -> "ExecutionLimits":
        """The limits of the settings."""
        return cls(settings.max_cost, settings.execution_timeout, settings.ingest_timeout)


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """What all requests of a process share."""

    services: Services
    recording: Recording
    page_sizes: PageSizes
    clock: Clock
    requests: Timed
    tracing: Tracing
    authenticate: Authenticate
    rates: Rates
    limits: ExecutionLimits
    work: Work
    preparing: FairThreads  # of long documents
    deadlines: Deadlines
    subscriptions: Slots
    downloads: Slots
    sockets: Slots
    endings: Endings
    feeds: FeedStates


def process_of(scope: Scope) -> Process:
    """The process that serves a request. The application's lifespan has put it into the state of each."""
    process: Process = scope["state"]["process"]
    return process


class Exchange:
    """One request and its answer. Within its `with`, it is measured and traced."""

    def __init__(
        self,
        process: Process,
        headers: Mapping[str, str],
        request_id: str,
        address: str | None,
        *,
        caller: Caller = NOBODY,
        route: str = GRAPH_ROUTE,
    ) -> None:
        """Begin.

        Args:
            request_id: UUID v4.
            address: of the client; None if the server does not know it.
            caller: who sent the request, if that is known already.
            route: the stable path for metrics and records.
        """
        self.process = process
        self.request_id = request_id
        self.route = route
        self.facts: dict[str, Any] = {}  # for the record of a route, which adds them
        self.at_end: AtEnd = _nothing  # for a route: told the outcome before it is recorded; may add facts
        self.is_sending = False  # whether the head of a long answer is sent, so that no refusal is possible
        self.answer = RequestOutcome()  # the outcome, which the transport fills in
        self.tag: str | None = None  # of the answer, as long as it can have one
        self.context = Context(
            services=process.services,
            recording=process.recording,
            page_sizes=process.page_sizes,
            clock=process.clock,
            caller=caller,
            request_id=request_id,
            address=address,
        )
        self._is_admitted = False
        self._headers = headers

    def __enter__(self) -> Self:
        self._began = self.process.clock()
        self._started = perf_counter()
        self._traced = self.process.tracing.operation(self._headers)
        self._span = self._traced.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        record(self.answer, perf_counter() - self._started, self._span, self.process.requests)
        self._traced.__exit__(*raised)

    # Admission

    @property
    def spender(self) -> str:
        """The name that points are charged to. It is the address until the caller is known."""
        return spender(self.context.caller.subject, self.context.address)

    def admit(self, points: int) -> Awaitable[None] | None:
        """Charge the price of what is asked. Returns what to wait for, if anything.

        A subscription pays the same price for each result that is replayed.

        Raises what `Rates.spend` raises.
        """
        rates, spender = self.process.rates, self.spender  # the context refers to these: to itself, it would be a cycle

        async def charge_replay(read: int, sent: int) -> None:
            await rates.spend_in_time(spender, read + sent * points)

        self.context.charge_replay = charge_replay
        self._is_admitted = True
        return rates.spend(spender, points)

    def spend(self, points: int) -> Awaitable[None] | None:
        """Charge the caller for more. Returns what to wait for, if anything."""
        return self.process.rates.spend(self.spender, points)

    def account(self, most: int, *, price: int = 0, owed: float = 0.0, charge: Charge | None = None) -> Account:
        """An account for what reading costs; it charges the caller at once by default."""
        return Account(self.process.work, self.spender, most, charge or self.spend, price, owed=owed)

    async def on_a_thread(self, job: Callable[[], T]) -> T:
        """Do a long job on a thread. Its time is charged to the caller."""
        with self.account(0):
            return await self.process.preparing.run(job)

    # The end

    async def refused(self, error: Exception) -> Exception:
        """Charge and record a refusal. Returns the error to answer with."""
        refusal = await self.charged(error)
        self.failed(refusal)
        return refusal

    async def charged(self, error: Exception) -> Exception:
        """Charge a refusal, unless the request has paid. Returns the error to answer with."""
        if not self._is_admitted and isinstance(error, GraphError | InvalidDocument):
            try:
                if charged := self.spend(1):
                    await charged
            except GraphError as refusal:
                return refusal
        return error

    def failed(self, error: Exception) -> None:
        """Note that the request failed. Record it unless a root field has begun or its client has spent all points."""
        known = error if isinstance(error, GraphError | InvalidDocument) else InternalServerError
        self.answer.code, self.answer.status = known.code, known.status
        if not (isinstance(error, RateLimited) or self.context.is_recorded):
            self._record(known.status, known.code, is_refusal=True)

    def end_unchanged(self) -> None:
        """Record that the client has the answer already, so that no root field runs."""
        self.answer.code, self.answer.status = OK, 304
        self.context.is_recorded = True
        self._record(304, None)

    def end_route(self, seconds: float) -> None:
        """Count and record an admitted request of a route, whose outcome is known."""
        code = self.answer.code
        self.at_end(code)
        self.process.recording.count(self.route, code, seconds)
        error = None if code in (OK, ABANDONED) else code
        self._record(self.answer.status, error, facts=self.facts)

    def _record(self, status: int, error: str | None, **more: Any) -> None:
        self.process.recording.add(
            RecordedWork(
                request_id=self.request_id,
                timestamp=self._began,
                route=self.route,
                writes=self.answer.operation == "mutation",
                status=status,
                latency_ms=max(self.process.clock() - self._began, 0),
                error=error,
                **more,
            )
        )


def _nothing(code: str) -> None:
    """Do nothing."""


def exchange_by_http(scope: Scope, headers: Mapping[str, str], *, route: str = GRAPH_ROUTE) -> Exchange:
    """The exchange of an HTTP request."""
    address = scope["client"][0] if scope.get("client") else None
    state = scope["state"]
    return Exchange(state["process"], headers, state["request_id"], address, route=route)
