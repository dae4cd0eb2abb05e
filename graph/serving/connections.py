"""A client's connection, which holds nothing for long: whoever is slow or silent is let go.

uvicorn ends a connection that idles after an answer. Here, the others end too:

    whole request not there in time    408 where its head was complete, and the end
    answer not taken in time           the end at once
    more connections than there may be the one that has waited longest for its client ends,
                                       or, where all are being answered, the new one, with 503

What a request takes in between is limited where it is executed.
"""

import asyncio
import logging
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from itertools import count
from typing import Any, cast

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.exceptions import InvalidState

from graph.errors import BadRequest, GraphError, Overloaded
from graph.http.request_ids import SECURITY_HEADERS
from graph.http.telling import told

MOST_PONG_BYTES = 1024 * 1024  # and whatever else is not taken yet, when a ping is answered
TURNS = count()  # tells what was first, for which a loop's clock is too coarse

logger = logging.getLogger("uvicorn.error.sockets")
logger.setLevel(logging.WARNING)
logger.addFilter(
    lambda record: "Invalid UTF-8" not in str(record.msg)
)  # the client's defect, which ends its connection


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """What the connections of one process may take."""

    seconds: float  # to send a request, and to take an answer
    number: int  # at the same time


def connections_within(limits: ConnectionLimits) -> type[asyncio.Protocol]:
    """What uvicorn makes a connection with, for its setting `http`."""
    return cast("type[asyncio.Protocol]", partial(ClientConnection, limits=limits))


def sockets_within(limits: ConnectionLimits) -> type[asyncio.Protocol]:
    """What uvicorn makes of a connection that becomes a WebSocket, for its setting `ws`."""
    return cast("type[asyncio.Protocol]", partial(ClientSocket, limits=limits))


