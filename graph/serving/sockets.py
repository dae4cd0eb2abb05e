"""A client's WebSocket, which holds nothing for long and never holds the loop.

One chunk of data may hold forty thousand frames, and websockets' protocol handles all that it is given.
So all connections together handle a few frames an iteration of the loop, and the rest waits:

    data → _unread → a bounded number of frames → queue → the application

Nothing is read from the client while frames wait, or while the application has messages to take. So a
connection holds one chunk, the frames of one turn, and one message that is not complete.
"""

import asyncio
import logging
from functools import partial
from typing import Any, cast

from uvicorn._types import ASGIReceiveEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState, SecurityError
from websockets.frames import Frame

from graph.core.errors import BadRequest
from graph.serving.frame_budget import FrameBudget
from graph.serving.limits import ConnectionLimits, refusal

MOST_PONG_BYTES = 1024 * 1024  # and whatever else is not taken yet, when a ping is answered
LEAST_FRAME_BYTES = 6  # of a client: two, and a mask of four; RFC 6455 section 5.2

logger = logging.getLogger("uvicorn.error.sockets")
logger.setLevel(logging.WARNING)
logger.addFilter(
    lambda record: "Invalid UTF-8" not in str(record.msg)
)  # the client's defect, which ends its connection


def socket_class(limits: ConnectionLimits) -> type[asyncio.Protocol]:
    """What uvicorn makes of a connection that becomes a WebSocket, for its setting `ws`."""
    return cast("type[asyncio.Protocol]", partial(ClientSocket, limits=limits, frame_budget=FrameBudget()))


class ClientSocket(WebSocketsSansIOProtocol):
    """A WebSocket, whose client takes what is sent, or is let go."""

    def __init__(self, *args: Any, limits: ConnectionLimits, frame_budget: FrameBudget, **named: Any) -> None:
        super().__init__(*args, **named)
        # Both tell of each connection, and one of them with the whole URL.
        self.logger = self.conn.logger = logger
        self.frames_handled = 0  # since the connection began, its opening handshake included
        self._limits = limits
        self._unread = bytearray()  # data whose turn has not come
        self._frame_budget = frame_budget
        self._until_taken: asyncio.TimerHandle | None = None
        self._until_ended: asyncio.TimerHandle | None = None

    # What comes in

    def data_received(self, data: bytes) -> None:
        """Handle as much of it as this iteration of the loop may, and the rest in later ones."""
        self._unread += data
        self._read_on()

    def _read_on(self) -> None:
        """Handle frames, or see to it that they are handled as soon as they may be."""
        if self._unread and self._has_room():
            self._handle_frames()
        if self.transport.is_closing():  # what was sent behind a closing frame is dropped
            self._unread.clear()
        elif self._unread:
            if not self.read_paused:
                self.read_paused = True
                self.transport.pause_reading()
        elif self.read_paused and self._has_room():
            self.read_paused = False
            self.transport.resume_reading()

    def _handle_frames(self) -> None:
        while self._unread and self._frame_budget.left > 0 and not self.transport.is_closing():
            size = self._frame_budget.left * LEAST_FRAME_BYTES  # no more frames than are left
            piece = bytes(self._unread[:size])
            del self._unread[:size]
            super().data_received(piece)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            self._refuse_handshake(self.conn.handshake_exc)
        if self._unread:
            self._frame_budget.wait(self._read_on)

    def _has_room(self) -> bool:
        """Whether messages may come. The application takes none any more once it has closed the connection."""
        return self.queue.empty() or self.close_sent

    def handle_events(self) -> None:
        """Handle the frames that were parsed."""
        self.frames_handled += len(self.conn.events)
        self._frame_budget.spend(len(self.conn.events))
        super().handle_events()

    def handle_cont(self, event: Frame) -> None:
        """Put the pieces of a message together at once: an empty one would take ten times its bytes in a list."""
        pieces: list[Any] = self.frames
        if not isinstance(pieces[0], bytearray):
            pieces[0] = bytearray(pieces[0])
        pieces[0] += event.data
        if event.fin:
            self.send_receive_event_to_app()

    def handle_ping(self) -> None:
        """Answer. No answer waits until the client takes it, so that who asks on and takes none is let go."""
        super().handle_ping()
        if self.transport.get_write_buffer_size() > MOST_PONG_BYTES:
            self.transport.abort()

    async def receive(self) -> ASGIReceiveEvent:
        """The next message for the application."""
        message = await self.queue.get()
        if self.queue.empty():
            self._read_on()
        return message

    def _refuse_handshake(self, error: Exception) -> None:
        """Answer a request whose lines are longer than websockets reads, which it leaves without an answer."""
        is_large = isinstance(error.__cause__, SecurityError)
        reason = "A line of its head is too long." if is_large else "Its head is not one of HTTP/1.1."
        refused = BadRequest(f"The WebSocket cannot be opened. {reason}", status=431 if is_large else 400)
        self.transport.write(refusal(refused))
        self.transport.close()

    # What goes out

    async def send(self, message: Any) -> None:
        """Send it. An answer in place of an acceptance completes the handshake too, which uvicorn would miss."""
        await super().send(message)
        self.handshake_complete |= self.close_sent
        if self.close_sent:
            self._read_on()  # until the client's closing frame

    def pause_writing(self) -> None:
        """So much is written that the client has not taken yet that the application waits."""
        super().pause_writing()
        self._until_taken = self.loop.call_later(self._limits.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has taken most of it."""
        super().resume_writing()
        _cancel(self._until_taken)

    # The end

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

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it. What waits is dropped, so that no message comes behind the news of the end."""
        self._unread.clear()
        super().connection_lost(exc)
        self._frame_budget.forget(self._read_on)
        _cancel(self._until_taken)
        _cancel(self._until_ended)


def _cancel(handle: asyncio.Handle | None) -> None:
    if handle is not None:
        handle.cancel()
