"""What a page costs: summaries and the days that hold its events, whatever else the catalogue holds.

Also in the order of magnitude: its views, what they read, and its cursors.
"""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strawberry.utils.await_maybe import await_maybe

from graph.core.days import DAY_MS
from graph.core.paging import Paging
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import DAY_FACETS, DAY_SUMMARY, EVENT, YEAR_SUMMARY
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.views import AsOf, Deleted, View
from graph.domains.earthquakes.selection import Selection
from graph.geography.areas import Circle
from graph.store.query import Partition
from tests.domains.data_files.in_store import walked
from tests.domains.earthquakes.builders import NOON, an_event, at, catalogue_of, events_at, filled, ids, stored
from tests.domains.earthquakes.catalogue.test_catalogue import pages, same
from tests.domains.earthquakes.oracle import by_magnitude
from tests.domains.earthquakes.revisions.histories import Record, Source, a_record, histories, listed
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.watched_database import LaggingDatabase, WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.store.engines import empty_database

TEN_YEARS = range(at("2013-08-03T01:00:00"), at("2023-08-03T01:00:00"), DAY_MS)  # 3,652 days
STRONG_DAYS = (5, 6, 500, 501, 502, 900, 1900, 1901, 2500, 3650)  # in six of the years
STRONG = Selection(TEN_YEARS[0], TEN_YEARS[-1] + DAY_MS, MagnitudeRange(6.5))


def ten_years() -> list[Event]:
    """An event on every third day, and on a few days another one with a strong one an hour later."""
    days = sorted({*range(0, len(TEN_YEARS), 3), *STRONG_DAYS})
    weak = events_at(*(TEN_YEARS[day] for day in days), mag=2.1)
    return weak + [an_event(f"strong{day}", TEN_YEARS[day] + 3_600_000, 6.5) for day in STRONG_DAYS]


def partitions(days: tuple[int, ...]) -> set[Partition]:
    return {(an_event(event_ts_ms=TEN_YEARS[day]).day_bucket,) for day in days}


async def test_ten_years_are_read_by_the_days_of_their_strong_events_and_page_1000_costs_what_page_10_costs(
    engine: str,
) -> None:
    events = ten_years()
    async with filled(engine, events) as database:
        watched = WatchedDatabase(database)
        catalogue = catalogue_of(watched)

        page = await catalogue.page(STRONG, Paging(50))
        assert ids(page.records) == [f"strong{day}" for day in reversed(STRONG_DAYS)]
        assert page.partitions == len(STRONG_DAYS)
        assert watched.read(EVENT, TIME_ORDERED) == partitions(STRONG_DAYS)
        years = {(str(year),) for year in (2013, 2014, 2016, 2018, 2020, 2023)}
        assert (watched.read(YEAR_SUMMARY), watched.read(DAY_SUMMARY)) == ({()}, years)

        watched.calls.clear()
        page = await catalogue.page(STRONG, Paging(2, after=page.records[3].item))
        assert ids(page.records) == ["strong900", "strong502"]
        assert watched.read(EVENT, TIME_ORDERED) <= partitions((1900, 900, 502, 501, 500, 6, 5))
        assert watched.read(YEAR_SUMMARY) == {()}
        assert watched.read(DAY_SUMMARY) == set(), "the years' days are known by now"

        events.sort(key=lambda event: event.event_ts_ms, reverse=True)
        shapes = []
        for page_number in (10, 1000):
            watched = WatchedDatabase(database)
            after = events[page_number - 2].item
            page = await catalogue_of(watched).page(Selection(), Paging(1, after=after))
            assert page.records == [events[page_number - 1]]
            shapes.append(watched.shape())
        assert shapes[0] == shapes[1]
        events_read = [days for _, _, days in shapes[0][2:]]  # behind the years, and the days of one year
        if database.is_remote:
            assert events_read == [2, 4], "the cursor's day and the next, then twice as many"
        else:
            assert events_read == [3], "the cursor's day, and as many as promise a page"


async def test_the_page_on_the_side_of_the_cursor_and_the_total_are_read_only_on_request(engine: str) -> None:
    events = events_at(*TEN_YEARS[:9])
    async with stored(engine, events) as database:
        for backward in (False, True):
            watched = WatchedDatabase(database)
            middle = events[4].item
            paging = Paging(2, True, before=middle) if backward else Paging(2, after=middle)
            page = await catalogue_of(watched).page(Selection(start_ms=TEN_YEARS[0] + 1), paging)
            before = watched.shape()

            assert await await_maybe(page.has_previous if backward else page.has_next) is True
            assert watched.shape() == before
            assert await await_maybe(page.has_next if backward else page.has_previous) is True
            assert len(watched.shape()) > len(before)
            assert "count" not in {call.method for call in watched.calls}
            assert await page.read_total() == 8
            assert watched.shape()[-1] == ("count", "TimeOrderedIndex", 1)


async def test_a_busy_day_is_read_alone_and_in_few_pieces_where_few_of_its_events_lie_in_a_circle() -> None:
    far, near = {"lat": 0.5, "lon": 0.5}, {"lat": 0.0, "lon": 0.0}  # the circle's box holds both
    times = range(TEN_YEARS[3], TEN_YEARS[3] + 450)
    events = [*events_at(*times[:-1], *TEN_YEARS[:3], **far), an_event("near", times[-1], **near)]
    async with stored("sqlite", events) as database:
        watched = WatchedDatabase(database)
        page = await catalogue_of(watched).page(Selection(), Paging(5))
        assert (len(page.records), page.partitions) == (5, 1)
        assert watched.read(EVENT, TIME_ORDERED) == partitions((3,))

        watched.calls.clear()
        circle = Selection(TEN_YEARS[3], circle=Circle(0, 0, 60))
        page = await catalogue_of(watched).page(circle, Paging(1), ascending=True)
        assert (ids(page.records), page.partitions) == (["near"], 1)
        readings = [call for call in watched.calls if call.index == TIME_ORDERED.name]
        assert len(readings) == 3, "450 events, at least 200 at a time"


