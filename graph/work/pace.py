"""Short work on the event loop: some milliseconds of it between two looks at the sockets, callers in rotation.

Work asks for permission before it begins a piece, and again between two pieces. While the current
iteration of the loop has time left, permission costs a look at the clock. Otherwise the work waits
in a `FairQueue`, from which each iteration takes a few entries.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter

from graph.work.fair_queue import FairQueue

ITERATION_S = 0.003  # of work in one iteration; a piece that began before may end after
RESUMED_AT_ONCE = 2  # pieces that waited, an iteration


class Pace:
    """Shares out the time of one event loop."""

    def __init__(self, *, iteration_s: float = ITERATION_S, clock: Callable[[], float] = perf_counter) -> None:
        self._iteration_s = iteration_s
        self._clock = clock
        self._began: float | None = None  # the first piece of this iteration
        self._queue: FairQueue[asyncio.Future[None]] = FairQueue()

    @property
    def waiting(self) -> int:
        """Pieces of work that wait for a later iteration."""
        return len(self._queue)

    async def give_way(self, caller: str) -> None:
        """Return at once while this iteration has time left and nothing waits, else in a later one."""
        now = self._clock()
        if self._began is None:
            self._began = now
            asyncio.get_running_loop().call_soon(self._next_iteration)
        if not self._queue and now - self._began < self._iteration_s:
            return
        permitted = asyncio.get_running_loop().create_future()
        self._queue.put(caller, permitted)
        try:
            await permitted
        except asyncio.CancelledError:
            self._queue.discard(caller, permitted)
            raise

    def _next_iteration(self) -> None:
        self._began = None
        if not self._queue:
            return
        resumed = 0
        with suppress(IndexError):
            while resumed < RESUMED_AT_ONCE:
                permitted = self._queue.take()
                if not permitted.done():
                    permitted.set_result(None)
                    resumed += 1
        self._began = self._clock()
        asyncio.get_running_loop().call_soon(self._next_iteration)
