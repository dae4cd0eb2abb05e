"""Middleware that gives every request an id, and every answer the security headers."""

import os
from collections.abc import Iterator
from uuid import UUID

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


IDS_AT_ONCE = 256

_ADDED = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]


def random_ids() -> Iterator[str]:
    """UUIDs of version 4. The system is asked for the randomness of many at once, since each call takes some µs."""
    while True:
        randomness = os.urandom(16 * IDS_AT_ONCE)
        for at in range(0, len(randomness), 16):
            yield str(UUID(bytes=randomness[at : at + 16], version=4))


class RequestIds:
    """ASGI middleware that sets `request.state.request_id`, and sends it as `X-Request-Id`.

    An id that a client sends is ignored: the ids are keys of the request logs.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._ids = random_ids()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with an id."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = next(self._ids)
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
