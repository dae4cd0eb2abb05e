"""A client's WebSocket. It never blocks the event loop, and a client that does not read is disconnected.

One chunk of data may hold forty thousand frames, and websockets' protocol would handle all of them at once.
So all connections together handle a few frames in each iteration of the loop, and the rest waits:

    data → _unread → a bounded number of frames → queue → the application

Nothing is read from the client while frames wait, or while the application has messages to take. So a
connection holds one chunk, the frames of one iteration, and one message that is not complete.
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
from graph.serving.limits import ConnectionLimits, cancel, refusal

MOST_PONG_BYTES = 1024 * 1024  # that may wait to be sent when a ping is answered
LEAST_FRAME_BYTES = 6  # of a client: two, and a mask of four; RFC 6455 section 5.2

logger = logging.getLogger("uvicorn.error.sockets")
logger.setLevel(logging.WARNING)
logger.addFilter(
    lambda record: "Invalid UTF-8" not in str(record.msg)
)  # the client's defect, which ends its connection


def socket_class(limits: ConnectionLimits) -> type[asyncio.Protocol]:
    """The class of WebSockets, for uvicorn's setting `ws`. They share one frame budget."""
    return cast("type[asyncio.Protocol]", partial(ClientSocket, limits=limits, frame_budget=FrameBudget()))


class ClientSocket(WebSocketsSansIOProtocol):
    """A WebSocket whose client must read what is sent."""

    def __init__(self, *args: Any, limits: ConnectionLimits, frame_budget: FrameBudget, **named: Any) -> None:
        super().__init__(*args, **named)
        # The loggers of both libraries log each connection, one of them with its whole URL.
        self.logger = self.conn.logger = logger
        self.frames_handled = 0  # since the connection began, its opening handshake included
        self._limits = limits
        self._unread = bytearray()  # data that is not handled yet
        self._frame_budget = frame_budget
        self._read_timer: asyncio.TimerHandle | None = None
        self._end_timer: asyncio.TimerHandle | None = None

    # What comes in

    def data_received(self, data: bytes) -> None:
        """Handle as many frames as the budget of this iteration allows, and the rest in later ones."""
        self._unread += data
        self._read_on()

    def _read_on(self) -> None:
        """Handle frames now, or as soon as the budget and the queue allow."""
        if self._unread and self._has_room():
            self._handle_frames()
        if self.transport.is_closing():  # data behind a closing frame is dropped
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
        """Whether messages may be queued. Once the application has closed the connection, it takes no more."""
        return self.queue.empty() or self.close_sent

    def handle_events(self) -> None:
        """Handle the frames that were parsed."""
        self.frames_handled += len(self.conn.events)
        self._frame_budget.spend(len(self.conn.events))
        super().handle_events()

    def handle_cont(self, event: Frame) -> None:
        """Join the fragments of a message at once: in a list, an empty fragment takes ten times its bytes."""
        pieces: list[Any] = self.frames
        if not isinstance(pieces[0], bytearray):
            pieces[0] = bytearray(pieces[0])
        pieces[0] += event.data
        if event.fin:
            self.send_receive_event_to_app()

    def handle_ping(self) -> None:
        """Answer a ping. A client that pings and does not read the answers is disconnected."""
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
        """Answer a bad opening handshake, which websockets leaves without an answer."""
        is_large = isinstance(error.__cause__, SecurityError)
        reason = "A line of its head is too long." if is_large else "Its head is not one of HTTP/1.1."
        refused = BadRequest(f"The WebSocket cannot be opened. {reason}", status=431 if is_large else 400)
        self.transport.write(refusal(refused))
        self.transport.close()

    # What goes out

    async def send(self, message: Any) -> None:
        """Send a message. An HTTP answer instead of an acceptance also completes the handshake; uvicorn misses that."""
        await super().send(message)
        self.handshake_complete |= self.close_sent
        if self.close_sent:
            self._read_on()  # until the client's closing frame

    def pause_writing(self) -> None:
        """The application waits until the client has read more."""
        super().pause_writing()
        self._read_timer = self.loop.call_later(self._limits.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has read most of what was sent."""
        super().resume_writing()
        cancel(self._read_timer)

    # The end

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """The application has ended. The client has the usual time to read the last messages."""
        super().on_task_complete(task)
        if not self.disconnected:
            self._end_timer = self.loop.call_later(self._limits.seconds, self.transport.abort)

    def shutdown(self) -> None:
        """Send a closing frame, unless the client has already sent one."""
        try:
            super().shutdown()
        except InvalidState:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop the connection and its waiting data, so that no message follows the disconnect."""
        self._unread.clear()
        super().connection_lost(exc)
        self._frame_budget.forget(self._read_on)
        cancel(self._read_timer)
        cancel(self._end_timer)
