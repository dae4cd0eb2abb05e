"""HTTP routes of a domain with long answers: rows that are read, written and sent page by page.

    request → caller → scope → first page → head → more pages → end

A read before the head is limited and charged like a query: it can still be refused. Once the head is sent, a refusal
would break the answer. So a later read waits until its caller has points again and the service has room. A failure
aborts the connection. So a client never mistakes a part for the whole. That needs HTTP/1.1: in HTTP/1.0 a body ends
where the connection ends.

An answer that is known to be long may begin so: then not even its first read is refused.

The pages of an answer are made no faster than its client reads. A slow client holds one page and nothing else: no
slot of an operation, no connection to the store. When the client disconnects, the work is cancelled. A page has a
megabyte or two, so an answer that its client does not read at once counts as a download, however short it is.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from sys import maxsize
from time import perf_counter
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from graph.access.callers import Scope
from graph.access.rate import Rates, spender
from graph.api.context import Context
from graph.api.recording import Record
from graph.core.errors import BadRequest, GraphError, InternalServerError, Overloaded, outcome_of
from graph.observability.logs import get_logger, on_behalf_of
from graph.observability.metrics import OK
from graph.observability.requests import ABANDONED, ABANDONED_STATUS, Answer
from graph.transport.admission import ExecutionLimits
from graph.transport.deadline import run_with_timeout
from graph.transport.refusals import Refusals
from graph.transport.routes import Refuse, format_as_json
from graph.transport.streams import Streams
from graph.work.account import Account, Work, charged_to
from graph.work.length import Length
from graph.work.slots import OperationSlots

PAUSE_S = 0.5  # before a later page is tried again while the service has no room
MOST_TRIES = 60
SLOW_S = 1.0  # for which an answer may wait for its client before it counts as a download

T = TypeVar("T")

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Download:
    """A long answer."""

    media_type: str
    pieces: AsyncIterator[bytes]  # an async generator; closed at the end in any case
    is_long: bool = True  # whether it counts against the caller's limit of downloads, if it does not yet
    headers: Mapping[str, str] = field(default_factory=dict)


class Reads:
    """Runs the reads of one answer, one after the other. Each is limited and charged as an operation of its own."""

    def __init__(
        self,
        context: Context,
        spender: str,
        state: Mapping[str, Any],
        limits: ExecutionLimits,
        *,
        pause_s: float = PAUSE_S,
    ) -> None:
        """Prepare to read.

        Args:
            spender: the name that points are charged to.
            state: of the application.
            limits: on each read, and on the points of all reads before the answer is sent.
            pause_s: before a later read is tried again.
        """
        self.context = context
        self.facts: dict[str, Any] = {}  # for the request log; the route's function adds them
        self.at_end: AtEnd = _nothing  # told the outcome before it is logged; may add facts
        self.spent = 0  # points
        self.is_sending = False  # whether the head is sent, so that no refusal is possible
        self.spender = spender
        self._limits = limits
        self._pause_s = pause_s
        self._rates: Rates = state["rates"]
        self._work: Work = state["work"]
        self._slots: OperationSlots = state["operations"][Length.LONG]
        self._downloads: Streams = state["downloads"]
        self._counted = ExitStack()
        self._is_long = False
        self._never_refused = False
        self._owed = 0.0  # part of a point

    def count(self) -> None:
        """Count the answer against its caller's limit of downloads, once.

        Raises:
            TooManySubscriptions: The caller has reached the limit.
        """
        if not self._is_long:
            self._counted.enter_context(self._downloads.counted(self.spender))
            self._is_long = True

    def begin_download(self) -> None:
        """Count the answer, and refuse none of its reads: they wait for points and for room, and have no time limit.

        An answer to any filter needs this, since a page of rare rows may take longer than a query. Reads that take so
        long are counted as heavy work, which leaves room for others.

        Raises:
            TooManySubscriptions: The caller has reached the limit of downloads.
        """
        self.count()
        self._never_refused = True

    def close(self) -> None:
        """End the answer."""
        self._counted.close()

    async def run(self, read: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Read, and write what was read, in a slot and within the time of a query. Nothing may be sent inside.

        Raises:
            GraphError: As a query. Once the answer is being sent or `begin_download` was called, neither for lack of
                points nor at once for lack of room.
        """
        seconds = None if self._never_refused else self._limits.query_seconds
        for tried in count(1):
            account = self._account()
            try:
                with charged_to(account):
                    if self._never_refused:
                        account.begin_heavy_work()  # it would begin on the loop, and again on a thread
                    await self._slots.begin(account)
                    result = await run_with_timeout(seconds, read())
                if self._waits:  # the slot and the time of a query are over, since this may take minutes
                    await self._rates.spend_in_time(self.spender, account.spent)
                return result
            except Overloaded:
                if not self._waits or (tried == MOST_TRIES and not self._never_refused):
                    raise
                await asyncio.sleep(self._pause_s)
            finally:
                self.spent += account.spent
                self._owed = account.owed
        raise AssertionError("the tries do not end")

    @property
    def _waits(self) -> bool:
        """Whether a read waits for points and for room."""
        return self.is_sending or self._never_refused

    def _account(self) -> Account:
        if self._waits:
            return Account(self._work, self.spender, maxsize, _paid_later, self.spent, owed=self._owed)
        most = max(self._limits.cost - self.spent, 0)
        charge = partial(self._rates.spend, self.spender)
        return Account(self._work, self.spender, most, charge, self.spent, owed=self._owed)


