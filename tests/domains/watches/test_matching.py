"""The watches that want a version are those of a loop over all watches, and they are found without holding the loop.

A selection waits in few places, and what it admits comes by at exactly one of them. The watches in memory are those in
the store, whatever changes were seen or have expired.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.earthquakes.revisions.versions import GONE, RevisionKind
from graph.domains.earthquakes.schema.filter_json import selection_of_json
from graph.domains.earthquakes.selection import Selection
from graph.domains.watches import known as knowing
from graph.domains.watches import watches as storing
from graph.domains.watches.known import KnownWatches
from graph.domains.watches.matching import PIECE, Interest, WatchIndex
from graph.domains.watches.model import OF_REVISION, ChangeKind
from graph.domains.watches.places import MOST_CELLS, places_of, places_of_event
from graph.domains.watches.watches import CHANGES_KEPT_S
from graph.geography.areas import Area, Box, Circle
from graph.geography.polygon import Polygon
from graph.store.contract import Database
from tests.domains.earthquakes.builders import an_event
from tests.domains.earthquakes.oracle import selects
from tests.domains.earthquakes.strategies import boxes, circles, magnitude_ranges, polygons, selections, values
from tests.domains.watches.cuts import Cut, cut_off
from tests.domains.watches.stations import USER, Station, a_station, watches_in
from tests.effort import rounds
from tests.geography.test_areas import boxes as exact_boxes
from tests.geography.test_areas import latitudes, longitudes
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
    selection = interest.selection.lasting if version.kind in GONE else interest.selection
    return later and any(selects(selection, event) for event in known)


def wanting(watches: Mapping[str, Interest], version: EventRevision, number: int) -> list[str]:
    return sorted(watch_id for watch_id, interest in watches.items() if wants(interest, version, number))


@settings(max_examples=rounds(300), deadline=None)
@given(st.lists(st.tuples(steps, st.lists(versions, min_size=1, max_size=3), st.integers(0, 4)), max_size=3))
async def test_the_index_finds_the_watches_that_a_loop_over_all_finds(
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
            assert await index.wanting(version, number) == wanting(watches, version, number)


async def test_a_deletion_reaches_a_watch_of_the_event_before_an_untracked_value_changed() -> None:
    index, event = WatchIndex(), an_event("us1", felt=5)
    index.put("felt", Interest(Selection(min_felt=10), ALL, since=0))
    assert await index.wanting(version_of(event, RevisionKind.REVISED, event), 1) == []
    assert await index.wanting(version_of(event, RevisionKind.DELETED, event), 1) == ["felt"]


async def test_a_discarded_watch_is_tested_no_more_and_its_equals_stay() -> None:
    index = WatchIndex()
    for watch_id in ("one", "other"):
        index.put(watch_id, Interest(Selection(circle=Circle(35.6, -117.6, 50)), ALL, since=0))
    item = ReadItem(an_event(lat=35.6, lon=-117.6).item)

    index.discard("one")
    assert await index.wanting(EventRevision(item), 1) == ["other"]
    index.discard("other")
    index.discard("other")
    assert await index.wanting(EventRevision(item), 1) == []
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
        found = await index.wanting(version_of(an_event(mag=9)), 1)

    assert found == list(watches)
    assert turns.number >= 20


async def test_watches_come_and_go_while_others_are_found() -> None:
    index = WatchIndex()
    for number in range(4 * PIECE):
        index.put(f"watch{number:03}", strong(number))

    finding = asyncio.create_task(index.wanting(version_of(an_event(mag=9)), 1))
    await asyncio.sleep(0)
    for number in range(0, 4 * PIECE, 2):
        index.discard(f"watch{number:03}")
        index.put(f"new{number:03}", strong(number))
    found = await finding

    assert {f"watch{number:03}" for number in range(1, 4 * PIECE, 2)} <= set(found)
    assert len(found) == len(set(found))


async def test_only_what_waits_where_an_event_is_and_below_its_magnitude_is_tested() -> None:
    """The tests are counted by what they read of the item."""
    index = WatchIndex()
    somewhere = [(lat, lon) for lat in range(-80, 81, 8) for lon in range(-176, 177, 8)]
    for number, (lat, lon) in enumerate(somewhere):
        index.put(f"near{number}", Interest(Selection(circle=Circle(lat, lon, 200)), ALL, since=0))
        index.put(f"of{number}", Interest(Selection(event_ids=(f"us{number}",)), ALL, since=0))
        index.put(f"strong{number}", Interest(Selection(magnitudes=MagnitudeRange(5 + number / 1e6)), ALL, since=0))

    alias = an_event("ci1", ids=["ci1", "us17"])
    assert await index.wanting(EventRevision(alias.item), 1) == ["of17"]
    item = ReadItem(an_event("us17", mag=4.9, lat=0.5, lon=0.5).item)

    assert await index.wanting(EventRevision(item), 1) == [f"near{somewhere.index((0, 0))}", "of17"]
    assert item.reads["eventTsMs"] == 2  # of each test once


class ReadItem(dict[str, Any]):
    """An item that counts how often its attributes are read."""

    def __init__(self, item: Mapping[str, Any]) -> None:
        super().__init__(item)
        self.reads = dict.fromkeys(item, 0)

    def __getitem__(self, name: str) -> Any:
        self.reads[name] += 1
        return super().__getitem__(name)


radii = st.floats(0, 20_100) | st.floats(0, 400)
any_areas: st.SearchStrategy[Area] = exact_boxes() | polygons() | st.builds(Circle, latitudes, longitudes, radii)


def in_area(area: Area) -> Selection:
    match area:
        case Box():
            return Selection(box=area)
        case Circle():
            return Selection(circle=area)
        case Polygon():
            return Selection(polygon=area)
    raise TypeError(area)


centres = st.builds(Circle, latitudes, longitudes, radii).map(
    lambda circle: (in_area(circle), an_event("us000", lat=circle.lat, lon=circle.lon))
)
pairs = centres | st.tuples(
    any_areas.map(in_area) | selections, st.builds(lambda row: an_event("us000", **row), st.fixed_dictionaries(values))
)


@settings(max_examples=rounds(500), deadline=None)
@given(pairs)
def test_what_a_selection_admits_comes_by_at_one_of_the_few_places_where_it_waits(
    pair: tuple[Selection, Event],
) -> None:
    selection, event = pair
    waits = places_of(selection)
    comes_by = [place for place in places_of_event(event.item) if place in waits]

    assert len(waits) <= max(MOST_CELLS, len(selection.event_ids or ()))
    assert len(comes_by) <= 1 or selection.any_of
    assert comes_by or not selection.admits(event.item)


def test_an_area_waits_in_the_finest_cells_of_which_few_are_enough() -> None:
    kinds = {
        radius_km: {kind for kind, *_ in places_of(Selection(circle=Circle(35.6, -117.6, radius_km)))}
        for radius_km in (0, 300, 1000, 3000, 10_000, 20_100)
    }

    assert kinds == {
        0: {"cell"},
        300: {"cell"},
        1000: {"coarse cell"},
        3000: {"coarse cell"},
        10_000: {"earth"},
        20_100: {"earth"},
    }


def test_the_smallest_of_several_areas_decides() -> None:
    near, wide = Circle(35.6, -117.6, 10), Box(-90, 90, -180, 180)

    assert set(places_of(Selection(circle=near, box=wide))) == set(places_of(Selection(circle=near)))


def test_a_selection_of_ids_waits_for_these_events_wherever_they_are() -> None:
    assert set(places_of(Selection(event_ids=("us1", "us2", "us1"), box=Box(0, 1, 0, 1)))) == {
        ("id", "us1"),
        ("id", "us2"),
    }
    assert not places_of(Selection(event_ids=()))
    assert set(places_of(Selection(place="japan"))) == {("earth",)}


WEEK_S = CHANGES_KEPT_S


def known_of(station: Station, database: Database | None = None) -> KnownWatches:
    """Watches of a process that has read none yet."""
    watches = watches_in(database or station.database, station.endpoints, station.clock)
    return KnownWatches(watches, selection_of_json)


def is_whole(known: KnownWatches, *watch_ids: str) -> bool:
    """Whether these are the known watches."""
    return set(known.by_id) == set(watch_ids) and len(known.index) == len(watch_ids)


async def test_watches_are_read_again_if_their_changes_have_expired(station: Station) -> None:
    known = known_of(station)
    kept, deleted = await station.watch(), await station.watch()
    await known.update()
    there = [kept, await station.watch()]
    await station.watches.delete(USER, deleted.watch_id)
    for later in range(2):  # all have expired, or some
        station.clock.now += 1000 * (WEEK_S + 1)
        there += [await station.watch() for _ in range(later)]
        await known.update()
        assert is_whole(known, *[watch.watch_id for watch in there])


async def test_watches_are_read_again_if_a_change_between_others_is_missing(station: Station) -> None:
    known = known_of(station)
    await known.update()
    watches = []
    for later_s in (0, -3600, 0):  # the clock of the process that makes the second one is slow
        station.clock.now += 1000 * later_s
        watches.append(await station.watch())
        station.clock.now -= 1000 * later_s
    station.clock.now += 1000 * (WEEK_S - 1800)
    await known.update()

    assert is_whole(known, *[watch.watch_id for watch in watches])


@pytest.mark.parametrize("expired", [False, True], ids=["changes", "all watches"])
async def test_a_failure_of_the_store_at_any_reading_loses_no_watch(
    monkeypatch: pytest.MonkeyPatch, expired: bool
) -> None:
    monkeypatch.setattr(storing, "READ_AT_ONCE", 2)
    monkeypatch.setattr(knowing, "CHANGES_AT_ONCE", 2)
    failing, broke_off = 0, True
    while broke_off:
        failing += 1
        async with a_station("sqlite") as station:
            there = [await station.watch() for _ in range(3)]
            database = Cut(station.database, "refused")
            known = known_of(station, database)
            await known.update()
            await station.watches.delete(USER, there.pop().watch_id)
            there += [await station.watch() for _ in range(3)]
            station.clock.now += 1000 * (WEEK_S + 1) * expired
            database.left = failing
            await cut_off(known.update())
            broke_off, database.left = database.left <= 0, 0
            await known.update()

            assert is_whole(known, *[watch.watch_id for watch in there])
    assert failing > 4


turns_of_a_watch = st.lists(st.sampled_from(["make", "delete", "learn", "wait"]), max_size=12)


@settings(max_examples=rounds(40))
@given(turns_of_a_watch)
async def test_watches_that_are_learned_at_any_times_are_those_of_the_store(some: list[str]) -> None:
    async with a_station("sqlite") as station:
        known, there = known_of(station), list[str]()
        for step in some:
            match step:
                case "make":
                    there.append((await station.watch()).watch_id)
                case "delete" if there:
                    await station.watches.delete(USER, there.pop(0))
                case "learn":
                    await known.update()
                case "wait":
                    station.clock.now += 1000 * (WEEK_S // 2 + 1)
        await known.update()
        assert is_whole(known, *there)


async def test_the_loop_goes_on_while_many_watches_are_read() -> None:
    async with a_station("sqlite") as station:
        for _ in range(40):
            await station.watch({"minMagnitude": 5})
        async with turns_counted() as turns:
            await known_of(station).update()
        assert turns.number >= 40
