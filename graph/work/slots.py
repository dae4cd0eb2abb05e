"""Slots of the operation in progress: a few pieces of work run at the same time, the rest wait."""

from collections.abc import Awaitable, Mapping

from graph.core.errors import Overloaded
from graph.work.account import Account, WorkLimits, begin_waiting, current_caller
from graph.work.fair_semaphore import FairSemaphore
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
        self._semaphore = FairSemaphore(number, of_caller=of_caller)

    @property
    def busy(self) -> int:
        """Slots in use."""
        return self._semaphore.busy

    @property
    def waiting(self) -> int:
        """Pieces of work that wait for a slot."""
        return self._semaphore.waiting

    async def acquire(self) -> str:
        """Wait for a slot. Returns the caller that holds it, for `release`.

        Raises:
            Overloaded: No slot is free, and too many wait already.
        """
        caller = current_caller()
        if not self._semaphore.take(caller):
            self._begin_waiting(caller)
            await self._semaphore.wait(caller)
        return caller

    def release(self, caller: str) -> None:
        """Release a caller's slot, or pass it on to the next that waits."""
        self._semaphore.release(caller)

    def _begin_waiting(self, caller: str) -> None:
        begin_waiting()


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

    def begin(self, account: Account) -> Awaitable[None] | None:
        """Take a slot for an operation, whose account gives it back. Returns what to wait for, if no slot is free.

        Raises:
            Overloaded: No slot is free, and too many operations of the caller wait already.
        """
        if not self._semaphore.take(account.caller):
            self._begin_waiting(account.caller)
            return self._begin_later(account)
        account.hold(self._semaphore)
        return None

    async def _begin_later(self, account: Account) -> None:
        await self._semaphore.wait(account.caller)
        account.hold(self._semaphore)

    def _begin_waiting(self, caller: str) -> None:
        if self._semaphore.waiting_of(caller) >= self._waiting_of_caller:
            raise Overloaded
