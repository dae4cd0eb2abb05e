"""A connection whose data is parsed in small pieces, a few a turn of the loop, as fast as requests are answered.

A chunk of data may hold fourteen thousand requests, all of which uvicorn would parse at once and keep. Here,
data waits as bytes while a request of the pipeline waits for its answer, or a body for the application.
Nothing is read from the client meanwhile.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

PIECE_BYTES = 4096  # in which most requests fit; 200 of the smallest, 3 ms
PIECES_PER_ITERATION = 4  # of the loop; the smallest chunks of a body take 1 ms a piece


class PacedFlow(FlowControl):
    """Reads no more from the client while data waits to be parsed."""

    def __init__(self, transport: asyncio.Transport, go_on: Callable[[], None]) -> None:
        super().__init__(transport)
        self._go_on = go_on

    def resume_reading(self) -> None:
        """The application has taken a part of a body, or answered a request."""
        self.read_paused = False
        self._go_on()


class PacedParsing(HttpToolsProtocol):
    """A connection of HTTP/1.1 that is parsed piece by piece."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._unparsed = bytearray()
        self._is_held = False  # nothing is read, as data waits
        self._next_parse: asyncio.Handle | None = None  # the next one that parses
        self.drops_rest = False  # of the data: it is refused, or belongs to another protocol

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Begin."""
        super().connection_made(transport)
        self.flow = PacedFlow(transport, self._go_on)

    def data_received(self, data: bytes) -> None:
        """Parse the first pieces now, and others in later turns of the loop."""
        self._unparsed += data
        if self._next_parse is None:
            self._parse_some()

    def parse(self, piece: bytes) -> None:
        """Parse a piece."""
        super().data_received(piece)

    def _parse_some(self) -> None:
        self._next_parse = None
        self.drops_rest = self.transport.is_closing()  # nothing is executed that cannot be answered
        for _ in range(PIECES_PER_ITERATION):
            if self.drops_rest or self.flow.read_paused or self.pipeline or not self._unparsed:
                break
            piece = bytes(self._unparsed[:PIECE_BYTES])
            del self._unparsed[:PIECE_BYTES]
            self.parse(piece)
        if self.drops_rest:
            self._unparsed.clear()
        if self._unparsed:
            self._is_held = True
            self.transport.pause_reading()
        if self._is_held and not self.flow.read_paused:
            self._go_on()

    def _go_on(self) -> None:
        """Parse more in the next turn, or read more where nothing is left."""
        if not self._unparsed:
            self._is_held = False
            self.transport.resume_reading()
        elif self._next_parse is None and not self.pipeline:
            self._next_parse = self.loop.call_soon(self._parse_some)

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop what waits."""
        self._unparsed.clear()
        if self._next_parse is not None:
            self._next_parse.cancel()
        super().connection_lost(exc)

    # Where the rest of the data is not for the parser

    def handle_websocket_upgrade(self) -> None:
        """Leave the connection to a WebSocket."""
        self.drops_rest = True
        super().handle_websocket_upgrade()

    def _unsupported_upgrade_warning(self) -> None:
        """Answer in this protocol. What came behind the request was meant for the other one."""
        self.drops_rest = True
        super()._unsupported_upgrade_warning()
