"""The end of a server under load, in which no request is lost.

    SIGTERM   /readyz says no, so that a load balancer sends newcomers elsewhere. All requests are
              answered still, also on new connections, and each answer ends its connection.
    later     The listener is closed once its queue is empty.
    then      Whoever is connected and has not asked yet may do so for as long again.
    then      Subscriptions are completed, so that their clients subscribe elsewhere.
    then      uvicorn's own end: idle connections are closed, answers under way are finished, the
              application ends.

SIGINT goes to the last step, as does a further signal in the steps before.
"""

import asyncio
import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from graph.observability.logs import get_logger
from graph.serving.connections import ClientConnection
from graph.serving.listener import refuse_newcomers

TICK_S = 0.1  # as uvicorn's
COMPLETION_TIMEOUT_S = 2.0  # all subscriptions; who does not take even the end of it is cut off

logger = get_logger(__name__)


class DrainingServer(uvicorn.Server):
    """A server whose application finds `draining` in the state of a request, once it drains."""

    def __init__(self, config: uvicorn.Config, seconds: float, *, all_end: Callable[[], bool] | None = None) -> None:
        """Make one that drains for so long.

        Args:
            seconds: 0 for no drain.
            all_end: of one worker among several, tells whether the others end too. The listener
                is theirs as well. Their supervisor sends SIGINT for whatever shall hurry it, while a
                process manager may send SIGTERM to it and to its workers.
        """
        super().__init__(config)
        self._seconds = seconds
        self._all_end = all_end
        self._draining = False
        self._hurried = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take in a signal."""
        if self._draining:
            self._hurried = self._hurried or self._all_end is None or sig == signal.SIGINT
            return
        if sig == signal.SIGTERM and not self.should_exit:
            self._draining = self._seconds > 0
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End, after the drain where there is one."""
        if self._draining:
            await self._drain(sockets or [])
            self._draining = False  # from here on, SIGINT means what it means to uvicorn
        if endings := self.lifespan.state.get("endings"):
            await endings.end(COMPLETION_TIMEOUT_S)
        await super().shutdown(sockets)

    async def _drain(self, listeners: list[socket.socket]) -> None:
        logger.info("Draining", seconds=self._seconds)
        self.lifespan.state["draining"] = True  # of which each request gets a copy
        self.config.encoded_headers.append((b"connection", b"close"))
        await self._pass_time()
        if self._all_end is None or self._all_end():
            for listener in listeners:
                refuse_newcomers(listener)
            # The loop looks after its sockets at the latest between two timers.
            await asyncio.sleep(TICK_S)
            await asyncio.sleep(TICK_S)
        for server in self.servers:
            server.close()
        logger.info("No connection is taken any more")
        await self._pass_time(until=self._nobody_waits)

    async def _pass_time(self, until: Callable[[], bool] = lambda: False) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + self._seconds
        while not (self._hurried or until() or loop.time() >= end):
            await self.on_tick(0)  # puts date and `Connection: close` into the headers of all answers
            await asyncio.sleep(TICK_S)

    def _nobody_waits(self) -> bool:
        connections = list(self.server_state.connections)
        return not any(isinstance(one, ClientConnection) and one.waiting_since is not None for one in connections)
