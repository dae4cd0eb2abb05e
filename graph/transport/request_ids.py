"""Around every request: an id of its own, and headers that keep a browser from misusing the answer."""

from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph.observability.logs import during_request

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",  # an answer is what its media type says
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",  # no other page embeds it; CORS is another matter
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",  # GraphiQL's page has its own
    "X-Frame-Options": "DENY",
}
"""For every answer that does not set them itself.

`Strict-Transport-Security` is left to whatever terminates TLS: this service speaks plain HTTP.
"""


_ADDED = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]


class RequestIds:
    """ASGI middleware: `request.state.request_id`, told to the client as `X-Request-Id`.

    An id that a client sends is not taken over: ours are keys of the request logs.
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