async def _paid_later(points: int) -> None:
    """Charge nothing yet."""


AtEnd = Callable[[str], None]
"""Called at the end of an answer with the code of its error, `OK` or `ABANDONED`."""


def _nothing(code: str) -> None:
    """Do nothing."""


Answering = Callable[[Request, Reads], Awaitable[Response | Download]]
"""Answers a request: at once, or with a download. The reads that it runs are the caller's."""


def download_route(
    path: str,
    answer: Answering,
    limits: ExecutionLimits,
    *,
    scope: Scope | None = None,
    refuse: Refuse = format_as_json,
    recorded_as: str | None = None,
) -> Route:
    """A route of GET and HEAD for callers with a scope, or for all callers.

    Args:
        path: without parameters, unless `recorded_as` names a stable route for the metrics and the request log.
        limits: on the reads before the answer is sent.
        refuse: formats errors.
    """
    return Route(path, _Endpoint(answer, limits, scope, refuse, recorded_as or path))


class _Endpoint:
    """The ASGI application behind one path."""

    def __init__(
        self, answer: Answering, limits: ExecutionLimits, scope: Scope | None, refuse: Refuse, route: str
    ) -> None:
        self._answer = answer
        self._limits = limits
        self._scopes = [scope] if scope else []
        self._refuse = refuse
        self._route = route

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        request = Request(scope, receive)
        with scope["state"]["telemetry"].request(request.headers) as record:
            record.operation, record.name = "query", self._route
            try:
                await run_with_timeout(None, self._answered(request, record, send), while_connected=receive)
            except ClientDisconnect:
                record.code, record.status = ABANDONED, ABANDONED_STATUS

    async def _answered(self, request: Request, record: Answer, send: Send) -> None:
        """Authenticate, charge, read and send. The response is sent in here too: a client may leave at any time."""
        state = request.scope["state"]
        refusals: Refusals = state["refusals"]
        started = refusals.clock()
        reads: Reads | None = None
        try:
            reads = await self._admitted(request, state)
            began = perf_counter()
            status, code, error_code = ABANDONED_STATUS, ABANDONED, None
            try:
                status, code = await self._sent(request, reads, send), OK
            except Exception as error:
                status, error_code = outcome_of(error)
                code = error_code or OK
                raise
            finally:
                reads.close()
                record.points = 1 + reads.spent
                reads.at_end(code)
                reads.context.recording.count(self._route, code, perf_counter() - began)
                self._log(reads, status, error_code, started)
            record.code, record.status = code, status
        except ClientDisconnect:
            raise
        except Exception as error:
            refusal = error if isinstance(error, GraphError) else InternalServerError(state["request_id"])
            if reads is None:
                refusals.add(error, record, state["request_id"], started, route=self._route)
            record.code, record.status = refusal.code, refusal.status
            if reads and reads.is_sending:
                logger.error("A download was aborted", route=self._route, code=refusal.code, cause=refusal.detail)
                raise
            if refusal is not error:
                logger.error("A request could not be answered", request_id=state["request_id"], exc_info=error)
            await self._refuse(request, refusal)(request.scope, request.receive, send)

    async def _admitted(self, request: Request, state: Mapping[str, Any]) -> Reads:
        """The reads of an authenticated caller who has the scope and was charged a point."""
        address = request.client.host if request.client else None
        rates: Rates = state["rates"]
        try:
            if request.method not in ("GET", "HEAD"):
                raise BadRequest("Send this request by GET.", status=405, allow="GET, HEAD")
            caller = await state["authenticate"](request.headers.get("authorization"))
        except GraphError:
            await rates.spend(spender(None, address), 1)  # limits refused requests too
            raise
        on_behalf_of(caller.subject)
        name = spender(caller.subject, address)
        await rates.spend(name, 1)
        caller.require(self._scopes)
        await state["work"].pace.begin(name)
        return Reads(state["new_context"](caller=caller, request_id=state["request_id"]), name, state, self._limits)

    async def _sent(self, request: Request, reads: Reads, send: Send) -> int:
        """Answer, and send all of the answer. Returns its status."""
        answer = await self._answer(request, reads)
        if isinstance(answer, Response):
            await answer(request.scope, request.receive, send)
            return answer.status_code
        async with aclosing(answer.pieces) as pieces:  # type: ignore[type-var]  # they are a generator
            if answer.is_long:
                reads.count()
            reads.is_sending = True
            sending = Sending(send, reads.count)
            await _send_all(answer, pieces, send, sending, head_only=request.method == "HEAD")
        return 200

    def _log(self, reads: Reads, status: int, code: str | None, started: int) -> None:
        """Log the request as a query."""
        context = reads.context
        context.recording.add(
            Record(
                request_id=context.next_log_id(),
                timestamp=started,
                route=self._route,
                writes=False,
                status=status,
                latency_ms=max(context.clock() - started, 0),
                error=code,
                facts=reads.facts,
            )
        )


