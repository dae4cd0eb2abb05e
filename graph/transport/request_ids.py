"""Middleware that gives every request an id, and every answer the security headers."""

from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph.observability.logs import during_request

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",  # browsers must not guess a media type
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",  # no other site may embed it; CORS has rules of its own
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",  # GraphiQL's page has its own
    "X-Frame-Options": "DENY",
}
"""The headers of every answer that does not set them itself.

The proxy that terminates TLS sets `Strict-Transport-Security`: this service speaks plain HTTP.
"""


_ADDED = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]


class RequestIds:
    """ASGI middleware that sets `request.state.request_id`, and sends it as `X-Request-Id`.

    An id that a client sends is ignored: the ids are keys of the request logs.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with an id."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = str(uuid4())
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message["headers"]
                names = {name for name, _ in given}
                added = [header for header in _ADDED if header[0] not in names]
                message["headers"] = [*given, *added, (b"x-request-id", request_id.encode())]
            await send(message)

        with during_request(request_id):
            await self.app(scope, receive, send_with_headers)
