"""Slots: a few pieces of work run at the same time, the rest wait in a `FairQueue`."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from sys import maxsize

from graph.core.errors import Overloaded, TooManySubscriptions
from graph.work.fair_queue import FairQueue


@dataclass(eq=False)
class Slots:
    """A number of slots, which all callers share. They belong to one event loop.

    A piece of work is bounded, such as a statement over some thousand rows. So a caller with much to do gives way to
    other callers after each piece.
    """

    number: int = maxsize
    of_caller: int = maxsize  # the most that one caller may hold
    # How many slots a caller leaves free for each that it holds, for slots that are held for long. So each caller gets
    # less than the one before, and a further one need not wait.
    leaves_free: int = 0
    most_waiting: int = maxsize
    most_waiting_of_caller: int = maxsize
    _held: Counter[str] = field(default_factory=Counter)  # by caller
    _queue: FairQueue[asyncio.Future[None]] = field(default_factory=FairQueue)

    @property
    def busy(self) -> int:
        """Slots in use."""
        return self._held.total()

    @property
    def waiting(self) -> int:
        """How many wait for a slot."""
        return len(self._queue)

    @asynccontextmanager
    async def held(self, caller: str) -> AsyncIterator[None]:
        """Hold a slot within the `with`, as soon as there is one for the caller."""
        if not self.take(caller):
            await self.wait(caller)
        try:
            yield
        finally:
            self.release(caller)

    @contextmanager
    def counted(self, caller: str, what: str) -> Iterator[None]:
        """Hold a slot within the `with`, for something that stays open.

        Args:
            what: that is open, for the message.

        Raises:
            TooManySubscriptions: The caller holds as many as it may.
        """
        if not self.take(caller):
            raise TooManySubscriptions(self.of_caller, what)
        try:
            yield
        finally:
            self.release(caller)

    def take(self, caller: str) -> bool:
        """Take a slot, if the caller may hold one more at once."""
        if may := self._may_hold_more(caller):  # then nothing of this caller waits
            self._held[caller] += 1
        return may

    def take_back(self, caller: str) -> None:
        """Take a slot again, even if no more are free. Until enough are released, others wait."""
        self._held[caller] += 1

    def wait(self, caller: str) -> Awaitable[None]:
        """Wait for a slot, behind the caller's others that wait.

        Raises:
            Overloaded: At once, if too many wait already.
        """
        if self.waiting >= self.most_waiting or self._queue.waiting_of(caller) >= self.most_waiting_of_caller:
            raise Overloaded
        return self._granted(caller)

    async def _granted(self, caller: str) -> None:
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

    def release(self, caller: str) -> None:
        """Release a caller's slot, or pass it on to the next that may have it."""
        self._held[caller] -= 1
        if not self._held[caller]:
            del self._held[caller]
        while (turn := self._queue.take(self._may_hold_more)) is not None:
            self._queue.end_slice(1)
            if not turn.entry.done():
                self._held[turn.caller] += 1
                turn.entry.set_result(None)

    def _may_hold_more(self, caller: str) -> bool:
        free, held = self.number - self.busy, self._held[caller]
        return free > self.leaves_free * held and held < self.of_caller
