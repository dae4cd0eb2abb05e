"""A page of several streams has each version once, whenever a version moves to another stream while it is read."""

from collections.abc import AsyncGenerator, Sequence
from itertools import product
from typing import cast

from graph.core.paging import Paging, Position
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.merged_walk import MergedWalk
from graph.domains.earthquakes.selection import Selection
from graph.store.entity import Item
from graph.store.time_walk import Keep, Reading, Walk
from tests.domains.earthquakes.builders import an_event

NUMBER = 6


class Streams:
    """The latest and the superseded versions. One version is superseded before the read with a given number."""

    def __init__(self, versions: Sequence[Item], moving: int, before_read: int) -> None:
        self.streams = list(versions), list[Item]()
        self.reads = 0
        self._moving = moving
        self._before_read = before_read

    def move(self) -> None:
        """Count a read, and move the version when it is time."""
        if self.reads == self._before_read:
            self.streams[1].append(self.streams[0].pop(self._moving))
        self.reads += 1


class StreamWalk:
    """A walk through one of the streams. Like a store, it orders the versions of a millisecond as it likes."""

    def __init__(self, streams: Streams, number: int, selection: Selection, keep: Keep) -> None:
        self._streams = streams
        self._number = number
        self._selection = selection
        self._keep = keep

    async def read(self, size: int, *, forward: bool) -> Reading:
        self._streams.move()
        first, last = self._selection.span
        found = [
            item
            for item in self._streams.streams[self._number]
            if first <= item["eventTsMs"] <= last and self._keep.holds(item)
        ]
        found.sort(key=lambda item: item["eventTsMs"], reverse=not forward)
        return Reading(found[:size], len(found) > size, 1, forward=forward, start=None)


async def test_a_version_that_moves_while_pages_are_read_is_found_once() -> None:
    for moving, before_read, forward in product(range(NUMBER), range(5), (True, False)):
        await assert_each_is_found_once(moving, before_read, forward=forward)


async def assert_each_is_found_once(moving: int, before_read: int, *, forward: bool) -> None:
    times = (1, 2, 2, 2, 2, 3)
    items = [an_event(event_id=f"e{(at * 5) % NUMBER}", event_ts_ms=time).item for at, time in enumerate(times)]
    streams = Streams(items, moving, before_read)

    def walk_of(number: int, selection: Selection, keep: Keep) -> Walk:
        return cast("Walk", StreamWalk(streams, number, selection, keep))

    async def days(selection: Selection, *, forward: bool) -> AsyncGenerator[tuple[str, int], None]:
        yield "19700101", NUMBER

    walk = MergedWalk(Selection(), days, [lambda s, k: walk_of(0, s, k), lambda s, k: walk_of(1, s, k)])
    found: list[tuple[int, str]] = []
    after: Position | None = None
    more = True
    while more:
        page = await walk.page(Paging(2, after=after), forward=forward, record_of=Event)
        found += [(event.item["eventTsMs"], event.item["eventId"]) for event in page.records]
        more = page.has_more
        after = page.records[-1].position

    expected = sorted((item["eventTsMs"], item["eventId"]) for item in items)
    assert found == (expected if forward else expected[::-1])