class Sending:
    """Sends messages of a body, and counts the answer as soon as its client turns out to be slow."""

    def __init__(self, send: Send, count: Callable[[], None], *, slow_s: float = SLOW_S) -> None:
        """Begin. `count` counts the answer among its caller's downloads, or raises what refuses it."""
        self._send = send
        self._count = count
        self._slow_s = slow_s
        self._is_counted = False

    async def __call__(self, body: bytes, *, more: bool) -> None:
        """Send a part of the body. This waits while the client does not read what was sent before."""
        message = {"type": "http.response.body", "body": body, "more_body": more}
        if self._is_counted or not more:  # at the end, the client may be gone before another iteration of the loop
            await self._send(message)
            return
        sent = asyncio.ensure_future(self._send(message))
        try:
            await asyncio.wait([sent], timeout=self._slow_s)
            if not sent.done():
                self._count()
                self._is_counted = True
            await sent
        finally:
            sent.cancel()


async def _send_all(
    answer: Download, pieces: AsyncIterator[bytes], send: Send, sending: Sending, *, head_only: bool
) -> None:
    """Send the head and all pieces."""
    headers = {"content-type": answer.media_type, "cache-control": "no-store", **answer.headers}
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 200, "headers": raw})
    if not head_only:
        async for piece in pieces:
            await sending(piece, more=True)
            await asyncio.sleep(0)  # it need not wait, and only the loop learns that the client has left
    await sending(b"", more=False)
