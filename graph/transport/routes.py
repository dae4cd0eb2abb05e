"""HTTP routes of a domain: the caller is known, is charged a point, and has the scope that the route needs.

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
from graph.transport.errors import told

Answer = Callable[[Request, Services], Awaitable[Response]]
"""Answers a request with the services of the domains. Its errors are told as the graph's are."""


def route(path: str, answer: Answer, *, scope: Scope | None = None, methods: Sequence[str] = ("GET",)) -> Route:
    """A route for callers with a scope, or for all."""

    async def endpoint(request: Request) -> Response:
        state = request.state
        address = request.client.host if request.client else None
        try:
            try:
                caller = await state.authenticate(request.headers.get("authorization"))
            except GraphError:
                await state.rates.spend(spender(None, address), 1)  # so that refusals have an end too
                raise
            await state.rates.spend(spender(caller.subject, address), 1)
            caller.require([scope] if scope else [])
            return await answer(request, state.services)
        except GraphError as error:
            return JSONResponse({"errors": [told(error)]}, error.status, error.headers)

    return Route(path, endpoint, methods=list(methods))
