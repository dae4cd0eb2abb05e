"""Sends the body of a long answer, whose client may be slow."""

import asyncio
from collections.abc import AsyncIterator, Callable

from starlette.types import Send

SLOW_S = 1.0  # for which an answer may wait for its client before it counts as a download


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
