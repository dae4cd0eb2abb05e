"""A client's HTTP connection. Slow and silent clients are disconnected.

uvicorn closes a connection that idles after an answer. This class also closes others:

    request not complete in time    answer 408 if its head was complete, then close
    answer not read in time         close at once
    too many connections            close the one that has waited longest for its client;
                                    where all are being answered, refuse the new one with 503

The execution of a request has its own limits, elsewhere.
"""

import asyncio
from functools import partial
from itertools import count
from typing import Any, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from graph.core.errors import BadRequest, Overloaded
from graph.serving.heads import BoundedHeads
from graph.serving.joined_writes import JoinedWrites
from graph.serving.limits import ConnectionLimits, cancel, refusal

WAIT_NUMBERS = count()  # the order in which connections began to wait; a loop's clock is too coarse for that


def connection_class(limits: ConnectionLimits) -> type[asyncio.Protocol]:
    """The class of HTTP connections, for uvicorn's setting `http`."""
    return cast("type[asyncio.Protocol]", partial(ClientConnection, limits=limits))


class ClientConnection(BoundedHeads):
    """A connection of HTTP/1.1."""

    def __init__(self, *args: Any, limits: ConnectionLimits, **named: Any) -> None:
        super().__init__(*args, **named)
        self.app: Any = self._in_time(cast("ASGIApp", self.app))
        self.waiting_since: int | None = None  # a number of `WAIT_NUMBERS`; None while a request is being answered
        self._limits = limits
        self._answering: RequestResponseCycle | None = None
        self._writes: JoinedWrites  # of the same request
        self._is_late = False
        self._refusal: BadRequest | None = None  # of the last request; sent after the answers before it
        self._is_ending = False  # the last answer is written, and the client has yet to read it
        self._request_timer: asyncio.TimerHandle | None = None
        self._answer_timer: asyncio.TimerHandle | None = None

    # A request comes in

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Wait for the first request, if there is room for the connection."""
        super().connection_made(transport)
        self.waiting_since = next(WAIT_NUMBERS)
        self._expect_request()
        if len(self.connections) > self._limits.number:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Parse the data, unless the connection is ending."""
        if not (self._refusal or self._is_ending):
            super().data_received(data)

    def parse(self, piece: bytes) -> None:
        """Parse a piece. The timer also runs for bytes that begin no request, such as empty lines."""
        self._expect_request()
        super().parse(piece)

    def on_message_complete(self) -> None:
        """The request is complete, head and body."""
        cancel(self._request_timer)
        self._request_timer = None
        super().on_message_complete()
        if self.cycle and not self.cycle.response_complete:  # its head may be refused already; a WebSocket has no cycle
            self.waiting_since = None

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Start the application on a request."""
        self._writes = JoinedWrites(self.transport, self.loop)
        cycle.transport = cast("asyncio.Transport", self._writes)
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over to a WebSocket, which has its own limits."""
        cancel(self._request_timer)
        cancel(self._answer_timer)
        super().handle_websocket_upgrade()

    def _expect_request(self) -> None:
        if self._request_timer is None:
            self._request_timer = self.loop.call_later(self._limits.seconds, self._end_late)

    def _end_late(self) -> None:
        """Close the connection after this request, and wake the application, which waits for its body."""
        self._is_late = True
        self.shutdown()
        if self.cycle is not None:
            self.cycle.message_event.set()

    def _in_time(self, app: ASGIApp) -> ASGIApp:
        """Wrap the application: a body that is not complete in time raises an error."""

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
        """An answer is written, though not yet sent."""
        self._writes.flush()
        is_last = not self.pipeline
        super().on_response_complete()
        if is_last and self._refusal and not self.transport.is_closing():
            self._refuse(self._refusal)
        if self.cycle.response_complete:  # the last request is answered; others may wait in the pipeline
            self.waiting_since = next(WAIT_NUMBERS)
        if self.transport.get_write_buffer_size():
            self._expect_reading()

    def pause_writing(self) -> None:
        """The application waits until the client has read more of the answer."""
        super().pause_writing()
        self._expect_reading()

    def resume_writing(self) -> None:
        """The client has read most of the answer. The timer starts again for the rest."""
        super().resume_writing()
        cancel(self._answer_timer)
        if self.cycle and self.cycle.response_complete:
            self._expect_reading()

    def _expect_reading(self) -> None:
        cancel(self._answer_timer)
        self._answer_timer = self.loop.call_later(self._limits.seconds, self._end_unread)

    def _end_unread(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()  # `close` would wait until the client has read everything

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop the connection and wake the application. uvicorn wakes only the last request of the pipeline."""
        super().connection_lost(exc)
        if self._answering is not None:
            self._answering.disconnected = True
            self._answering.message_event.set()
        cancel(self._request_timer)
        cancel(self._answer_timer)

    # Refusals, which the application does not answer

    def _make_room(self) -> None:
        waiting = [
            other
            for other in self.connections
            if isinstance(other, ClientConnection) and other is not self and other.waiting_since is not None
        ]
        if waiting:
            oldest = min(waiting, key=lambda other: other.waiting_since or 0)
            self.connections.discard(oldest)  # at once, so that the next newcomer does not choose it again
            oldest.transport.abort()
        else:
            self.transport.write(refusal(Overloaded()))
            self.transport.close()

    def refuse_request(self, error: BadRequest) -> None:
        """Refuse the incoming request, after those before it in the pipeline are answered."""
        cancel(self._request_timer)
        if self.in_head:  # the application has not seen the request
            waits = self.cycle is not None and not self.cycle.response_complete
        elif self.pipeline:  # likewise
            self.pipeline.popleft()
            waits = True
        else:
            waits = False
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if self.cycle.response_started:
                self._end()
                return
        if waits:
            self._refusal = error
        else:
            self._refuse(error)

    def _refuse(self, error: BadRequest) -> None:
        self.transport.write(refusal(error))
        self._end()

    def _end(self) -> None:
        """Close the connection after the client has read the answer.

        Closing it while the client still sends would reset it, and the client would not see the answer. So
        everything that the client sends is dropped, until it closes the connection or its time is over.
        """
        if self.transport.is_closing():
            return
        self._is_ending = True
        self._unset_keepalive_if_required()
        self._request_timer = self.loop.call_later(self._limits.seconds, self.transport.abort)
        self.waiting_since = next(WAIT_NUMBERS)
        self.flow.resume_reading()
        self.transport.write_eof()

    def shutdown(self) -> None:
        """Close the connection once the present request is answered."""
        if self._is_ending:
            self.transport.close()
        else:
            super().shutdown()
