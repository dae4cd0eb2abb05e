"""A queue that shares time among callers: of those that wait, the one that has used the least has the next turn.

It is start-time fair queueing (Goyal, Vin and Cheng, 1996). How long a turn takes need not be known
before it ends. Two callers that both wait never differ by more than the longest turns of both.
"""

from collections import deque
from heapq import heappop, heappush
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

REMEMBERED = 100  # callers, of which some may have nothing to catch up on


class _Place(NamedTuple):
    """A caller in the queue."""

    begin: float  # when its next turn would begin if time passed alike for all that wait
    number: int  # of equals, the one that came first goes first
    caller: str


class FairTime(Generic[T]):
    """Entries that wait for a turn. One has it at a time."""

    def __init__(self) -> None:
        self._entries: dict[str, deque[T]] = {}  # by caller
        self._places: list[_Place] = []  # a heap
        self._placed: set[str] = set()  # callers that have a place; one in its turn has none
        self._ends: dict[str, float] = {}  # caller → the end of its last turn, on the same scale
        self._turn: _Place | None = None
        self._now = 0.0  # the beginning of the last turn
        self._length = 0
        self._number = 0

    def __len__(self) -> int:
        return self._length

    def put(self, caller: str, entry: T) -> None:
        """Add an entry behind the caller's others."""
        self._length += 1
        self._entries.setdefault(caller, deque()).append(entry)
        if self._turn is None or self._turn.caller != caller:
            self._line_up(caller)

    def take(self) -> tuple[str, T] | None:
        """Begin the turn of an entry; None where nothing waits. A turn that has not ended took no time."""
        self.end_turn(0)
        while self._places:
            place = heappop(self._places)
            self._placed.discard(place.caller)
            if place.caller in self._entries:
                self._turn, self._now = place, place.begin
                entry = self._entries[place.caller].popleft()
                self._one_less(place.caller)
                return place.caller, entry
        self._ends.clear()
        return None

    def end_turn(self, seconds: float) -> None:
        """End the turn that was taken, which took so long."""
        if self._turn is None:
            return
        caller, self._turn = self._turn.caller, None
        self.charge(caller, seconds)
        if caller in self._entries:
            self._line_up(caller)

    def charge(self, caller: str, seconds: float) -> None:
        """Count time against a caller, which its next entries then wait for."""
        self._ends[caller] = max(self._now, self._ends.get(caller, 0.0)) + seconds
        if len(self._ends) > REMEMBERED + 2 * len(self._places):
            self._ends = {caller: end for caller, end in self._ends.items() if end > self._now}

    def discard(self, caller: str, entry: T) -> None:
        """Remove an entry, if it still waits. The caller keeps its place until that is reached."""
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
