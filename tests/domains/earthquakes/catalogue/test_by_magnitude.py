"""Pages of the catalogue in the order of magnitude: their views, what they read, and their cursors."""

from hypothesis import given
from hypothesis import strategies as st
from strawberry.utils.await_maybe import await_maybe

from graph.core.days import DAY_MS
from graph.core.paging import Paging
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import DAY_FACETS, DAY_SUMMARY, EVENT
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.views import AsOf, Deleted, View
from graph.domains.earthquakes.selection import Selection
from tests.domains.earthquakes.builders import NOON, an_event, at, catalogue_of, events_at, filled, ids, stored
from tests.domains.earthquakes.catalogue.test_catalogue import pages, same
from tests.domains.earthquakes.oracle import by_magnitude
from tests.domains.earthquakes.revisions.histories import Record, Source, a_record, histories, listed
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.watched_database import LaggingDatabase, WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.store.engines import empty_database

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
                expected = by_magnitude(await listed(database, view, selection), ascending=ascending)
                turned = await pages(
                    catalogue_of(database), "magnitude", selection, size, ascending=ascending, view=view
                )
                assert [event for page in turned for event in same(page.records)] == expected


def forty_years() -> list[Event]:
    """A weak event every forty days, and every 600 days a stronger one: 10 of M 7 and more in all."""
    weak = events_at(*YEARS, mag=2.0)
    return weak + [an_event(f"us{n:02}", YEARS[15 * n] + 1, round(6.1 + n % 20 / 10, 1)) for n in range(20)]


async def test_the_largest_of_forty_years_and_pages_deep_in_them_are_read_from_a_handful_of_days(
    engine: str,
) -> None:
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


async def test_a_page_is_full_even_if_the_index_lags_behind_the_summaries(engine: str) -> None:
    events = [an_event(f"e{number:03}", NOON + number * DAY_MS, 5 + number % 5 / 10) for number in range(40)]
    order = by_magnitude(events, ascending=False)
    async with stored(engine, events) as database:
        lagging = LaggingDatabase(database, {EVENT.key_for(event.event_id) for event in order[:20]})
        page = await catalogue_of(lagging).page_by_magnitude(Selection(), Paging(4))

        assert (same(page.records), page.has_more) == (order[20:24], True)
