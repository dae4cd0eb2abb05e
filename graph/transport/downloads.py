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

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Send
from starlette.types import Scope as AsgiScope

from graph.access.callers import Scope
from graph.access.rate import Rates, spender
from graph.api.recording import Record
from graph.core.errors import BadRequest, GraphError, InternalServerError, outcome_of
from graph.observability.logs import get_logger, on_behalf_of
from graph.observability.metrics import OK
from graph.observability.requests import ABANDONED, ABANDONED_STATUS, Answer
from graph.transport.admission import ExecutionLimits
from graph.transport.deadline import run_with_timeout
from graph.transport.reads import Reads
from graph.transport.refusals import Refusals
from graph.transport.routes import Refuse, format_as_json
from graph.transport.sending import Sending

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Download:
    """A long answer."""

    media_type: str
    pieces: AsyncIterator[bytes]  # an async generator; closed at the end in any case
    is_long: bool = True  # whether it counts against the caller's limit of downloads, if it does not yet
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def head(self) -> Message:
        """The message of ASGI that begins it."""
        headers = {"content-type": self.media_type, "cache-control": "no-store", **self.headers}
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        return {"type": "http.response.start", "status": 200, "headers": raw}


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
            await send(answer.head)
            if request.method != "HEAD":
                await sending.send_pieces(pieces)
            await sending(b"", more=False)
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
