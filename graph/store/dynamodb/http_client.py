"""HTTP/1.1 for the one kind of request that is sent without botocore: POST of a short body to the path `/`.

aiohttp takes 0.15 ms of CPU time for such a request and its answer, this client a fifth of that. It speaks only what
DynamoDB speaks: an answer ends before the next request is sent, and nothing comes without a request. A connection
that does anything else is closed, and so is one after any status but 200.

A cancelled caller leaves its connection open: the answer is read to its end, and then the connection is used again.
A full page cancels its reads of further days, and a new connection costs more than the rest of an answer. Until then,
the request counts for the limit.
"""

import asyncio
from collections.abc import Callable, Mapping
from ssl import SSLContext
from typing import NamedTuple, cast

from httptools import HttpParserError, HttpResponseParser
from yarl import URL

OK = 200
HEAD_BYTES = 2**16  # of an answer, at most
KEEP_S = 12.0  # an idle connection is not used after this time, since the other end may just be closing it


class HttpResponse(NamedTuple):
    """An answer of any status."""

    status: int
    headers: Mapping[bytes, bytes]  # their names in lower case
    body: bytes


class HttpClient:
    """The connections to one endpoint. It belongs to one event loop."""

    def __init__(self, endpoint: URL, tls: SSLContext | None, *, limit: asyncio.Semaphore, seconds: float) -> None:
        """Open no connection yet.

        Args:
            tls: for an endpoint with TLS.
            limit: bounds the requests at the same time, also those of other clients with this limit.
            seconds: the longest wait for a connection, and for the next part of an answer.
        """
        self._host, self._port = endpoint.host or "", endpoint.port or 0
        self._tls = tls
        self._limit = limit
        self._seconds = seconds
        self._open: set[_PooledConnection] = set()
        self._idle: list[_PooledConnection] = []  # the last used one is the last
        self._is_closed = False
        self.in_progress = 0
        """Requests without an answer, also those that wait for the limit."""

    async def post(self, headers: Mapping[str, str], body: bytes) -> HttpResponse:
        """Send a request. It may have arrived also if this raises an error.

        Raises:
            OSError: There is no answer. A `TimeoutError` is one too.
        """
        head = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        request = f"POST / HTTP/1.1\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body
        self.in_progress += 1
        try:
            await self._limit.acquire()
        except BaseException:
            self.in_progress -= 1
            raise
        try:
            connection = self._idle_connection() or await self._new_connection()
        except BaseException:
            self._release()
            raise
        return await connection.exchange(request)

    def close(self) -> None:
        """Close all connections. Further requests fail."""
        self._is_closed = True
        for connection in list(self._open):
            connection.abort()

    def _idle_connection(self) -> "_PooledConnection | None":
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closing and now - connection.heard_at < KEEP_S:
                return connection
            connection.abort()
        return None

    async def _new_connection(self) -> "_PooledConnection":
        if self._is_closed:
            raise ConnectionError("the client is closed")
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._seconds):
            _, connection = await loop.create_connection(
                lambda: _PooledConnection(loop, self._seconds, self._answered, self._lost),
                self._host,
                self._port,
                ssl=self._tls,
            )
        self._open.add(connection)
        return connection

    def _answered(self, connection: "_PooledConnection") -> None:
        self._idle.append(connection)
        self._release()

    def _lost(self, connection: "_PooledConnection", *, in_use: bool) -> None:
        self._open.discard(connection)
        if in_use:
            self._release()
        elif connection in self._idle:
            self._idle.remove(connection)

    def _release(self) -> None:
        self.in_progress -= 1
        self._limit.release()


class _PooledConnection(asyncio.Protocol):
    """One connection, with one request at a time."""

    _transport: asyncio.Transport
    _timer: asyncio.TimerHandle

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        seconds: float,
        answered: "Callable[[_PooledConnection], None]",
        lost: "Callable[..., None]",
    ) -> None:
        self._loop = loop
        self._seconds = seconds
        self._report_answered = answered
        self._report_lost = lost
        self._parser = HttpResponseParser(self)
        self._waiting: asyncio.Future[HttpResponse] | None = None
        self._begin()
        self.heard_at = loop.time()
        """When the other end last sent something."""

    def _begin(self) -> None:
        self._messages = 0
        self._headers: dict[bytes, bytes] = {}
        self._parts: list[bytes] = []
        self._bytes = 0
        self._is_whole = False
        self._may_be_kept = False

    def exchange(self, request: bytes) -> asyncio.Future[HttpResponse]:
        """Send a request. The result is its answer."""
        self._begin()
        self._waiting = self._loop.create_future()
        self.heard_at = self._loop.time()
        self._timer = self._loop.call_later(self._seconds, self._watch)
        waiting = self._waiting
        if self.is_closing:
            self.connection_lost(None)
        else:
            self._transport.write(request)
        return waiting

    @property
    def is_closing(self) -> bool:
        """Whether the other end has closed the connection, or this one."""
        return self._transport.is_closing()

    def abort(self, error: Exception | None = None) -> None:
        """Close the connection at once. Its request fails."""
        self._transport.abort()
        self.connection_lost(error)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Take a part of an answer."""
        self.heard_at = self._loop.time()
        self._bytes += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            self.abort(ConnectionError(f"not an answer: {error}"))
            return
        if self._messages != 1 or self._waiting is None or (not self._parts and self._bytes > HEAD_BYTES):
            self.abort(ConnectionError("more than an answer"))
        elif self._is_whole:
            self._finish(self._waiting)

    def connection_lost(self, error: Exception | None) -> None:
        """Take the end of the connection. It may come twice."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._timer.cancel()
            if not waiting.done():
                waiting.set_exception(error or ConnectionError("the connection was closed"))
        self._report_lost(self, in_use=waiting is not None)

    def on_message_begin(self) -> None:
        """Take the beginning of an answer."""
        self._messages += 1

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self._headers[name.lower()] = value

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._parts.append(body)

    def on_message_complete(self) -> None:
        """Take the end of an answer."""
        self._is_whole = True
        self._may_be_kept = self._parser.should_keep_alive()  # which is true only here

    def _finish(self, waiting: asyncio.Future[HttpResponse]) -> None:
        status = self._parser.get_status_code()
        answer = HttpResponse(status, self._headers, b"".join(self._parts))
        self._timer.cancel()
        if not waiting.done():  # it is cancelled if its caller is
            waiting.set_result(answer)
        if status == OK and self._may_be_kept:
            self._waiting = None
            self._report_answered(self)
        else:
            self.abort()

    def _watch(self) -> None:
        rest = self.heard_at + self._seconds - self._loop.time()
        if rest > 0:
            self._timer = self._loop.call_later(rest, self._watch)
        else:
            self.abort(TimeoutError(f"no answer within {self._seconds} s"))
