"""What each filter means at its edges, and how many events match: exact, and cheap where summaries can tell.

Both engines are tested, since each translates a filter its own way.
"""

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import DAY_MS, LAST_MS
from graph.core.paging import Paging
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.geography.areas import Box, Circle
from graph.store.query import Partition
from tests.domains.earthquakes.builders import NOON, an_event, at, catalogue_of, events_at, stored
from tests.domains.earthquakes.oracle import selects
from tests.domains.earthquakes.strategies import A_FEW, catalogues, selections, summarised_selections
from tests.domains.earthquakes.watched_database import WatchedDatabase

PLACES: Mapping[str, tuple[float, float]] = {
    "north pole": (90.0, 0.0),
    "near the pole": (89.5, 135.0),
    "across the pole": (89.5, -45.0),
    "south pole": (-90.0, 77.0),
    "Fiji": (-17.8, 178.1),
    "Tonga": (-21.2, -175.2),
    "Niue": (-19.0, -169.9),
    "dateline east": (-20.0, 180.0),
    "dateline west": (-20.0, -180.0),
    "Null Island": (0.0, 0.0),
    "Ridgecrest": (35.62, -117.67),
}
ARCTIC = {"north pole", "near the pole", "across the pole"}
DATELINE = {"dateline east", "dateline west"}


async def agree(engine: str, events: Mapping[str, Mapping[str, Any]], expected: Mapping[Selection, set[str]]) -> None:
    """Each selection holds just the named ones of the events, of which only what makes them special is given."""
    async with stored(engine, [an_event(name, NOON, **special) for name, special in events.items()]) as database:
        catalogue = catalogue_of(database)
        found = {}
        for selection in expected:
            page = await catalogue.page(selection, Paging(100))
            assert await page.read_total() == len(page.records), selection
            found[selection] = {event.event_id for event in page.records}
        assert found == expected


async def test_a_box_and_a_circle_hold_their_edges_the_poles_and_the_dateline(engine: str) -> None:
    boxes = {
        Box(-90, 90, -180, 180): set(PLACES),
        Box(-25, -15, 178.1, -169.9): {"Fiji", "Tonga", "Niue"} | DATELINE,
        Box(-25, -15, 178.2, -170): {"Tonga"} | DATELINE,
        Box(0, 0, 0, 0): {"Null Island"},
        Box(35.621, 36, -118, -117): set(),
    }
    circles = {
        Circle(90, -120, 55): {"north pole"},
        Circle(89.5, 135, 112): ARCTIC,
        Circle(89.5, 135, 111): {"north pole", "near the pole"},
        Circle(-90, 0, 1): {"south pole"},
        Circle(-20, 179.9, 11): DATELINE,
        Circle(-20, 179.9, 10): set(),
        Circle(-20, 179.9, 1075): {"Fiji", "Tonga", "Niue"} | DATELINE,  # Niue is 1,074.7 km away
        Circle(-20, 179.9, 1074): {"Fiji", "Tonga"} | DATELINE,
        Circle(35.62, -117.67, 0): {"Ridgecrest"},
    }
    both = Selection(box=Box(-25, -15, 178, -170), circle=Circle(-20, 179.9, 500))
    expected = {
        both: {"Fiji"} | DATELINE,
        **{Selection(box=box): places for box, places in boxes.items()},
        **{Selection(circle=circle): places for circle, places in circles.items()},
    }
    await agree(engine, {name: {"lat": lat, "lon": lon} for name, (lat, lon) in PLACES.items()}, expected)


async def test_a_magnitude_on_a_bound_is_selected(engine: str) -> None:
    magnitudes = (-2.0, -1.12, -0.1, 0.3, 4.49, 4.5, 4.55, 4.6, 7.7, 10.0)
    bounds = [
        *((None, None), (4.5, 4.5), (4.5, 4.6), (4.5, None), (4.6, None), (4.7, None), (None, 4.5), (None, 4.4)),
        *((4.5, 4.55), (4.55, 4.55), (-1.2, -1.1), (-1.1, -0.1), (-2.0, -2.0), (None, -2.0), (None, -2.1), (0.3, 0.3)),
        *((0.31, 4.48), (10.0, 10.0), (10.0, 11.0), (10.1, None), (-99, 99), (None, 0.3)),
    ]
    expected = {
        Selection(magnitudes=MagnitudeRange(least, greatest)): {
            str(mag) for mag in magnitudes if (least is None or mag >= least) and (greatest is None or mag <= greatest)
        }
        for least, greatest in bounds
    }
    assert sum(map(len, expected.values())) == 58
    await agree(engine, {str(mag): {"mag": mag} for mag in magnitudes}, expected)


LARGEST: list[Selection] = [
    Selection(any_of=(Selection(tsunami=True), *[Selection(tsunami=False)] * 39)),
    Selection(any_of=tuple(Selection(event_ids=(*map(str, range(100)),)) for _ in range(4))),
    Selection(none_of=Selection(any_of=tuple(Selection(box=Box(1, 2, 179, -179)) for _ in range(13)))),
]


