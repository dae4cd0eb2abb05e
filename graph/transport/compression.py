"""Compresses answers by Zstandard, Brotli or gzip, for clients that accept one of them; JSON never by Zstandard.

Clients of GraphQL name Zstandard on versions of Node that cannot read it: GraphQL Code Generator does on Node 20.

Answers shorter than a packet are sent as they are, and so are streams of events and files that are compressed already.
A page of 1,000 events shrinks to a seventh. The fastest level of each library takes less than a millisecond for it by
Zstandard or Brotli, and two by gzip; higher levels take two to six times as long for a tenth less.

    python -m benchmarks.compression

Compressed secrets can be guessed by an attacker who adds text to the same answer (BREACH). Answers here hold no
secrets: neither cookies nor tokens are repeated in them.

Source: RFC 9110, sections 8.4, 8.8.1 and 12.5.3.
"""

import asyncio
import re
from collections.abc import Awaitable, Sequence

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette_compress import CompressMiddleware, add_compress_type, remove_compress_type

from graph.transport.request import EVENT_STREAM, GRAPHQL_JSON

LEAST_BYTES = 1000  # of a compressed body; a shorter one fits into a packet with its head
PIECE_BYTES = 256 * 1024  # compressed at once, in some 2 ms at most
FASTEST = 1  # level of each library

for _media_type in (GRAPHQL_JSON, "application/x-ndjson", "text/csv"):
    add_compress_type(_media_type)
for _media_type in (EVENT_STREAM, "multipart/mixed"):
    remove_compress_type(_media_type)  # each event is sent at once, and is short


class Compression:
    """ASGI middleware that compresses the answers of an application.

    The library decides what is compressed and how, and adds `Vary`. It sees no short answers: to pass one on takes it a
    tenth of the time of a lookup.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._libraries = tuple(
            CompressMiddleware(
                _note_send,
                minimum_size=LEAST_BYTES,
                zstd=zstd,
                zstd_level=FASTEST,
                brotli_quality=FASTEST,
                gzip_level=FASTEST,
            )
            for zstd in (True, False)
        )

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Pass a request on."""
        if scope["type"] == "http":
            send = _Answer(self._libraries, scope, receive, send).send
        return self.app(scope, receive, send)


NOTED = "graph.compression"
_KNOWN = re.compile(rb"\b(?:zstd|br|gzip)\b|\*")


async def _note_send(scope: Scope, receive: Receive, send: Send) -> None:
    """Stand in for the library's application, and note the function that compresses what it sends."""
    scope[NOTED] = send


class _Answer:
    """One answer on its way to the client.

    Its head waits for its body. A long body comes in pieces, so that others are answered in between. The tag of a
    version is weak if it may be compressed, since its encodings differ in their bytes.
    """

    __slots__ = ("_libraries", "_receive", "_scope", "_send", "_start")

    def __init__(self, libraries: Sequence[ASGIApp], scope: Scope, receive: Receive, send: Send) -> None:
        self._libraries = libraries  # for JSON, the second one
        self._scope = scope
        self._receive = receive
        self._send = send
        self._start: Message | None = None  # until the body begins

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        if self._start is not None:
            start, self._start = self._start, None
            if more or len(body) >= LEAST_BYTES:
                await self._libraries[_is_json(start)](scope := {**self._scope}, self._receive, self._send)
                self._send = scope[NOTED]
                self._prepare(start)
            elif _stands_for_longer(start):
                self._prepare(start)
                headers = MutableHeaders(raw=start["headers"])
                headers.add_vary_header("Accept-Encoding")
                if self._may_be_compressed:
                    del headers["content-length"]
            await self._send(start)
        while len(body) > PIECE_BYTES:
            await self._send({"type": message["type"], "body": body[:PIECE_BYTES], "more_body": True})
            await asyncio.sleep(0)
            body = body[PIECE_BYTES:]
        await self._send({"type": message["type"], "body": body, "more_body": more})

    @property
    def _may_be_compressed(self) -> bool:
        return any(name == b"accept-encoding" and _KNOWN.search(value) for name, value in self._scope["headers"])

    def _prepare(self, start: Message) -> None:
        """Prepare the head of an answer that may be compressed."""
        if self._may_be_compressed:
            headers = MutableHeaders(raw=start["headers"])
            if (tag := headers.get("etag")) and not tag.startswith("W/"):
                headers["etag"] = f"W/{tag}"
            del headers["accept-ranges"]  # they would be ranges of the body without compression


def _is_json(start: Message) -> bool:
    return any(name == b"content-type" and b"json" in value for name, value in start["headers"])


def _stands_for_longer(start: Message) -> bool:
    """Whether a head with a short body is about a longer one: of an answer to HEAD, or of a known version."""
    if start["status"] == 304:
        return True
    return any(name == b"content-length" and int(value) >= LEAST_BYTES for name, value in start["headers"])