class ClientSocket(WebSocketsSansIOProtocol):
    """A WebSocket, whose client takes what is sent, or is let go."""

    def __init__(self, *args: Any, limits: ConnectionLimits, **named: Any) -> None:
        super().__init__(*args, **named)
        # Both tell of each connection, and one of them with the whole URL.
        self.logger = self.conn.logger = logger
        self._limits = limits
        self._until_taken: asyncio.TimerHandle | None = None
        self._until_ended: asyncio.TimerHandle | None = None

    def handle_ping(self) -> None:
        """Answer. No answer waits until the client takes it, so that who asks on and takes none is let go."""
        super().handle_ping()
        if self.transport.get_write_buffer_size() > MOST_PONG_BYTES:
            self.transport.abort()

    async def send(self, message: Any) -> None:
        """Send it. An answer in place of an acceptance completes the handshake too, which uvicorn would miss."""
        await super().send(message)
        self.handshake_complete |= self.close_sent

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """The application has said its last, for which the client has as long as for anything before."""
        super().on_task_complete(task)
        if not self.disconnected:
            self._until_ended = self.loop.call_later(self._limits.seconds, self.transport.abort)

    def shutdown(self) -> None:
        """Say that the service ends, unless the client has said before that it leaves."""
        try:
            super().shutdown()
        except InvalidState:
            self.transport.close()

    def pause_writing(self) -> None:
        """So much is written that the client has not taken yet that the application waits."""
        super().pause_writing()
        self._until_taken = self.loop.call_later(self._limits.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has taken most of it."""
        super().resume_writing()
        _cancel(self._until_taken)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        super().connection_lost(exc)
        _cancel(self._until_taken)
        _cancel(self._until_ended)


class ClientConnection(HttpToolsProtocol):
    """A connection of HTTP/1.1."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        limits: ConnectionLimits,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.app: Any = self._in_time(cast("ASGIApp", self.app))
        self.waiting_since: int | None = None  # a number of `TURNS`; None while a whole request is being answered
        self._limits = limits
        self._answering: RequestResponseCycle | None = None
        self._is_late = False
        self._until_sent: asyncio.TimerHandle | None = None
        self._until_taken: asyncio.TimerHandle | None = None

    # A request comes in

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Wait for a first request, if there is room."""
        super().connection_made(transport)
        self.waiting_since = next(TURNS)
        self._expect_request()
        if len(self.connections) > self._limits.number:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Parse it. The clock runs also for bytes that begin no request, such as empty lines."""
        self._expect_request()
        super().data_received(data)

    def on_message_complete(self) -> None:
        """A request is there, head and body."""
        _cancel(self._until_sent)
        self._until_sent = None
        super().on_message_complete()
        if self.cycle and not self.cycle.response_complete:  # it may have been refused at its head; a socket has none
            self.waiting_since = None

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Have it answered."""
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def handle_websocket_upgrade(self) -> None:
        """Leave the connection to a socket, which has limits of its own."""
        _cancel(self._until_sent)
        _cancel(self._until_taken)
        super().handle_websocket_upgrade()

    def _expect_request(self) -> None:
        if self._until_sent is None:
            self._until_sent = self.loop.call_later(self._limits.seconds, self._end_late)

    def _end_late(self) -> None:
        """Have this be the last request, and wake up whoever waits for the rest of it."""
        self._is_late = True
        self.shutdown()
        if self.cycle is not None:
            self.cycle.message_event.set()

    def _in_time(self, app: ASGIApp) -> ASGIApp:
        """The application, to which a body that does not end in time is an error."""

        async def in_time(scope: Scope, receive: Receive, send: Send) -> None:
            async def receive_in_time() -> Message:
                message = await receive()
                if self._is_late and message.get("more_body"):
                    raise BadRequest(f"The body did not come within {self._limits.seconds:g} s.", status=408)
                return message

            await app(scope, receive_in_time, send)

        return in_time

    # Its answer goes out

    def on_response_complete(self) -> None:
        """An answer is written, which does not mean that it is sent."""
        super().on_response_complete()
        if self.cycle.response_complete:  # the last one; others may stand in the pipeline
            self.waiting_since = next(TURNS)
        if self.transport.get_write_buffer_size():
            self._expect_taking()

    def pause_writing(self) -> None:
        """So much is written that the client has not taken yet that the application waits."""
        super().pause_writing()
        self._expect_taking()

    def resume_writing(self) -> None:
        """The client has taken most of it, and has as long again for what is left of a whole answer."""
        super().resume_writing()
        _cancel(self._until_taken)
        if self.cycle and self.cycle.response_complete:
            self._expect_taking()

    def _expect_taking(self) -> None:
        _cancel(self._until_taken)
        self._until_taken = self.loop.call_later(self._limits.seconds, self._end_untaken)

    def _end_untaken(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()  # to close it would mean to wait until all is taken

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it, and tell whoever answers: uvicorn tells the last request, while others may stand before that."""
        super().connection_lost(exc)
        if self._answering is not None:
            self._answering.disconnected = True
            self._answering.message_event.set()
        _cancel(self._until_sent)
        _cancel(self._until_taken)

    # No answer of the application

    def _make_room(self) -> None:
        waiting = [
            other
            for other in self.connections
            if isinstance(other, ClientConnection) and other is not self and other.waiting_since is not None
        ]
        if waiting:
            oldest = min(waiting, key=lambda other: other.waiting_since or 0)
            self.connections.discard(oldest)  # now, so that whoever comes next finds another
            oldest.transport.abort()
        else:
            self._refuse(Overloaded())

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP. That is the client's matter: uvicorn has logged it."""
        self._refuse(BadRequest("This is not a request of HTTP/1.1."))

    def _refuse(self, error: GraphError) -> None:
        """Answer in the graph's way, as the last on this connection."""
        body = orjson.dumps({"errors": [told(error)]})
        headers = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Connection": "close",
            **SECURITY_HEADERS,
            **error.headers,
        }
        lines = [f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.transport.write("\r\n".join([*lines, "", ""]).encode("ascii") + body)
        self.transport.close()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
