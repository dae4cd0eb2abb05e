"""Deadlines: cancel work at its timeout, or when its client disconnects.

    with deadlines.within(30, receive):
        result = await work()

Most queries have ended after some milliseconds. So a deadline is an entry of a set, and one timer looks at the set
while something is in it. Only work that the timer has seen twice gets a watch, which is a task.

    python -m benchmarks.micro
"""

import asyncio
from typing import Any, cast

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from graph.core.errors import ExecutionTimeout

LOOK_EVERY_S = 0.05


class Deadlines:
    """The deadlines of one event loop."""

    def __init__(self) -> None:
        self.new: set[Deadline] = set()
        self.seen: set[Deadline] = set()  # when the timer fired last
        self._timer: asyncio.TimerHandle | None = None

    def within(self, seconds: float | None, while_connected: Receive | None = None) -> "Deadline":
        """A deadline for the work inside of `with`.

        Args:
            seconds: the longest that the work may take; None for no limit.
            while_connected: the request's channel, after its body was read. The work is cancelled when the
                client disconnects.

        Raises:
            ExecutionTimeout: The work took longer.
            ClientDisconnect: The client disconnected first.
        """
        return Deadline(self, seconds, while_connected)

    def look_later(self) -> None:
        """Set the timer, if it is not set."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_EVERY_S, self._look)

    def _look(self) -> None:
        for deadline in self.seen:
            deadline.watch()
        self.seen, self.new, self._timer = self.new, set(), None
        if self.seen:
            self.look_later()


class Deadline:
    """The deadline of one piece of work, which is a part of a task."""

    __slots__ = ("_deadlines", "_end", "_receive", "_seconds", "_task", "_watch")

    def __init__(self, deadlines: Deadlines, seconds: float | None, receive: Receive | None) -> None:
        self._deadlines = deadlines
        self._seconds = seconds
        self._receive = receive
        self._watch: asyncio.Task[bool] | None = None

    def __enter__(self) -> None:
        self._task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._end = None if self._seconds is None else asyncio.get_running_loop().time() + self._seconds
        if self._seconds is not None and self._seconds < 2 * LOOK_EVERY_S:
            self.watch()
        else:
            self._deadlines.new.add(self)
            self._deadlines.look_later()

    def watch(self) -> None:
        """Begin to watch the time and the client."""
        self._watch = asyncio.ensure_future(_cancel_late(self._task, self._end, self._receive))

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._deadlines.new.discard(self)
        self._deadlines.seen.discard(self)
        if self._watch is None:
            return
        if not self._watch.done():
            self._watch.cancel()
        elif self._task.uncancel() == 0 and error is not None:  # cancelled work may raise anything
            raise ClientDisconnect if self._watch.result() else ExecutionTimeout(self._seconds or 0) from error


async def _cancel_late(task: asyncio.Task[Any], end: float | None, while_connected: Receive | None) -> bool:
    """Cancel a task when its client disconnects or its time is over. Returns whether the client disconnected."""
    is_disconnected = False
    try:
        async with asyncio.timeout_at(end):
            await (wait_for_disconnect(while_connected) if while_connected else asyncio.Event().wait())
            is_disconnected = True
    except TimeoutError:
        pass
    task.cancel()
    return is_disconnected


async def wait_for_disconnect(receive: Receive) -> None:
    """Return when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
