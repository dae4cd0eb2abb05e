"""A queue that shares time among callers: the waiting caller that has used the least gets the next time slice.

It is start-time fair queueing (Goyal, Vin and Cheng, 1996). The length of a slice need not be known
before its end. The times of two waiting callers never differ by more than the longest slices of both.
Anything that can be told apart may take the place of callers, and some may have a greater share than others.
"""

from collections import deque
from collections.abc import Hashable, Mapping
from heapq import heappop, heappush
from typing import Generic, TypeVar

C = TypeVar("C", bound=Hashable)
T = TypeVar("T")

REMEMBERED = 100  # callers; some of them may be up to date and could be forgotten


Place = tuple[float, int, C]
"""The virtual time at which a caller's next slice begins, a number that decides between equals, and the caller."""


class FairTime(Generic[C, T]):
    """Entries that wait for a time slice. One of them has it at a time."""

    def __init__(self, shares: Mapping[C, float] | None = None) -> None:
        self._shares = shares
        self._entries: dict[C, deque[T]] = {}  # by caller
        self._places: list[Place[C]] = []  # a heap
        self._placed: set[C] = set()  # callers that have a place; the caller of the present slice has none
        self._ends: dict[C, float] = {}  # caller → the virtual time at which its last slice ended
        self._caller: C | None = None  # of the present slice
        self._now = 0.0  # the virtual time at which the last slice began
        self._length = 0
        self._number = 0

    def __len__(self) -> int:
        return self._length

    def put(self, caller: C, entry: T) -> None:
        """Add an entry behind the caller's others."""
        self._length += 1
        self._entries.setdefault(caller, deque()).append(entry)
        if self._caller != caller:
            self._line_up(caller)

    def take(self) -> tuple[C, T] | None:
        """Begin the slice of the next entry; None if nothing waits. A slice that was not ended took no time."""
        self.end_slice(0)
        while self._places:
            begin, _, caller = heappop(self._places)
            self._placed.discard(caller)
            if caller in self._entries:
                self._caller, self._now = caller, begin
                return caller, self._next_of(caller)
        self._ends.clear()
        return None

    def take_another(self) -> T | None:
        """The next entry of the same caller, for the present slice; None if the caller has no other."""
        caller = self._caller
        return None if caller is None or caller not in self._entries else self._next_of(caller)

    def end_slice(self, seconds: float) -> None:
        """End the present slice, which took so long."""
        if self._caller is None:
            return
        caller, self._caller = self._caller, None
        self.charge(caller, seconds)
        if caller in self._entries:
            self._line_up(caller)

    def charge(self, caller: C, seconds: float) -> None:
        """Charge time to a caller. Its next entries wait longer."""
        if self._shares:
            seconds /= self._shares[caller]
        self._ends[caller] = max(self._now, self._ends.get(caller, 0.0)) + seconds
        if len(self._ends) > REMEMBERED + 2 * len(self._places):
            self._ends = {caller: end for caller, end in self._ends.items() if end > self._now}

    def discard(self, caller: C, entry: T) -> bool:
        """Remove an entry, if it still waits. The caller keeps its place. Returns whether it waited."""
        if waited := entry in self._entries.get(caller, ()):
            self._entries[caller].remove(entry)
            self._one_less(caller)
        return waited

    def _next_of(self, caller: C) -> T:
        entry = self._entries[caller].popleft()
        self._one_less(caller)
        return entry

    def _one_less(self, caller: C) -> None:
        self._length -= 1
        if not self._entries[caller]:
            del self._entries[caller]

    def _line_up(self, caller: C) -> None:
        if caller not in self._placed:
            self._placed.add(caller)
            self._number += 1
            begin = max(self._now, self._ends.get(caller, 0.0))
            heappush(self._places, (begin, self._number, caller))
