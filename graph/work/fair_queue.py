"""A queue that is fair to callers, and within each caller to short operations beside long ones.

Of the waiting callers, the one that has used the least is served next: the least time, or the fewest slots. A caller's
own operations share what it gets by their lengths. So a caller with a thousand entries delays another by one slice.

It is start-time fair queueing (Goyal, Vin and Cheng, 1996). The cost of a slice need not be known before its end. What
two waiting callers have used never differs by more than the longest slices of both.
"""

from collections import deque
from collections.abc import Callable, Container, Hashable, Mapping
from heapq import heappop, heappush
from typing import Generic, NamedTuple, TypeVar

from graph.work.length import SHARES, Length

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

REMEMBERED = 100  # callers; some of them may be up to date and could be forgotten


class Turn(NamedTuple, Generic[T]):
    """An entry whose slice begins."""

    caller: str
    length: Length
    entry: T


class FairQueue(Generic[T]):
    """Entries that wait for a slice. One of them has it at a time."""

    def __init__(self) -> None:
        self._line: _Line[str] = _Line()
        self._callers: dict[str, _Entries[T]] = {}  # of whom something waits, or who has the present slice
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def waiting_of(self, caller: str) -> int:
        """How many entries of a caller wait."""
        return sum(map(len, self._callers[caller].by_length.values())) if caller in self._callers else 0

    def put(self, caller: str, entry: T, length: Length = Length.USUAL) -> None:
        """Add an entry behind the caller's others of this length."""
        if caller not in self._callers:
            self._callers[caller] = _Entries()
        self._callers[caller].put(length, entry)
        self._line.join(caller)
        self._length += 1

    def take(self, may_go_on: Callable[[str], bool] = lambda _: True) -> Turn[T] | None:
        """Begin the slice of the next entry. A slice that was not ended cost nothing.

        Args:
            may_go_on: whether a caller may be served. The others keep their place.

        Returns:
            None if nothing waits of a caller that may be served.
        """
        self.end_slice(0)
        if (caller := self._line.next(self._callers, may_go_on)) is None:
            return None
        entries = self._callers[caller]
        length = entries.line.next(entries.by_length)
        return None if length is None else Turn(caller, length, self._popped(entries, length))

    def take_another(self) -> T | None:
        """The next entry of the same caller and length, for the present slice; None if there is no other."""
        if (caller := self._line.present) is None:
            return None
        entries = self._callers[caller]
        length = entries.line.present
        return self._popped(entries, length) if length in entries.by_length else None

    def end_slice(self, cost: float) -> None:
        """End the present slice, which cost so much."""
        if (caller := self._line.present) is None:
            return
        entries = self._callers[caller]
        entries.line.end(cost, entries.by_length)
        if not entries.by_length:
            del self._callers[caller]
        self._line.end(cost, self._callers)

    def charge(self, caller: str, cost: float) -> None:
        """Charge a caller for more. Its next entries wait longer."""
        self._line.charge(caller, cost)

    def discard(self, caller: str, entry: T, length: Length = Length.USUAL) -> None:
        """Remove an entry, if it still waits. The caller keeps its place."""
        entries = self._callers.get(caller)
        if entries and entry in (same := entries.by_length.get(length, ())):
            same.remove(entry)  # type: ignore[union-attr]  # an empty tuple has no entry
            self._count_down(entries, length)
            if not entries.by_length and caller != self._line.present:
                del self._callers[caller]

    def _popped(self, entries: "_Entries[T]", length: Length) -> T:
        entry = entries.by_length[length].popleft()
        self._count_down(entries, length)
        return entry

    def _count_down(self, entries: "_Entries[T]", length: Length) -> None:
        self._length -= 1
        if not entries.by_length[length]:
            del entries.by_length[length]


class _Entries(Generic[T]):
    """What waits of one caller."""

    def __init__(self) -> None:
        self.line: _Line[Length] = _Line(SHARES)
        self.by_length: dict[Length, deque[T]] = {}

    def put(self, length: Length, entry: T) -> None:
        self.by_length.setdefault(length, deque()).append(entry)
        self.line.join(length)


class _Line(Generic[K]):
    """Keys in line: the one that has used the least, by its share, is the next. The present one has no place."""

    def __init__(self, shares: Mapping[K, float] | None = None) -> None:
        self.present: K | None = None
        self.ends: dict[K, float] = {}  # the virtual time at which the last slice of each ended
        self._shares = shares
        self._places: list[tuple[float, int, K]] = []  # a heap: virtual time, a number between equals, the key
        self._placed: set[K] = set()
        self._now = 0.0  # the virtual time at which the last slice began
        self._number = 0

    def join(self, key: K) -> None:
        """Give a key a place, if it has none."""
        if key != self.present and key not in self._placed:
            self._placed.add(key)
            self._number += 1
            heappush(self._places, (max(self._now, self.ends.get(key, 0.0)), self._number, key))

    def next(self, waiting: Container[K], may_go_on: Callable[[K], bool] = lambda _: True) -> K | None:
        """Begin the slice of the first waiting key that may go on."""
        passed = []
        while self._places and self.present is None:
            place = heappop(self._places)
            begin, _, key = place
            if key in waiting and not may_go_on(key):
                passed.append(place)
                continue
            self._placed.discard(key)
            if key in waiting:
                self.present, self._now = key, begin
        for place in passed:
            heappush(self._places, place)
        if self.present is None and not passed:
            self.ends.clear()
        return self.present

    def end(self, cost: float, waiting: Container[K]) -> None:
        """End the present slice."""
        if (key := self.present) is not None:
            self.present = None
            self.charge(key, cost)
            if key in waiting:
                self.join(key)

    def charge(self, key: K, cost: float) -> None:
        """Charge a key."""
        share = self._shares[key] if self._shares else 1
        self.ends[key] = max(self._now, self.ends.get(key, 0.0)) + cost / share
        if len(self.ends) > REMEMBERED + 2 * len(self._places):
            self.ends = {key: end for key, end in self.ends.items() if end > self._now}
