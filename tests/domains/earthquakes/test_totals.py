"""How many events match: exact, cheap where summaries can tell, and None where it would cost too much."""

from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import DAY_MS
from graph.core.paging import Paging
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.areas import Circle
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.store.query import Partition
from tests.domains.earthquakes.builders import NOON, an_event, at, catalogue_of, events_at, stored
from tests.domains.earthquakes.oracle import selects
from tests.domains.earthquakes.strategies import A_FEW, catalogues, selections, summarised_selections
from tests.domains.earthquakes.watched_database import WatchedDatabase


@A_FEW
@given(events=catalogues, selection=summarised_selections)
async def test_a_total_by_time_and_magnitude_is_exact(engine: str, events: list[Event], selection: Selection) -> None:
    async with stored(engine, events) as database:
        assert await catalogue_of(database).total(selection) == sum(selects(selection, event) for event in events)


@A_FEW
@given(events=catalogues, many=st.lists(selections, min_size=1, max_size=20), fewest_days=st.sampled_from([0, 3]))
async def test_a_total_by_any_filter_is_exact(
    engine: str, events: list[Event], many: list[Selection], fewest_days: int
) -> None:
    async with stored(engine, events) as database:
        catalogue = catalogue_of(database, fewest_days_for_facets=fewest_days)
        for selection in many:
            expected = sum(selects(selection, event) for event in events)
            assert await catalogue.total(selection) == expected, selection


async def test_magnitude_bounds_are_inclusive_in_counts(engine: str) -> None:
    magnitudes = [-2.0, -1.12, 0.3, 4.49, 4.5, 4.5, 4.55, 4.6, 7.7, 10.0]
    expected = {
        MagnitudeRange(None, None): 10,
        MagnitudeRange(4.5, 4.5): 2,
        MagnitudeRange(4.5, 4.6): 4,
        MagnitudeRange(4.5, None): 6,
        MagnitudeRange(4.6, None): 3,
        MagnitudeRange(4.7, None): 2,
        MagnitudeRange(None, 4.5): 6,
        MagnitudeRange(None, 4.4): 3,
        MagnitudeRange(4.5, 4.55): 3,  # not on tenths: from the events
        MagnitudeRange(4.55, 4.55): 1,
        MagnitudeRange(-1.2, -1.1): 1,
        MagnitudeRange(-1.1, -0.1): 0,
        MagnitudeRange(-2.0, -2.0): 1,
        MagnitudeRange(None, -2.0): 1,
        MagnitudeRange(None, -2.1): 0,
        MagnitudeRange(0.3, 0.3): 1,
        MagnitudeRange(10.0, 10.0): 1,
        MagnitudeRange(10.0, None): 1,
        MagnitudeRange(10.1, None): 0,
        MagnitudeRange(-99, 99): 10,
    }
    events = [an_event(f"us{number}", NOON + number, mag) for number, mag in enumerate(magnitudes)]
    async with stored(engine, events) as database:
        catalogue = catalogue_of(database)
        found = {bounds: await catalogue.total(Selection(magnitudes=bounds)) for bounds in expected}
        assert found == expected


async def test_only_the_days_that_a_bound_cuts_are_read_for_a_total(engine: str) -> None:
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
    async with stored(engine, events_at(*times)) as database:
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


async def test_the_total_of_a_page_counts_all_pages(engine: str) -> None:
    async with stored(engine, events_at(*range(NOON, NOON + 5))) as database:
        page = await catalogue_of(database).page(Selection(start_ms=NOON + 1), Paging(2))

        assert len(page.records) == 2
        assert await page.total() == 4