async def test_an_engine_takes_the_largest_filter(engine: str) -> None:
    """DynamoDB takes expressions of 4 KB."""
    assert [selection.size for selection in LARGEST] == [40, 40, 39]
    await agree(engine, {"10": {"tsunami": None}}, dict(zip(LARGEST, [{"10"}] * 3, strict=True)))


# Totals


@A_FEW
@given(
    events=catalogues,
    many=st.lists(selections | summarised_selections, min_size=1, max_size=20),
    fewest_days=st.sampled_from([0, 3]),
)
async def test_a_total_by_any_filter_is_exact(
    engine: str, events: list[Event], many: list[Selection], fewest_days: int
) -> None:
    async with stored(engine, events) as database:
        catalogue = catalogue_of(database, fewest_days_for_facets=fewest_days)
        for selection in many:
            expected = sum(selects(selection, event) for event in events)
            assert await catalogue.total(selection) == expected, selection


async def test_only_the_days_that_a_bound_cuts_are_read_for_a_total() -> None:
    midnight, next_day = at("2023-08-03T00:00:00"), at("2023-08-04T00:00:00")
    today = ("20230803",)
    expected: dict[tuple[int | None, int | None], tuple[int, set[Partition]]] = {
        (None, None): (6, set()),
        (midnight, None): (5, set()),
        (midnight + 1, None): (4, {today}),
        (None, next_day - 1): (4, set()),
        (None, next_day - 2): (3, {today}),
        (midnight, next_day - 1): (3, set()),
        (midnight + 1, next_day - 2): (1, {today}),
        (midnight + 1, next_day): (3, {today, ("20230804",)}),
        (midnight - 1, midnight): (2, {("20230802",), today}),
        (midnight - 3 * DAY_MS + 1, midnight - 2 * DAY_MS): (0, set()),  # cut, but without events
        (NOON, NOON): (1, {today}),
    }
    times = [midnight - 1, midnight, NOON, next_day - 1, next_day, midnight + 400 * DAY_MS]
    async with stored("sqlite", events_at(*times)) as database:
        watched = WatchedDatabase(database)
        catalogue = catalogue_of(watched)
        found = {}
        for start, end in expected:
            watched.calls.clear()
            total = await catalogue.total(Selection(start_ms=start, end_ms=end))
            found[start, end] = total, watched.read(EVENT, TIME_ORDERED)
        assert found == expected


async def test_a_filter_that_summaries_bound_is_counted_over_as_many_days_as_allowed(engine: str) -> None:
    events = events_at(*range(NOON, NOON + 5 * DAY_MS, DAY_MS), mag=5.0)
    events += [an_event("small", NOON + 9 * DAY_MS, 1.0)]
    near = Circle(35.5, -117.5, 30)  # it covers no cell
    async with stored(engine, events) as database:
        watched = WatchedDatabase(database)
        catalogue = catalogue_of(watched, most_days_counted=5)
        strong = MagnitudeRange(2.0)
        for selection in (
            Selection(magnitudes=strong, types=("earthquake",)),
            Selection(magnitudes=strong, min_depth=8.0),
            Selection(magnitudes=strong, circle=near),
            Selection(magnitudes=MagnitudeRange(2.05)),
        ):
            assert await catalogue.total(selection) == 5
        watched.calls.clear()

        assert await catalogue.total(Selection(min_depth=8.0)) is None
        assert await catalogue.total(Selection(circle=near)) is None
        assert await catalogue.total(Selection(place="here")) is None
        assert watched.read(EVENT, TIME_ORDERED) == set()
        assert await catalogue.total(Selection()) == 6
        assert await catalogue.total(Selection(circle=Circle(0, 0, 20_100))) == 6  # the whole earth


async def test_only_days_that_may_match_a_combined_filter_are_read() -> None:
    kinds: list[dict[str, Any]] = [{"mag": 4.0}, {"mag": 7.0}, {"mag": 3.0, "type": "quarry blast"}, {"mag": 4.5}]
    events = [an_event(f"us{n}", NOON + n * DAY_MS, **kind) for n, kind in enumerate(kinds)]
    blasts, strong = Selection(types=("quarry blast",)), Selection(magnitudes=MagnitudeRange(6.0))
    early = Selection(end_ms=NOON + DAY_MS)
    expected = {
        Selection(any_of=(blasts, strong)): {"20230804", "20230805"},
        Selection(none_of=Selection(any_of=(blasts, strong))): {"20230803", "20230806"},
        Selection(any_of=(early, blasts), none_of=strong): {"20230803", "20230805"},
        Selection(none_of=Selection(none_of=strong)): {"20230804"},
        Selection(none_of=early): {"20230804", "20230805", "20230806"},  # that of the bound is read, too
        Selection(none_of=Selection(place="nowhere"), any_of=(strong, Selection(start_ms=LAST_MS))): {"20230804"},
    }
    async with stored("sqlite", events) as database:
        watched = WatchedDatabase(database)
        for selection, days in expected.items():
            watched.calls.clear()
            page = await catalogue_of(watched).page(selection, Paging(10))
            assert {event.day_bucket for event in page.records} <= days
            assert watched.read(EVENT, TIME_ORDERED) == {(day,) for day in days}, selection
            watched.calls.clear()
            assert await catalogue_of(watched).total(selection) == len(page.records)