@pytest.mark.parametrize("backward", [False, True])
async def test_a_page_is_full_even_if_the_index_lags_behind_the_summaries(engine: str, backward: bool) -> None:
    events = events_at(*[time_ms + tie for time_ms in TEN_YEARS[:30] for tie in (0, 0, 1)])
    hidden = [event for number, event in enumerate(events) if number % 4 or 20 <= number < 60]
    visible = [event for event in events if event not in hidden]
    async with stored(engine, events) as database:
        lagging = LaggingDatabase(database, {EVENT.key_for(event.event_id) for event in hidden})
        catalogue = catalogue_of(lagging)
        read = partial(catalogue.page, Selection(), ascending=True)
        assert await walked(read, lambda event: event.item, 4, backward=backward) == visible

        lagging.hidden = {EVENT.key_for(event.event_id) for event in events}
        page = await catalogue.page(Selection(), Paging(4, backward))
        assert (page.records, page.has_more) == ([], False)

        lagging.hidden = set()
        page = await catalogue.page(Selection(), Paging(100, backward))
        assert sorted(ids(page.records)) == sorted(ids(events))


YEARS = range(at("1983-08-03T01:00:00"), at("2023-08-03T01:00:00"), 40 * DAY_MS)  # 366 days of forty years


@A_FEW
@given(history=histories, size=st.integers(1, 4), ascending=st.booleans(), deleted=st.sampled_from(Deleted))
async def test_any_view_has_the_same_events_by_magnitude_as_by_time(
    engine: str, history: list[list[Record]], size: int, ascending: bool, deleted: Deleted
) -> None:
    async with empty_database(engine, ENTITIES) as database:
        source = Source(database)
        await source.say(a_record("us9"))  # the history of a store begins with its first event
        for records in history:
            await source.say(*records)
        middle = source.clock.now - 1000 * (len(history) // 2)
        earliest = source.clock.now - 1000 * (len(history) - 1)
        views = [View(None, deleted), View(AsOf(first=True), deleted), View(AsOf(recorded_ms=middle), deleted)]
        for view in views:
            for selection in (Selection(), Selection(updated_since_ms=earliest + 500)):
                expected = same(by_magnitude(await listed(database, view, selection), ascending=ascending))
                turned = await pages(
                    catalogue_of(database), "magnitude", selection, size, ascending=ascending, view=view
                )
                assert [event for page in turned for event in same(page.records)] == expected


def forty_years() -> list[Event]:
    """A weak event every forty days, and every 600 days a stronger one: 10 of M 7 and more in all."""
    weak = events_at(*YEARS, mag=2.0)
    return weak + [an_event(f"us{n:02}", YEARS[15 * n] + 1, round(6.1 + n % 20 / 10, 1)) for n in range(20)]


async def test_the_largest_of_forty_years_and_pages_deep_in_them_are_read_from_a_handful_of_days(engine: str) -> None:
    events = forty_years()
    async with filled(engine, events) as database:
        watched = WatchedDatabase(database)
        catalogue = catalogue_of(watched)
        page = await catalogue.page_by_magnitude(Selection(), Paging(10), attributes=frozenset({"place"}))

        largest = by_magnitude(events, ascending=False)
        assert ids(page.records) == ids(largest[:10])
        days = {(event.day_bucket,) for event in largest[:11]}  # one more shows that more follow
        assert watched.read(EVENT, TIME_ORDERED) == days
        assert page.partitions == len(days)
        assert {call.attributes for call in watched.calls if call.index == TIME_ORDERED.name} == {
            frozenset({"place", "mag"})
        }
        assert watched.read(DAY_SUMMARY) == {(event.day_bucket[:4],) for event in largest[:11]}

        watched.calls.clear()
        page = await catalogue.page_by_magnitude(Selection(), Paging(5, after=largest[9].item))
        assert ids(page.records) == ids(largest[10:15])
        assert watched.read(EVENT, TIME_ORDERED) <= {(event.day_bucket,) for event in largest[9:16]}

        page = await catalogue.page_by_magnitude(Selection(types=("earthquake",)), Paging(10))
        assert (len(page.records), watched.read(DAY_FACETS)) == (10, set()), "without the facets of days"

        for ascending, first in ((False, 100), (True, 300)):  # deep among events of one magnitude
            order = by_magnitude(events, ascending=ascending)
            watched = WatchedDatabase(database)
            page = await catalogue_of(watched).page_by_magnitude(
                Selection(), Paging(5, after=order[first - 1].item), ascending=ascending
            )
            assert ids(page.records) == ids(order[first : first + 5])
            assert (page.has_more, await await_maybe(page.has_previous)) == (True, True)
            assert len(watched.read(EVENT, TIME_ORDERED)) < 30


async def test_a_page_by_magnitude_is_full_even_if_the_index_lags_behind_the_summaries(engine: str) -> None:
    events = [an_event(f"e{number:03}", NOON + number * DAY_MS, 5 + number % 5 / 10) for number in range(40)]
    order = by_magnitude(events, ascending=False)
    async with stored(engine, events) as database:
        lagging = LaggingDatabase(database, {EVENT.key_for(event.event_id) for event in order[:20]})
        page = await catalogue_of(lagging).page_by_magnitude(Selection(), Paging(4))

        assert (same(page.records), page.has_more) == (order[20:24], True)
