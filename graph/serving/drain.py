"""The shutdown of a server under load, which loses no request.

    SIGTERM        /readyz answers 503, so that a load balancer sends new requests elsewhere. All
                   requests are still answered, also on new connections; each answer closes its
                   connection.
    drain time     The listener is closed once its queue is empty.
    again as long  Clients that are connected may still send a request.
    then           Subscriptions are completed, so that their clients subscribe elsewhere.
    then           uvicorn shuts down: it closes idle connections, finishes answers in progress and
                   ends the application.

SIGINT closes the listener and goes to the last two steps at once. A second signal does the same.
"""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import cast

import uvicorn

from graph.observability.logs import get_logger
from graph.serving.connections import ClientConnection
from graph.serving.listener import refuse_newcomers
from graph.transport.exchange import Process

TICK_S = 0.1  # as uvicorn's
COMPLETION_TIMEOUT_S = 2.0  # for all subscriptions; a client that does not read its end is disconnected

logger = get_logger(__name__)


class DrainingServer(uvicorn.Server):
    """A server that drains. The application learns of it by its `Endings`."""

    def __init__(
        self,
        config: uvicorn.Config,
        seconds: float,
        *,
        all_end: Callable[[], bool] | None = None,
        early_signals: Collection[int] = (),
    ) -> None:
        """Make a server.

        Args:
            seconds: the drain time; 0 for no drain.
            all_end: for one of several workers: whether the others are ending too, since they share the
                listener. Then only SIGINT, which the supervisor sends, hurries the drain: a process
                manager may send SIGTERM to the supervisor and to its workers at once.
            early_signals: those that have come before this server handles signals. One of them ends the
                process at once, since nothing has begun.
        """
        super().__init__(config)
        self._seconds = seconds
        self._all_end = all_end
        self._early_signals = early_signals
        self._draining = False
        self._hurried = False

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals from here on. One that came before ends the process."""
        with super().capture_signals():
            if self._early_signals:
                sys.exit(0)
            yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if self._draining:
            self._hurried = self._hurried or self._all_end is None or sig == signal.SIGINT
            return
        if sig == signal.SIGTERM and not self.should_exit:
            self._draining = self._seconds > 0
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, then shut down."""
        if self._draining:
            await self._drain(sockets or [])
            self._draining = False  # from here on, uvicorn handles SIGINT as usual
        self._stop_listening()  # so that a client cannot subscribe here again
        if process := self._process:
            await process.endings.end(COMPLETION_TIMEOUT_S)
        await super().shutdown(sockets)

    @property
    def _process(self) -> Process | None:
        """What the application holds, once it has started."""
        return cast("Process | None", self.lifespan.state.get("process"))

    async def _drain(self, listeners: list[socket.socket]) -> None:
        logger.info("Draining", seconds=self._seconds)
        if process := self._process:
            process.endings.is_near = True
        self.config.encoded_headers.append((b"connection", b"close"))
        await self._pass_time()
        if self._all_end is None or self._all_end():
            for listener in listeners:
                refuse_newcomers(listener)
            # The loop accepts what waits in the queue between two timers at the latest.
            await asyncio.sleep(TICK_S)
            await asyncio.sleep(TICK_S)
        self._stop_listening()
        logger.info("No new connection is accepted")
        await self._pass_time(until=self._nobody_waits)

    def _stop_listening(self) -> None:
        for server in self.servers:
            server.close()

    async def _pass_time(self, until: Callable[[], bool] = lambda: False) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + self._seconds
        while not (self._hurried or until() or loop.time() >= end):
            await self.on_tick(0)  # puts date and `Connection: close` into the headers of all answers
            await asyncio.sleep(TICK_S)

    def _nobody_waits(self) -> bool:
        connections = list(self.server_state.connections)
        return not any(isinstance(one, ClientConnection) and one.waiting_since is not None for one in connections)
