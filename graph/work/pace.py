"""Shares the event loop's time among callers, in bursts of some milliseconds with rests between them.

Work asks for permission before each piece. While a burst has time left and nothing waits, permission
costs one look at the clock. Otherwise the work waits in a `FairQueue`, from which each iteration of the
loop takes one entry, or some short ones of one caller. Their caller then has a time slice, so that it need
not wait again after each of many short pieces. A caller's own operations share its time by their lengths:
so the users of one frontend wait little for a lookup while others of them read long pages.

After a burst that has used up its time come some iterations without a slice, for at most the length of
a burst. Without this rest, a request, which takes a handful of iterations from its first byte to its
answer, would wait for a long piece of other work in each of them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import perf_counter, thread_time
from typing import NamedTuple

from graph.work.fair_queue import FairQueue
from graph.work.length import Length

BURST_S = 0.003  # a piece that began earlier may end later
SLICE_S = 0.001  # likewise
SHORT_AT_ONCE = 4  # short operations of a caller in one slice; each iteration of the loop costs time too
RESTING_ITERATIONS = 8  # an iteration with nothing to do takes some 10 µs


class _Slice(NamedTuple):
    """The time slice of one caller, for an operation of some length."""

    caller: str
    length: Length
    began: float  # by the clock
    used: float  # CPU time at its beginning


@dataclass(eq=False)
class Pace:
    """Shares out the time of one event loop."""

    burst_s: float = BURST_S
    slice_s: float = SLICE_S
    resting_iterations: int = RESTING_ITERATIONS
    clock: Callable[[], float] = perf_counter
    used: Callable[[], float] = thread_time  # CPU time of the loop's thread, seconds
    _began: float | None = None  # when the burst or the rest began; None outside of both
    _rest: int = 0  # remaining iterations of the rest
    _slice: _Slice | None = None  # of this iteration
    _queue: FairQueue[asyncio.Future[None]] = field(default_factory=FairQueue)

    @property
    def waiting(self) -> int:
        """Pieces of work that wait for a later iteration."""
        return len(self._queue)

    def begin(self, caller: str) -> Awaitable[None] | None:
        """Return what to wait for; None while the burst has time left and nothing waits.

        What begins an operation is short, whatever follows. It overtakes nothing of its caller that is as short.
        """
        return None if self._begins() or self._is_free() else self._later(caller, Length.SHORT)

    async def give_way(self, caller: str, length: Length = Length.SHORT) -> None:
        """Return at once while the caller's slice or the burst has time left, else in a later iteration."""
        if not (self._begins() or self._may_go_on(caller, length)):
            await self._later(caller, length)

    def _begins(self) -> bool:
        """Whether a burst begins here."""
        if self._began is not None:
            return False
        self._began = self.clock()
        asyncio.get_running_loop().call_soon(self._next_iteration)
        return True

    async def _later(self, caller: str, length: Length) -> None:
        permitted = asyncio.get_running_loop().create_future()
        self._queue.put(caller, permitted, length)
        try:
            await permitted
        except asyncio.CancelledError:
            self._queue.discard(caller, permitted, length)
            raise

    def charge(self, caller: str, seconds: float) -> None:
        """Charge a caller for the CPU time of another thread. The caller then waits longer."""
        self._queue.charge(caller, seconds)

    def _may_go_on(self, caller: str, length: Length) -> bool:
        if self._slice:
            is_its_own = self._slice.caller == caller and length <= self._slice.length
            return is_its_own and self.clock() - self._slice.began < self.slice_s
        return self._is_free()

    def _is_free(self) -> bool:
        return not self._slice and not self._queue and not self._rest and not self._is_used_up()

    def _is_used_up(self) -> bool:
        return self._began is not None and self.clock() - self._began >= self.burst_s

    def _next_iteration(self) -> None:
        if self._slice:
            self._queue.end_slice(self.used() - self._slice.used)
            self._slice = None
        is_used_up = self._is_used_up()
        if self._rest:
            self._rest = 0 if is_used_up else self._rest - 1
            if not self._rest:
                self._began = self.clock()
        elif is_used_up:
            self._rest, self._began = self.resting_iterations, self.clock()
        if self._rest or self._begin_slice():
            asyncio.get_running_loop().call_soon(self._next_iteration)
        else:
            self._began = None

    def _begin_slice(self) -> bool:
        """Resume the next entry, with some others if they are short. False if nothing waits."""
        while (turn := self._queue.take()) is not None:
            entries = [turn.entry]
            while turn.length is Length.SHORT and len(entries) < SHORT_AT_ONCE:
                if (another := self._queue.take_another()) is None:
                    break
                entries.append(another)
            if waiting := [entry for entry in entries if not entry.done()]:
                for permitted in waiting:
                    permitted.set_result(None)
                self._slice = _Slice(turn.caller, turn.length, self.clock(), self.used())
                return True
        return False
