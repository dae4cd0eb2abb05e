"""HTTP routes of a domain. A route authenticates its caller, charges a point and checks the scope.

Domain(..., routes=lambda settings: [route("/export", export, scope=EVENTS_READ)])
"""

from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from graph.access.callers import Scope
from graph.access.rate import spender
from graph.core.errors import GraphError
from graph.core.services import Services
from graph.observability.logs import on_behalf_of
from graph.transport.errors import format_error

Answer = Callable[[Request, Services], Awaitable[Response]]
"""Answers a request with the services of the domains. Its errors are formatted like the graph's."""


def route(path: str, answer: Answer, *, scope: Scope | None = None, methods: Sequence[str] = ("GET",)) -> Route:
    """A route for callers with a scope, or for all callers."""

    async def endpoint(request: Request) -> Response:
        state = request.state
        address = request.client.host if request.client else None
        try:
            try:
                caller = await state.authenticate(request.headers.get("authorization"))
            except GraphError:
                await state.rates.spend(spender(None, address), 1)  # limits refused requests too
                raise
            on_behalf_of(caller.subject)
            await state.rates.spend(spender(caller.subject, address), 1)
            caller.require([scope] if scope else [])
            return await answer(request, state.services)
        except GraphError as error:
            return refused(error)

    return Route(path, endpoint, methods=list(methods))


def refused(error: GraphError) -> Response:
    """The answer to a request that is refused."""
    return JSONResponse({"errors": [format_error(error)]}, error.status, error.headers)
