"""A client's connection, which holds nothing for long: whoever is slow or silent is let go.

uvicorn ends a connection that idles after an answer. Here, the others end too:

    whole request not there in time    408 where its head was complete, and the end
    answer not taken in time           the end at once
    more connections than there may be the one that has waited longest for its client ends,
                                       or, where all are being answered, the new one, with 503

What a request takes in between is limited where it is executed.
"""

import asyncio
from functools import partial
from itertools import count
from typing import Any, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
from uvicorn.server import ServerState

from graph.core.errors import BadRequest, Overloaded
from graph.serving.heads import BoundedHeads
from graph.serving.limits import ConnectionLimits, refusal

WAIT_NUMBERS = count()  # tells what was first, for which a loop's clock is too coarse


def connection_class(limits: ConnectionLimits) -> type[asyncio.Protocol]:
    """What uvicorn makes a connection with, for its setting `http`."""
    return cast("type[asyncio.Protocol]", partial(ClientConnection, limits=limits))


class ClientConnection(BoundedHeads):
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
        self.waiting_since: int | None = (
            None  # a number of `WAIT_NUMBERS`; None while a whole request is being answered
        )
        self._limits = limits
        self._answering: RequestResponseCycle | None = None
        self._is_late = False
        self._refusal: BadRequest | None = None  # of the last request, until those before it are answered
        self._is_ending = False  # all is said, and the client has yet to read it
        self._until_sent: asyncio.TimerHandle | None = None
        self._until_taken: asyncio.TimerHandle | None = None

    # A request comes in

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Wait for a first request, if there is room."""
        super().connection_made(transport)
        self.waiting_since = next(WAIT_NUMBERS)
        self._expect_request()
        if len(self.connections) > self._limits.number:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Parse it, unless all is said."""
        if not (self._refusal or self._is_ending):
            super().data_received(data)

    def parse(self, piece: bytes) -> None:
        """Parse a piece. The clock runs also for bytes that begin no request, such as empty lines."""
        self._expect_request()
        super().parse(piece)

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
        is_last = not self.pipeline
        super().on_response_complete()
        if is_last and self._refusal and not self.transport.is_closing():
            self._refuse(self._refusal)
        if self.cycle.response_complete:  # the last one; others may stand in the pipeline
            self.waiting_since = next(WAIT_NUMBERS)
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
            self.transport.write(refusal(Overloaded()))
            self.transport.close()

    def refuse_request(self, error: BadRequest) -> None:
        """Refuse the request that is coming in, after those before it in the pipeline are answered."""
        _cancel(self._until_sent)
        if self.in_head:  # the application does not know of it
            waits = self.cycle is not None and not self.cycle.response_complete
        elif self.pipeline:  # nor does it here
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
        """End the connection, but let the client read the answer first.

        To close it while the client sends would reset it, and the client would not see the answer. So what it
        still sends is dropped, until it ends the connection itself or its time is over.
        """
        if self.transport.is_closing():
            return
        self._is_ending = True
        self._unset_keepalive_if_required()
        self._until_sent = self.loop.call_later(self._limits.seconds, self.transport.abort)
        self.waiting_since = next(WAIT_NUMBERS)
        self.flow.resume_reading()
        self.transport.write_eof()

    def shutdown(self) -> None:
        """End the connection, once the request under way is answered."""
        if self._is_ending:
            self.transport.close()
        else:
            super().shutdown()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
