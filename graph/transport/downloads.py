"""HTTP routes of a domain with long answers: rows that are read, written and sent page by page.

    request → caller → scope → first page → head → more pages → end

A read before the head is limited and charged like a query: it can still be refused. Once the head is sent, a refusal
would break the answer. So a later read waits until its caller has points again and the service has room. A failure
aborts the connection. So a client never mistakes a part for the whole. That needs HTTP/1.1: in HTTP/1.0 a body ends
where the connection ends.

A long download may send its head first; then no read can be refused.

The pages of an answer are made no faster than its client reads. A slow client holds one page and nothing else: no
slot of an operation, no connection to the store. When the client disconnects, the work is cancelled. A page has a
megabyte or two, so an answer that its client does not read at once counts as a download, however short it is.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Send

from graph.access.callers import Scope
from graph.transport.exchange import Exchange
from graph.transport.reads import Reads
from graph.transport.routes import Refuse, RouteEndpoint, format_as_json

SLOW_S = 1.0  # for which an answer may wait for its client before it counts as a download


@dataclass(frozen=True, slots=True)
class Download:
    """A long answer."""

    media_type: str
    pieces: AsyncIterator[bytes]  # an async generator; closed at the end in any case
    is_long: bool = True  # whether it counts against the caller's limit of downloads, if it does not yet
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def head(self) -> Message:
        """The message of ASGI that begins it."""
        headers = {"content-type": self.media_type, "cache-control": "no-store", **self.headers}
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        return {"type": "http.response.start", "status": 200, "headers": raw}


Answering = Callable[[Request, Reads], Awaitable[Response | Download]]
"""Answers a request: at once, or with a download. The reads that it runs are the caller's."""


def download_route(
    path: str,
    answer: Answering,
    *,
    scope: Scope | None = None,
    refuse: Refuse = format_as_json,
    recorded_as: str | None = None,
) -> Route:
    """A route of GET and HEAD for callers with a scope, or for all callers.

    Args:
        path: without parameters, unless `recorded_as` names a stable route for the metrics and the request log.
        refuse: formats errors.
    """
    endpoint = RouteEndpoint(recorded_as or path, scope, refuse, partial(_send_by_reads, answer), long=True)
    return Route(path, endpoint)


async def _send_by_reads(answering: Answering, request: Request, exchange: Exchange, send: Send) -> int:
    if permitted := exchange.process.work.pace.begin(exchange.spender):
        await permitted
    with Reads(exchange) as reads:
        answer = await answering(request, reads)
        if isinstance(answer, Response):
            await answer(request.scope, request.receive, send)
            return answer.status_code
        async with aclosing(answer.pieces) as pieces:  # type: ignore[type-var]  # they are a generator
            if answer.is_long:
                reads.count()
            exchange.is_sending = True
            sending = Sending(send, reads.count)
            await send(answer.head)
            if request.method != "HEAD":
                await sending.send_pieces(pieces)
            await sending(b"", more=False)
        return 200


class Sending:
    """Sends messages of a body, and counts the answer as soon as its client turns out to be slow."""

    def __init__(self, send: Send, count: Callable[[], None], *, slow_s: float = SLOW_S) -> None:
        """Begin. `count` counts the answer among its caller's downloads, or raises what refuses it."""
        self._send = send
        self._count = count
        self._slow_s = slow_s
        self._is_counted = False

    async def __call__(self, body: bytes, *, more: bool) -> None:
        """Send a part of the body. This waits while the client does not read what was sent before."""
        message = {"type": "http.response.body", "body": body, "more_body": more}
        if self._is_counted or not more:  # at the end, the client may be gone before another iteration of the loop
            await self._send(message)
            return
        sent = asyncio.ensure_future(self._send(message))
        try:
            await asyncio.wait([sent], timeout=self._slow_s)
            if not sent.done():
                self._count()
                self._is_counted = True
            await sent
        finally:
            sent.cancel()

    async def send_pieces(self, pieces: AsyncIterator[bytes]) -> None:
        """Send parts of the body as they are made."""
        async for piece in pieces:
            await self(piece, more=True)
            await asyncio.sleep(0)  # it need not wait, and only the loop learns that the client has left
