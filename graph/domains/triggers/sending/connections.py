"""Connections to receivers, on which a receiver can make us read little at a time and few heads.

aiohttp bounds each head, but neither how many interim responses (`HTTP/1.1 102`) come before an answer, nor how many
answers come on a connection that waits for its next request. It parses all that one read of the socket returns before
anything else runs.
"""

import asyncio
import socket
from functools import partial
from typing import Any

from aiohttp import StreamReader, TCPConnector
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import RawResponseMessage
from aiohttp.http_exceptions import HttpProcessingError

MOST_INTERIM_RESPONSES = 5  # before an answer; servers send one or two
RECEIVE_BUFFER_BYTES = 16 * 1024  # Linux doubles it: at most so many bytes are parsed in one turn of the event loop


def open_socket(info: tuple[Any, ...], *, longest_wait_s: float) -> socket.socket:
    """A socket for an address, in the form of `getaddrinfo`, that keeps little of what a receiver sends or ignores."""
    opened = socket.socket(*info[:3])
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # else a receiver that does not read keeps the rest of a body here
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * longest_wait_s))
    return opened


class Connector(TCPConnector):
    """aiohttp's connector, whose connections bound the heads between two requests."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        kind: type[ResponseHandler] = _PinnedConnection
        self._factory = partial(kind, self._loop)


class _PinnedConnection(ResponseHandler):
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._heads = 0  # since the last request

    def set_response_params(self, **options: Any) -> None:
        """Called once for each request."""
        self._heads = 0
        super().set_response_params(**options)

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """Called once for each head."""
        self._heads += 1
        if self._heads <= MOST_INTERIM_RESPONSES:
            super().feed_data(data, size)
        elif self._heads == MOST_INTERIM_RESPONSES + 1 and not 100 <= data[0].code < 200:
            super().feed_data(data, size)  # the answer
        elif self.transport is not None and not self.transport.is_closing():
            self.set_exception(HttpProcessingError(message="Too many heads between two requests"))
            self.transport.abort()
