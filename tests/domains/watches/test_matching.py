"""The watches that want a version are those of a loop over all watches, and they are found without holding the loop."""

import asyncio
from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.earthquakes.revisions.versions import RevisionKind
from graph.domains.earthquakes.selection import Selection
from graph.domains.watches.matching import PIECE, Interest, WatchIndex
from graph.domains.watches.model import OF_REVISION, ChangeKind
from graph.geography.areas import Circle
from tests.domains.earthquakes.builders import an_event
from tests.domains.earthquakes.oracle import selects
from tests.domains.earthquakes.strategies import boxes, circles, magnitude_ranges, polygons, selections, values
from tests.effort import rounds
from tests.turns import turns_counted

ALL = frozenset(ChangeKind)


def version_of(event: Event, kind: RevisionKind = RevisionKind.CREATED, before: Event | None = None) -> EventRevision:
    return EventRevision({**event.item, "kind": kind.value}, before.item if before else None)


areas = st.fixed_dictionaries({}, optional={"box": boxes, "circle": circles, "polygon": polygons()})
interests = st.builds(
    Interest,
    selections | st.builds(lambda magnitudes, some: Selection(magnitudes=magnitudes, **some), magnitude_ranges, areas),
    st.frozensets(st.sampled_from(ChangeKind), min_size=1) | st.just(ALL),
    st.integers(0, 3),
)
events = st.builds(
    lambda number, row: an_event(f"us{number:03}", **row), st.integers(0, 3), st.fixed_dictionaries(values)
)
versions = st.builds(
    lambda event, kind, before: version_of(event, kind, before),
    events,
    st.sampled_from(RevisionKind),
    st.none() | events,
)
watch_ids = st.sampled_from([f"watch{number}" for number in range(8)])
steps = st.lists(st.tuples(watch_ids, st.none() | interests), max_size=8)
"""Each puts a watch, or discards it."""


def wants(interest: Interest, version: EventRevision, number: int) -> bool:
    """By the definition, and by other formulas than the service's."""
    known = [Event(item) for item in (version.item, version.before) if item]
    later = number > interest.since and OF_REVISION[version.kind] in interest.kinds
    return later and any(selects(interest.selection, event) for event in known)


def wanting(watches: Mapping[str, Interest], version: EventRevision, number: int) -> list[str]:
    return sorted(watch_id for watch_id, interest in watches.items() if wants(interest, version, number))


@settings(max_examples=rounds(300), deadline=None)
@given(st.lists(st.tuples(steps, st.lists(versions, min_size=1, max_size=3), st.integers(0, 4)), max_size=3))
def test_the_index_finds_the_watches_that_a_loop_over_all_finds(
    rounds_: list[tuple[list[tuple[str, Interest | None]], list[EventRevision], int]],
) -> None:
    index, watches = WatchIndex(), dict[str, Interest]()
    for some, told, number in rounds_:
        for watch_id, interest in some:
            if interest is None:
                watches.pop(watch_id, None)
                index.discard(watch_id)
            else:
                watches[watch_id] = interest
                index.put(watch_id, interest)
        assert len(index) == len(watches)
        for version in told:
            assert index.wanting(version, number) == wanting(watches, version, number)


def test_a_discarded_watch_is_tested_no_more_and_its_equals_stay() -> None:
    index = WatchIndex()
    for watch_id in ("one", "other"):
        index.put(watch_id, Interest(Selection(circle=Circle(35.6, -117.6, 50)), ALL, since=0))
    item = ReadItem(an_event(lat=35.6, lon=-117.6).item)

    index.discard("one")
    assert index.wanting(EventRevision(item), 1) == ["other"]
    index.discard("other")
    index.discard("other")
    assert index.wanting(EventRevision(item), 1) == []
    assert item.reads["eventTsMs"] == 1


def strong(number: int) -> Interest:
    """A watch of the whole earth whose selection no other has."""
    return Interest(Selection(magnitudes=MagnitudeRange(number / 10_000)), ALL, since=0)


async def test_other_work_runs_between_pieces_of_many_watches() -> None:
    index = WatchIndex()
    watches = {f"watch{number:05}": strong(number) for number in range(20 * PIECE)}
    for watch_id, interest in watches.items():
        index.put(watch_id, interest)
    async with turns_counted() as turns:
        found = await index.wanting_in_pieces(version_of(an_event(mag=9)), 1)

    assert found == index.wanting(version_of(an_event(mag=9)), 1) == list(watches)
    assert turns.number >= 20


async def test_watches_come_and_go_while_others_are_found() -> None:
    index = WatchIndex()
    for number in range(4 * PIECE):
        index.put(f"watch{number:03}", strong(number))

    finding = asyncio.create_task(index.wanting_in_pieces(version_of(an_event(mag=9)), 1))
    await asyncio.sleep(0)
    for number in range(0, 4 * PIECE, 2):
        index.discard(f"watch{number:03}")
        index.put(f"new{number:03}", strong(number))
    found = await finding

    assert {f"watch{number:03}" for number in range(1, 4 * PIECE, 2)} <= set(found)
    assert len(found) == len(set(found))


def test_only_what_waits_where_an_event_is_and_below_its_magnitude_is_tested() -> None:
    """The tests are counted by what they read of the item."""
    index = WatchIndex()
    somewhere = [(lat, lon) for lat in range(-80, 81, 8) for lon in range(-176, 177, 8)]
    for number, (lat, lon) in enumerate(somewhere):
        index.put(f"near{number}", Interest(Selection(circle=Circle(lat, lon, 200)), ALL, since=0))
        index.put(f"of{number}", Interest(Selection(ids=(f"us{number}",)), ALL, since=0))
        index.put(f"strong{number}", Interest(Selection(magnitudes=MagnitudeRange(5 + number / 1e6)), ALL, since=0))

    item = ReadItem(an_event("us17", mag=4.9, lat=0.5, lon=0.5).item)

    assert index.wanting(EventRevision(item), 1) == [f"near{somewhere.index((0, 0))}", "of17"]
    assert item.reads["eventTsMs"] == 2  # of each test once


class ReadItem(dict[str, Any]):
    """An item that counts how often its attributes are read."""

    def __init__(self, item: Mapping[str, Any]) -> None:
        super().__init__(item)
        self.reads = dict.fromkeys(item, 0)

    def __getitem__(self, name: str) -> Any:
        self.reads[name] += 1
        return super().__getitem__(name)
