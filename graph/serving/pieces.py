"""Parses a connection's data in small pieces, a few in each iteration of the loop, as requests are answered.

A chunk of data may hold fourteen thousand requests. uvicorn would parse all of them at once and keep them. Here,
the data waits as bytes while a request of the pipeline waits for its answer, or a body for the application.
Meanwhile nothing is read from the client.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

PIECE_BYTES = 4096  # most requests fit; 200 of the smallest take 3 ms
PIECES_PER_ITERATION = 4  # the smallest chunks of a body take 1 ms a piece


class PacedFlow(FlowControl):
    """Stops reading from the client while data waits to be parsed."""

    def __init__(self, transport: asyncio.Transport, go_on: Callable[[], None]) -> None:
        super().__init__(transport)
        self._go_on = go_on

    def resume_reading(self) -> None:
        """The application has taken a part of a body, or answered a request."""
        self.read_paused = False
        self._go_on()


class PacedParsing(HttpToolsProtocol):
    """A connection of HTTP/1.1 that is parsed piece by piece."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._unparsed = bytearray()
        self._is_paused = False  # nothing is read, since data waits
        self._next_parse: asyncio.Handle | None = None
        self.drops_rest = False  # whether the rest of the data is dropped: refused, or of another protocol

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Begin with a flow control that waits for the parser."""
        super().connection_made(transport)
        self.flow = PacedFlow(transport, self._go_on)

    def data_received(self, data: bytes) -> None:
        """Parse the first pieces now, and the others in later iterations of the loop."""
        self._unparsed += data
        if self._next_parse is None:
            self._parse_some()

    def parse(self, piece: bytes) -> None:
        """Parse a piece."""
        super().data_received(piece)

    def _parse_some(self) -> None:
        self._next_parse = None
        self.drops_rest = self.transport.is_closing()  # a request that cannot be answered is not executed
        for _ in range(PIECES_PER_ITERATION):
            if self.drops_rest or self.flow.read_paused or self.pipeline or not self._unparsed:
                break
            piece = bytes(self._unparsed[:PIECE_BYTES])
            del self._unparsed[:PIECE_BYTES]
            self.parse(piece)
        if self.drops_rest:
            self._unparsed.clear()
        if self._unparsed:
            self._is_paused = True
            self.transport.pause_reading()
        if self._is_paused and not self.flow.read_paused:
            self._go_on()

    def _go_on(self) -> None:
        """Parse more in the next iteration, or read more if nothing is left."""
        if not self._unparsed:
            self._is_paused = False
            self.transport.resume_reading()
        elif self._next_parse is None and not self.pipeline:
            self._next_parse = self.loop.call_soon(self._parse_some)

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop the data that waits."""
        self._unparsed.clear()
        if self._next_parse is not None:
            self._next_parse.cancel()
        super().connection_lost(exc)

    # Where the rest of the data is not for the parser

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over to a WebSocket."""
        self.drops_rest = True
        super().handle_websocket_upgrade()

    def _unsupported_upgrade_warning(self) -> None:
        """Answer by HTTP. The data behind the request was meant for the other protocol."""
        self.drops_rest = True
        super()._unsupported_upgrade_warning()
