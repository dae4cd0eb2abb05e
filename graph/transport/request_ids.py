"""Around every request: an id of its own, and headers that keep a browser from misusing the answer."""

import os
from collections.abc import Iterator

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph.observability.logs import during_request

IDS_AT_ONCE = 256

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


def random_ids() -> Iterator[str]:
    """UUIDs of version 4, for which the system is asked for the randomness of many at a time: a question takes 4 µs.

    Source: RFC 9562, section 5.4.
    """
    while True:
        digits = os.urandom(16 * IDS_AT_ONCE).hex()
        for at in range(0, len(digits), 32):
            variant = "89ab"[int(digits[at + 16], 16) % 4]
            yield (
                f"{digits[at : at + 8]}-{digits[at + 8 : at + 12]}-4{digits[at + 13 : at + 16]}-"
                f"{variant}{digits[at + 17 : at + 20]}-{digits[at + 20 : at + 32]}"
            )


class RequestIds:
    """ASGI middleware: `request.state.request_id`, told to the client as `X-Request-Id`.

    An id that a client sends is not taken over: ours are keys of the request logs.
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
