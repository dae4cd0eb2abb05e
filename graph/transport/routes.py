"""HTTP routes of a domain. A route authenticates its caller, charges a point and checks the scope.

Domain(..., routes=lambda settings: [route("/export", export, scope=EVENTS_READ)])

Each request is counted and logged under the route's path, like a root field of a query, or of a mutation if the
route's methods write. It is logged after its answer, even if it writes: what is stored need not be sent again for lack
of a log. A route with a long answer is a `download_route`.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from functools import partial
from time import perf_counter

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from graph.access.callers import Caller, Scope
from graph.core import garbage
from graph.core.errors import BadRequest, GraphError, InternalServerError
from graph.core.services import Services
from graph.observability.logs import get_logger, on_behalf_of
from graph.observability.metrics import OK
from graph.observability.requests import ABANDONED, ABANDONED_STATUS
from graph.transport.errors import format_error
from graph.transport.exchange import Exchange, exchange_by_http

Answer = Callable[[Request, Services], Awaitable[Response]]
"""Answers a request with the services of the domains. `exchange_of(request)` charges more points and takes facts."""

Refuse = Callable[[Request, GraphError], Response]
"""Formats a refusal."""

logger = get_logger(__name__)


def refused(error: GraphError) -> Response:
    """The answer to a request that is refused."""
    return JSONResponse({"errors": [format_error(error)]}, error.status, error.headers)


def format_as_json(request: Request, error: GraphError) -> Response:
    """A refusal in the form of the graph's errors."""
    return refused(error)


def exchange_of(request: Request) -> Exchange:
    """The exchange of a request that a route answers."""
    exchange: Exchange = request.scope["state"]["exchange"]
    return exchange


def route(
    path: str,
    answer: Answer,
    *,
    scope: Scope | None = None,
    methods: Sequence[str] = ("GET",),
    refuse: Refuse = format_as_json,
    recorded_as: str | None = None,
) -> Route:
    """A route for callers with a scope, or for all callers.

    Args:
        path: without parameters, unless `recorded_as` names a stable route for the metrics and the request log.
        answer: answers a request.
        scope: that callers need.
        methods: that it takes.
        refuse: formats a refusal.
        recorded_as: the route in the metrics and the request log.
    """
    writes = not {"GET", "HEAD"}.issuperset(methods)
    endpoint = RouteEndpoint(recorded_as or path, scope, refuse, partial(_send_response, answer), writes=writes)
    return Route(path, endpoint, methods=list(methods))


async def _send_response(answer: Answer, request: Request, exchange: Exchange, send: Send) -> int:
    response = await answer(request, exchange.process.services)
    await response(request.scope, request.receive, send)
    return response.status_code


Respond = Callable[[Request, Exchange, Send], Awaitable[int]]
"""Answers an admitted request, and sends all of the answer. Returns its status."""


class RouteEndpoint:
    """The ASGI application behind one path."""

    def __init__(
        self,
        path: str,
        scope: Scope | None,
        refuse: Refuse,
        respond: Respond,
        *,
        writes: bool = False,
        long: bool = False,
    ) -> None:
        """Make the endpoint.

        Args:
            path: as it is recorded.
            writes: whether its requests are recorded as mutations.
            long: whether its answers are read and sent piece by piece. Then it takes only GET and HEAD, and is
                cancelled when its client disconnects. A short answer is finished once its request's body has arrived.
        """
        self._path = path
        self._scopes = [scope] if scope else []
        self._refuse = refuse
        self._respond = respond
        self._writes = writes
        self._is_long = long

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        request = Request(scope, receive)
        with exchange_by_http(scope, request.headers, route=self._path) as exchange:
            scope["state"]["exchange"] = exchange
            outcome = exchange.answer
            outcome.operation, outcome.name = "mutation" if self._writes else "query", self._path
            try:
                with exchange.process.deadlines.within(None, receive) if self._is_long else nullcontext():
                    await self._answered(request, exchange, send)
            except ClientDisconnect:
                outcome.code, outcome.status = ABANDONED, ABANDONED_STATUS

    async def _answered(self, request: Request, exchange: Exchange, send: Send) -> None:
        """Admit, answer and record. The response is sent in here too: a client may leave at any time."""
        outcome = exchange.answer
        try:
            if self._is_long and request.method not in ("GET", "HEAD"):
                raise BadRequest("Send this request by GET.", status=405, allow="GET, HEAD")
            caller = exchange.process.authenticate(request.headers.get("authorization"))
            exchange.context.caller = caller if isinstance(caller, Caller) else await caller
            on_behalf_of(exchange.context.caller.subject)
            if charged := exchange.admit(1):
                await charged
            exchange.context.caller.require(self._scopes)
            exchange.context.is_recorded = True  # at its end, and not as a refusal
            began = perf_counter()
            try:
                outcome.status, outcome.code = await self._respond(request, exchange, send), OK
            except ClientDisconnect:
                raise
            except Exception as error:
                exchange.failed(error)
                raise
            finally:
                exchange.end_route(perf_counter() - began)
        except ClientDisconnect:
            raise
        except Exception as error:
            cause = await exchange.refused(error)
            refusal = cause if isinstance(cause, GraphError) else InternalServerError(exchange.request_id)
            if exchange.is_sending:
                logger.error("A download was aborted", route=self._path, code=refusal.code, cause=refusal.detail)
                raise
            if refusal is not cause:
                logger.error("A request could not be answered", request_id=exchange.request_id, exc_info=error)
            garbage.forget_frames([refusal])  # this one holds it, and others a body of megabytes
            await self._refuse(request, refusal)(request.scope, request.receive, send)
