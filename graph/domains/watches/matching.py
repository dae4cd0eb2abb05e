"""Which of many watches want a version of an event: an index of their selections, in memory.

Watches with equal selections share one. Each selection waits at the places where its events come by, in the order of
its least magnitude. So a version is tested only by the selections around it whose least magnitude it has, each in some
microseconds. `benchmarks/watches.py` measures all this.

A watch takes 1 to 2 kB of memory, and up to 5 kB more, for an area, once its selection was tested: only then it is
compiled. Putting or discarding one takes 0.1 ms, or up to 4 ms if its area is very large or has very many corners.
"""

from bisect import bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from operator import attrgetter

from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.earthquakes.revisions.versions import GONE
from graph.domains.earthquakes.selection import Selection
from graph.domains.watches.model import OF_REVISION, ChangeKind
from graph.domains.watches.places import Place, places_of, places_of_event
from graph.feed.subscriber import Test
from graph.store.entity import Item
from graph.work.account import give_way

PIECE = 50  # selections that are tested at once, in 0.2 ms, or in 3 ms if all have to be compiled


@dataclass(frozen=True, slots=True)
class Interest:
    """What a watch wants: later changes of these kinds, of events that are selected or were so before."""

    selection: Selection
    kinds: frozenset[ChangeKind]
    since: int  # number of the catalogue's latest change when the watch was made


class WatchIndex:
    """The watches of a process, by their ids."""

    def __init__(self) -> None:
        self._waiting: dict[Place, list[_Waiting]] = {}  # each in ascending order of the least magnitude
        self._by_selection: dict[Selection, _Waiting] = {}
        self._by_watch: dict[str, _Waiting] = {}

    def __len__(self) -> int:
        """The number of watches."""
        return len(self._by_watch)

    def put(self, watch_id: str, interest: Interest) -> None:
        """Add a watch, or replace it."""
        self.discard(watch_id)
        waiting = self._by_selection.get(interest.selection)
        if waiting is None:
            waiting = self._by_selection[interest.selection] = _Waiting(interest.selection)
            for place in places_of(interest.selection):
                insort(self._waiting.setdefault(place, []), waiting, key=_LEAST)
        waiting.watches[watch_id] = interest
        self._by_watch[watch_id] = waiting

    def discard(self, watch_id: str) -> None:
        """Remove a watch if it is there."""
        waiting = self._by_watch.pop(watch_id, None)
        if waiting is None:
            return
        del waiting.watches[watch_id]
        if waiting.watches:
            return
        del self._by_selection[waiting.selection]
        for place in places_of(waiting.selection):
            self._waiting[place].remove(waiting)
            if not self._waiting[place]:
                del self._waiting[place]

    async def wanting(self, version: EventRevision, number: int) -> list[str]:
        """The ids of the watches that want a version, sorted. It takes 0.1 ms with few, and 10 ms with 10,000 of them.

        It gives way to other work, but for the sorting, which takes 2 ms for 10,000 ids. A watch that is put or
        discarded meanwhile may be among them or not.

        Args:
            version: with the one before it.
            number: of the change in the catalogue's sequence.
        """
        found, kind = set[str](), OF_REVISION[version.kind]
        for item in filter(None, (version.item, version.before)):
            mag, is_past = item["mag"], version.kind in GONE
            for some in self._candidates(item):
                found.update(
                    watch_id
                    for waiting in some
                    if mag <= waiting.greatest and waiting.compiled()[is_past](item)
                    for watch_id, interest in waiting.watches.items()
                    if interest.since < number and kind in interest.kinds
                )
                await give_way()
        return sorted(found)

    def _candidates(self, item: Item) -> Iterator[list["_Waiting"]]:
        """The selections that may admit an event."""
        for place in places_of_event(item):
            waiting = self._waiting.get(place, [])
            some = waiting[: bisect_right(waiting, item["mag"], key=_LEAST)]
            for first in range(0, len(some), PIECE):
                yield some[first : first + PIECE]


class _Waiting:
    """A selection, with the watches that have it."""

    __slots__ = ("_admits", "greatest", "least", "selection", "watches")

    def __init__(self, selection: Selection) -> None:
        minimum, maximum = selection.magnitudes.minimum, selection.magnitudes.maximum
        self.selection = selection
        self.least = -inf if minimum is None else minimum
        self.greatest = inf if maximum is None else maximum
        self._admits: tuple[Test[Item], Test[Item]] | None = None
        self.watches: dict[str, Interest] = {}

    def compiled(self) -> tuple[Test[Item], Test[Item]]:
        """What tests an item, but for its magnitude, and one that has left the catalogue: see `Selection.lasting`."""
        if self._admits is None:
            own = replace(self.selection, magnitudes=MagnitudeRange())
            self._admits = own.admits, own.admits if own.lasting == own else own.lasting.admits
        return self._admits


_LEAST = attrgetter("least")
