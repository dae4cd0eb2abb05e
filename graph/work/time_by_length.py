"""A queue that shares time among callers, and the time of each caller among its operations by their lengths."""

from typing import Generic, NamedTuple, TypeVar

from graph.work.fair_time import FairTime
from graph.work.length import SHARES, Length

T = TypeVar("T")


class Turn(NamedTuple, Generic[T]):
    """An entry whose time slice begins."""

    caller: str
    length: Length
    entry: T


class TimeByLength(Generic[T]):
    """Entries that wait for a time slice. One of them has it at a time."""

    def __init__(self) -> None:
        self._callers: FairTime[str, None] = FairTime()  # as many entries of each as its lengths have
        self._lengths: dict[str, FairTime[Length, T]] = {}  # by caller
        self._caller: str | None = None  # of the present slice

    def __len__(self) -> int:
        return len(self._callers)

    def put(self, caller: str, length: Length, entry: T) -> None:
        """Add an entry behind the caller's others of this length."""
        self._callers.put(caller, None)
        if caller not in self._lengths:
            self._lengths[caller] = FairTime(SHARES)
        self._lengths[caller].put(length, entry)

    def take(self) -> Turn[T] | None:
        """Begin the slice of the next entry; None if nothing waits. A slice that was not ended took no time."""
        self.end_slice(0)
        if (of_caller := self._callers.take()) is None:
            return None
        self._caller, _ = of_caller
        of_length = self._lengths[self._caller].take()
        return of_length and Turn(self._caller, *of_length)  # a caller has as many entries as its lengths have

    def take_another(self) -> T | None:
        """The next entry of the same caller and length, for the present slice; None if there is no other."""
        if self._caller is None or (another := self._lengths[self._caller].take_another()) is None:
            return None
        self._callers.take_another()
        return another

    def end_slice(self, seconds: float) -> None:
        """End the present slice, which took so long."""
        if self._caller is None:
            return
        caller, self._caller = self._caller, None
        self._callers.end_slice(seconds)
        self._lengths[caller].end_slice(seconds)
        self._forget(caller)

    def charge(self, caller: str, seconds: float) -> None:
        """Charge time to a caller. Its next entries wait longer."""
        self._callers.charge(caller, seconds)

    def discard(self, caller: str, length: Length, entry: T) -> None:
        """Remove an entry, if it still waits. The caller keeps its place."""
        if caller in self._lengths and self._lengths[caller].discard(length, entry):
            self._callers.discard(caller, None)
            self._forget(caller)

    def _forget(self, caller: str) -> None:
        """Forget a caller of whom nothing waits."""
        if caller != self._caller and not self._lengths[caller]:
            del self._lengths[caller]
