"""Work on the event loop in bursts of some milliseconds, shared out among callers, and rests for everything else.

Work asks for permission before it begins a piece, and again between two pieces. While a burst has
time left and nothing waits, permission costs a look at the clock. Otherwise the work waits in a
`FairTime`, from which each iteration of the loop takes one entry. That caller then has a turn, so
that it need not wait anew after each of many short pieces. A burst that has used up its time is
followed by some iterations without a turn, for as long as a burst at most: a request takes a handful
of iterations from its first byte to its answer, and would else meet a long piece of others in each.
"""

import asyncio
from collections.abc import Callable
from time import perf_counter, thread_time
from typing import NamedTuple

from graph.work.fair_time import FairTime

BURST_S = 0.003  # a piece that began before may end after
TURN_S = 0.001  # likewise
RESTING_ITERATIONS = 8  # an iteration with nothing to do takes some 10 µs


class _Turn(NamedTuple):
    """The turn of one caller."""

    caller: str
    began: float  # by the clock
    used: float  # processor time until then


class Pace:
    """Shares out the time of one event loop."""

    def __init__(
        self,
        *,
        burst_s: float = BURST_S,
        turn_s: float = TURN_S,
        resting_iterations: int = RESTING_ITERATIONS,
        clock: Callable[[], float] = perf_counter,
        used: Callable[[], float] = thread_time,
    ) -> None:
        """Set the times; `used` tells the processor time that the loop's thread has taken, in seconds."""
        self._burst_s = burst_s
        self._turn_s = turn_s
        self._resting_iterations = resting_iterations
        self._clock = clock
        self._used = used
        self._began: float | None = None  # the burst or the rest; None where neither is in progress
        self._rest = 0  # iterations that are left of it
        self._turn: _Turn | None = None  # of this iteration
        self._queue: FairTime[asyncio.Future[None]] = FairTime()

    @property
    def waiting(self) -> int:
        """Pieces of work that wait for a later iteration."""
        return len(self._queue)

    async def give_way(self, caller: str) -> None:
        """Return at once while the caller's turn or the burst has time left, else in a later iteration."""
        loop = asyncio.get_running_loop()
        if self._began is None:
            self._began = self._clock()
            loop.call_soon(self._next_iteration)
        elif not self._may_go_on(caller):
            permitted = loop.create_future()
            self._queue.put(caller, permitted)
            try:
                await permitted
            except asyncio.CancelledError:
                self._queue.discard(caller, permitted)
                raise

    def charge(self, caller: str, seconds: float) -> None:
        """Count processor time of another thread against a caller, which then waits for others."""
        self._queue.charge(caller, seconds)

    def _may_go_on(self, caller: str) -> bool:
        if self._turn:
            return self._turn.caller == caller and self._clock() - self._turn.began < self._turn_s
        return not self._queue and not self._rest and not self._is_used_up()

    def _is_used_up(self) -> bool:
        return self._began is not None and self._clock() - self._began >= self._burst_s

    def _next_iteration(self) -> None:
        if self._turn:
            self._queue.end_turn(self._used() - self._turn.used)
            self._turn = None
        is_used_up = self._is_used_up()
        if self._rest:
            self._rest = 0 if is_used_up else self._rest - 1
            if not self._rest:
                self._began = self._clock()
        elif is_used_up:
            self._rest, self._began = self._resting_iterations, self._clock()
        if self._rest or self._resume_one():
            asyncio.get_running_loop().call_soon(self._next_iteration)
        else:
            self._began = None

    def _resume_one(self) -> bool:
        while (entry := self._queue.take()) is not None:
            caller, permitted = entry
            if not permitted.done():
                permitted.set_result(None)
                self._turn = _Turn(caller, self._clock(), self._used())
                return True
        return False
