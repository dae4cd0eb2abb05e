"""HTTP routes of a domain. A route authenticates its caller, charges a point and checks the scope.

Domain(..., routes=lambda settings: [route("/export", export, scope=EVENTS_READ)])

Each request is counted and logged under the route's path, like a root field of a query, or of a mutation if the
route's methods write.
"""

from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from graph.access.callers import Scope
from graph.access.rate import spender
from graph.api.context import Context
from graph.api.recording import Record
from graph.core import garbage
from graph.core.errors import GraphError, InternalServerError, outcome_of
from graph.core.services import Services
from graph.observability import requests
from graph.observability.logs import get_logger, on_behalf_of
from graph.observability.metrics import OK
from graph.observability.requests import ABANDONED, ABANDONED_STATUS
from graph.transport.errors import format_error

Answer = Callable[[Request, Services], Awaitable[Response]]
"""Answers a request with the services of the domains. It finds in `request.state`:

    spender  the name that more points may be charged to
    facts    a dictionary for the request log, which it fills
"""

Refuse = Callable[[Request, GraphError], Response]
"""Formats a refusal."""

logger = get_logger(__name__)


def refused(error: GraphError) -> Response:
    """The answer to a request that is refused."""
    return JSONResponse({"errors": [format_error(error)]}, error.status, error.headers)


def format_as_json(request: Request, error: GraphError) -> Response:
    """A refusal in the form of the graph's errors."""
    return refused(error)


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
    endpoint = _Endpoint(recorded_as or path, answer, scope, refuse, writes=not {"GET", "HEAD"}.issuperset(methods))
    return Route(path, endpoint.answered, methods=list(methods))


class _Endpoint:
    """What answers at one path."""

    def __init__(self, path: str, answer: Answer, scope: Scope | None, refuse: Refuse, *, writes: bool) -> None:
        self._path = path
        self._answer = answer
        self._scopes = [scope] if scope else []
        self._refuse = refuse
        self._writes = writes

    async def answered(self, request: Request) -> Response:
        """The answer to one request."""
        state = request.state
        with state.telemetry.request(request.headers) as record:
            record.operation, record.name = "mutation" if self._writes else "query", self._path
            try:
                response = await self._recorded(request, record)
                record.code, record.status = OK, response.status_code
                return response
            except ClientDisconnect:
                return Response(status_code=ABANDONED_STATUS)  # the client is gone, so it is never read
            except Exception as error:
                refusal = error if isinstance(error, GraphError) else InternalServerError(state.request_id)
                if refusal is not error:
                    logger.error("A request could not be answered", request_id=state.request_id, exc_info=error)
                record.code, record.status = refusal.code, refusal.status
                garbage.forget_frames([refusal])  # this one holds it, and others a body of megabytes
                return self._refuse(request, refusal)

    async def _recorded(self, request: Request, record: requests.Answer) -> Response:
        """Admit and answer a request, and log it.

        It is logged after its answer, even if it writes: what is stored need not be sent again for lack of a log.
        """
        state = request.state
        began, started = perf_counter(), state.clock()
        try:
            context = await self._admitted(request)
        except GraphError as error:
            state.refusals.add(error, record, state.request_id, started, route=self._path)
            raise
        state.facts = {}
        status, code, error_code = ABANDONED_STATUS, ABANDONED, None
        try:
            response = await self._answer(request, state.services)
            status, code = response.status_code, OK
            return response
        except ClientDisconnect:
            raise
        except Exception as error:
            status, error_code = outcome_of(error)
            code = error_code or OK
            raise
        finally:
            context.recording.count(self._path, code, perf_counter() - began)
            context.recording.add(
                Record(
                    request_id=context.next_log_id(),
                    timestamp=started,
                    route=self._path,
                    writes=self._writes,
                    status=status,
                    latency_ms=max(state.clock() - started, 0),
                    error=error_code,
                    facts=state.facts,
                )
            )

    async def _admitted(self, request: Request) -> Context:
        """The context of an authenticated caller who has the scope and was charged a point."""
        state = request.state
        address = request.client.host if request.client else None
        try:
            caller = await state.authenticate(request.headers.get("authorization"))
        except GraphError:
            await state.rates.spend(spender(None, address), 1)  # limits refused requests too
            raise
        on_behalf_of(caller.subject)
        state.spender = spender(caller.subject, address)
        await state.rates.spend(state.spender, 1)
        caller.require(self._scopes)
        context: Context = state.new_context(caller=caller, request_id=state.request_id)
        return context
