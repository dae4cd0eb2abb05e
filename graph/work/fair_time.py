"""A queue that shares time among callers: the waiting caller that has used the least gets the next time slice.

It is start-time fair queueing (Goyal, Vin and Cheng, 1996). The length of a slice need not be known
before its end. The times of two waiting callers never differ by more than the longest slices of both.
"""

from collections import deque
from heapq import heappop, heappush
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

REMEMBERED = 100  # callers; some of them may be up to date and could be forgotten


class _Place(NamedTuple):
    """A caller in the queue."""

    begin: float  # the virtual time at which its next slice begins
    number: int  # the order of arrival, which decides between equals
    caller: str


class FairTime(Generic[T]):
    """Entries that wait for a time slice. One of them has it at a time."""

    def __init__(self) -> None:
        self._entries: dict[str, deque[T]] = {}  # by caller
        self._places: list[_Place] = []  # a heap
        self._placed: set[str] = set()  # callers that have a place; the caller of the present slice has none
        self._ends: dict[str, float] = {}  # caller → the virtual time at which its last slice ended
        self._slice: _Place | None = None
        self._now = 0.0  # the virtual time at which the last slice began
        self._length = 0
        self._number = 0

    def __len__(self) -> int:
        return self._length

    def put(self, caller: str, entry: T) -> None:
        """Add an entry behind the caller's others."""
        self._length += 1
        self._entries.setdefault(caller, deque()).append(entry)
        if self._slice is None or self._slice.caller != caller:
            self._line_up(caller)

    def take(self) -> tuple[str, T] | None:
        """Begin the slice of the next entry; None if nothing waits. A slice that was not ended took no time."""
        self.end_slice(0)
        while self._places:
            place = heappop(self._places)
            self._placed.discard(place.caller)
            if place.caller in self._entries:
                self._slice, self._now = place, place.begin
                entry = self._entries[place.caller].popleft()
                self._one_less(place.caller)
                return place.caller, entry
        self._ends.clear()
        return None

    def end_slice(self, seconds: float) -> None:
        """End the present slice, which took so long."""
        if self._slice is None:
            return
        caller, self._slice = self._slice.caller, None
        self.charge(caller, seconds)
        if caller in self._entries:
            self._line_up(caller)

    def charge(self, caller: str, seconds: float) -> None:
        """Charge time to a caller. Its next entries wait longer."""
        self._ends[caller] = max(self._now, self._ends.get(caller, 0.0)) + seconds
        if len(self._ends) > REMEMBERED + 2 * len(self._places):
            self._ends = {caller: end for caller, end in self._ends.items() if end > self._now}

    def discard(self, caller: str, entry: T) -> None:
        """Remove an entry, if it still waits. The caller keeps its place."""
        if entry in self._entries.get(caller, ()):
            self._entries[caller].remove(entry)
            self._one_less(caller)

    def _one_less(self, caller: str) -> None:
        self._length -= 1
        if not self._entries[caller]:
            del self._entries[caller]

    def _line_up(self, caller: str) -> None:
        if caller not in self._placed:
            self._placed.add(caller)
            self._number += 1
            begin = max(self._now, self._ends.get(caller, 0.0))
            heappush(self._places, _Place(begin, self._number, caller))
