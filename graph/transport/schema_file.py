"""The schema as a file, `/schema.graphql`: for tools that read it by its address, without an introspection query.

It is that of the running process: of the domains that are on. Whoever may introspect it may read it, so it is not there
where introspection is off.
"""

from collections.abc import Sequence
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from graph.core.services import Services
from graph.pages.headers import has_current
from graph.transport.routes import route

SCHEMA_PATH = "/schema.graphql"


def schema_routes(printed: str) -> Sequence[Route]:
    """The route of a printed schema."""
    etag = f'"{sha256(printed.encode()).hexdigest()}"'
    headers = {"ETag": etag, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}

    async def answer(request: Request, services: Services) -> Response:
        if has_current(request.headers, etag):
            return Response(status_code=304, headers=headers)
        return PlainTextResponse(printed, headers=headers)

    return [route(SCHEMA_PATH, answer)]
