"""A fair semaphore for heavy work: a few pieces run at the same time, the rest wait in a `FairQueue`.

A piece is a bounded slice, such as a statement over some thousand rows. So a caller with much to
read gives way to another caller after each slice.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from graph.work.account import begin_heavy_work, current_caller
from graph.work.fair_queue import FairQueue


class Slots:
    """So many slots, which all callers share. For one event loop."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._free = number
        self._queue: FairQueue[asyncio.Future[None]] = FairQueue()

    @property
    def busy(self) -> int:
        """Slots that are taken."""
        return self.number - self._free

    @property
    def waiting(self) -> int:
        """Pieces of work that wait for a slot."""
        return len(self._queue)

    async def acquire(self) -> None:
        """Wait for a slot. `release` gives it back.

        Raises:
            Overloaded: No slot is free, and too many operations do heavy work already.
        """
        if self._free and not self._queue:
            self._free -= 1
            return
        begin_heavy_work()
        caller = current_caller()
        granted = asyncio.get_running_loop().create_future()
        self._queue.put(caller, granted)
        try:
            await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled():
                self.release()
            else:
                self._queue.discard(caller, granted)
            raise

    def release(self) -> None:
        """Give a slot back, or on to the next that waits."""
        with suppress(IndexError):
            while True:
                granted = self._queue.take()
                if not granted.done():
                    granted.set_result(None)
                    return
        self._free += 1

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Around a piece of work on the event loop."""
        await self.acquire()
        try:
            yield
        finally:
            self.release()
