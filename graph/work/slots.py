"""Fair semaphores: a few pieces of work run at the same time, the rest wait in a `FairQueue`."""

import asyncio
from collections import Counter
from collections.abc import Mapping

from graph.core.errors import Overloaded
from graph.work.account import WorkLimits, begin_heavy_work, current_caller
from graph.work.fair_queue import FairQueue
from graph.work.length import Length

WAITING_OF_CALLER = 1000  # waiting operations of one caller


class Slots:
    """A number of slots for heavy work, which all callers share. It belongs to one event loop.

    A piece of heavy work is bounded, such as a statement over some thousand rows. So a caller with much
    to read gives way to other callers after each piece.
    """

    def __init__(self, number: int, *, of_caller: int | None = None) -> None:
        """Make so many slots. `of_caller` is the most that one caller may hold; by default all."""
        self.number = number
        self._of_caller = of_caller or number
        self._held: Counter[str] = Counter()  # by caller
        self._queue: FairQueue[asyncio.Future[None]] = FairQueue()

    @property
    def busy(self) -> int:
        """Slots in use."""
        return self._held.total()

    @property
    def waiting(self) -> int:
        """Pieces of work that wait for a slot."""
        return len(self._queue)

    async def acquire(self) -> str:
        """Wait for a slot. Returns the caller that holds it, for `release`.

        Raises:
            Overloaded: No slot is free, and too many wait already.
        """
        caller = current_caller()
        if self._may_hold_more(caller):  # then nothing of this caller waits
            self._held[caller] += 1
            return caller
        self._begin_waiting(caller)
        granted = asyncio.get_running_loop().create_future()
        self._queue.put(caller, granted)
        try:
            await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled():
                self.release(caller)
            else:
                self._queue.discard(caller, granted)
            raise
        return caller

    def release(self, caller: str) -> None:
        """Release a caller's slot, or pass it on to the next that waits."""
        self._held[caller] -= 1
        if not self._held[caller]:
            del self._held[caller]
        while (entry := self._queue.take(self._may_hold_more)) is not None:
            following, granted = entry
            if not granted.done():
                self._held[following] += 1
                granted.set_result(None)
                return

    def one(self) -> "_OneSlot":
        """Hold a slot during a piece of work on the event loop."""
        return _OneSlot(self)

    def _may_hold_more(self, caller: str) -> bool:
        return self.busy < self.number and self._held[caller] < self._of_caller

    def _begin_waiting(self, caller: str) -> None:
        begin_heavy_work()


class _OneSlot:
    """Holds a slot. Each operation takes one, and `asynccontextmanager` would take 3 µs more."""

    __slots__ = ("_caller", "_slots")

    def __init__(self, slots: Slots) -> None:
        self._slots = slots

    async def __aenter__(self) -> None:
        self._caller = await self._slots.acquire()

    async def __aexit__(self, *raised: object) -> None:
        self._slots.release(self._caller)


class OperationSlots(Slots):
    """Slots for whole operations. Most are light, so many operations of a caller may wait before one is refused."""

    @classmethod
    def beside(cls, heavy: WorkLimits) -> "Mapping[Length, OperationSlots]":
        """For operations of each length twice as many slots as heavy operations, so that light ones find room.

        No operation waits for a slot that a longer one holds.
        """
        return {length: cls(2 * heavy.process, of_caller=2 * heavy.caller) for length in Length}

    def __init__(self, number: int, *, of_caller: int, waiting_of_caller: int = WAITING_OF_CALLER) -> None:
        super().__init__(number, of_caller=of_caller)
        self._waiting_of_caller = waiting_of_caller

    def _begin_waiting(self, caller: str) -> None:
        if self._queue.waiting_of(caller) >= self._waiting_of_caller:
            raise Overloaded
