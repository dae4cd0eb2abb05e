"""Facets count what is stored, and wherever they do not, filters are right all the same."""

import asyncio
from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import DAY_MS
from graph.core.paging import Paging
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.entities import DAY_FACETS, DAY_SUMMARY, EVENT, YEAR_FACETS, YEAR_SUMMARY
from graph.domains.earthquakes.facets import facet_names, name_of_year
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.summaries import rebuild_summaries
from graph.store.contract import Database, Delete, Put
from graph.store.entity import Item, Key
from tests.domains.earthquakes.builders import NOON, an_event, catalogue_of, ids, ingest, stored
from tests.domains.earthquakes.oracle import selects
from tests.domains.earthquakes.revisions.histories import Record, Source, histories, listed
from tests.domains.earthquakes.strategies import A_FEW, catalogues, selections
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES, documented
from tests.store.engines import empty_database

FACETS = (DAY_FACETS, YEAR_FACETS)
UNCHANGED = {**dict.fromkeys(("type", "status", "ids")), "event_ts_ms": NOON, "mag": 4.5, "lat": 1.0}
"""With these values, records change an event only in place."""
Counts = dict[Key, dict[str, int]]


async def facets_in(database: Database) -> dict[Key, Item]:
    """Every item of facets, by its key."""
    return {entity.key_of(item): item for entity in FACETS async for item in database.scan(entity)}


async def counted(database: Database) -> Counts:
    """What every day's and every year's facets say, without zeros."""
    counts = {
        key: {name: number for name, number in item.items() if ":" in name and number}
        for key, item in (await facets_in(database)).items()
    }
    return {key: numbers for key, numbers in counts.items() if numbers}


def recounted(events: Sequence[Event]) -> Counts:
    """What the facets of these events must say."""
    counts: dict[Key, Counter[str]] = {}
    for event in events:
        names, year = facet_names(event.item), event.day_bucket[:4]
        counts.setdefault(DAY_FACETS.key_for(year, event.day_bucket), Counter()).update(names)
        counts.setdefault(YEAR_FACETS.key_for(year), Counter()).update(map(name_of_year, names))
    return {key: dict(counter) for key, counter in counts.items()}


async def test_facets_are_stored_under_their_documented_names(engine: str) -> None:
    details: Record = {"net": "ci", "mag_type": "Mb_Lg", "status": "reviewed", "tsunami": 0, "felt": 3, "gap": 95.5}
    events = [
        an_event("us1", lat=-90.0, lon=180.0, depth=None, type="QUARRY_BLAST", alert="red", sig=1250, **details),
        an_event("us2", lat=89.5, lon=-179.0, depth=5.0, type=None),
    ]
    names = (
        *("type:quarry blast", "net:ci", "magType:mb lg", "status:reviewed", "alert:red", "tsunami:0", "felt:2"),
        *("sig:41", "gap:9", "depth:", "type:", "net:", "magType:", "status:", "alert:", "tsunami:", "felt:", "sig:"),
        *("gap:", "depth:1"),
    )
    of_both = {"entity": "FACETS", "revision": 1, **dict.fromkeys(names, 1)}
    async with stored(engine, events) as database:
        day = await database.get(DAY_FACETS.key_for("2023", "20230803"))
        year = await database.get(YEAR_FACETS.key_for("2023"))
        of_day = {"pk": "FACETS#2023", "sk": "DAY#20230803", "c:0": 1, "c:32220": 1}
        of_year = {"pk": "FACETS#YEARS", "sk": "YEAR#2023", "area:0": 1, "area:612": 1}
        assert documented(DAY_FACETS, day or {}) == {**of_both, **of_day}
        assert documented(YEAR_FACETS, year or {}) == {**of_both, **of_year}


@A_FEW
@given(history=histories, tracked=st.sampled_from([{}, UNCHANGED]))
async def test_facets_count_what_is_listed_after_any_history(
    engine: str, history: list[list[Record]], tracked: Record
) -> None:
    async with empty_database(engine, ENTITIES) as database:
        source = Source(database)
        for records in history:
            await source.say(*({**record, **tracked} for record in records))
            assert await counted(database) == recounted(await listed(database))


# Facets that do not count all events


async def forget_all(database: Database) -> None:
    """Delete all facets."""
    for key in await facets_in(database):
        assert await database.delete(Delete(key))


async def ingest_without_facets(database: Database, events: Sequence[Event]) -> None:
    """Ingest, and leave the stored facets as they are."""
    before = await facets_in(database)
    await ingest(database, events)
    for key in await facets_in(database):
        await database.put(Put(key.entity, before[key])) if key in before else await database.delete(Delete(key))


async def agree(catalogue: Catalogue, events: Sequence[Event], many: Sequence[Selection]) -> None:
    """Each selection has the events that are meant, and counts them."""
    for selection in many:
        expected = {event.event_id for event in events if selects(selection, event)}
        page = await catalogue.page(selection, Paging(100))
        assert set(ids(page.records)) == expected, selection
        assert await catalogue.total(selection) == len(expected), selection


some_selections = st.lists(selections, min_size=1, max_size=8)


@A_FEW
@given(events=catalogues, many=some_selections)
async def test_filters_are_right_without_facets_and_with_facets_that_lag(
    engine: str, events: list[Event], many: list[Selection]
) -> None:
    new, old, new_again = events[::3], events[1::3], events[2::3]
    async with stored(engine, new) as database:
        catalogue = catalogue_of(database)
        await agree(catalogue, new, many)
        await ingest_without_facets(database, old)
        await agree(catalogue, [*new, *old], many)
        await ingest(database, new_again)
        await agree(catalogue, events, many)

        await forget_all(database)
        await agree(catalogue_of(database), events, many)
        await rebuild_summaries(database)
        await agree(catalogue, events, many)
        assert await counted(database) == recounted(events)


async def days_read(database: Database, selection: Selection) -> tuple[list[str], int]:
    """The ids of a page of the selected events, and the number of days that were read for it."""
    watched = WatchedDatabase(database)
    page = await catalogue_of(watched).page(selection, Paging(9))
    return ids(page.records), len(watched.read(EVENT, TIME_ORDERED))


TEN_DAYS = [an_event(f"us{day}", NOON + day * DAY_MS, net="ci" if day == 3 else "us") for day in range(10)]


async def test_a_filter_reads_the_days_that_facets_name_and_others_only_where_these_do_not_count_all() -> None:
    found = Selection(networks=("CI",))
    async with stored("sqlite", TEN_DAYS) as database:
        assert await days_read(database, found) == (["us3"], 1)
        assert await catalogue_of(database, most_days_counted=1).total(found) == 1

        await ingest_without_facets(database, [an_event("late", NOON + 5 * DAY_MS, net="nc")])
        assert await days_read(database, found) == (["us3"], 2)

        await forget_all(database)
        assert await days_read(database, found) == (["us3"], 10)
        assert await catalogue_of(database, most_days_counted=10).total(found) == 1
        assert await catalogue_of(database, most_days_counted=9).total(found) is None

        await rebuild_summaries(database)
        assert await days_read(database, found) == (["us3"], 1)


async def test_facets_are_not_read_for_a_few_days_of_a_year() -> None:
    async with stored("sqlite", TEN_DAYS) as database:
        for days, partitions in ((11, set()), (12, {("2023",)})):
            watched = WatchedDatabase(database)
            catalogue = catalogue_of(watched, fewest_days_for_facets=12)
            selection = Selection(start_ms=NOON, end_ms=NOON + (days - 1) * DAY_MS, networks=("ci",))
            page = await catalogue.page(selection, Paging(9))
            assert (ids(page.records), await page.read_total()) == (["us3"], 1)
            assert await catalogue.total(selection) == 1
            assert watched.read(DAY_FACETS) == partitions


async def test_queries_at_the_same_time_share_one_reading_of_a_year() -> None:
    async with stored("sqlite", TEN_DAYS) as database:
        watched = WatchedDatabase(database)
        catalogue = catalogue_of(watched)
        networks = [("ci",), ("us",), ("ci", "us"), ("nc",)]
        some = [Selection(start_ms=NOON + 1, networks=each) for each in networks]
        totals = await asyncio.gather(*map(catalogue.total, some))

    assert totals == [1, 8, 9, 0]
    read = [call.entity for call in watched.calls]
    assert (read.count(DAY_SUMMARY), read.count(DAY_FACETS)) == (1, 1)


async def test_a_day_that_another_program_summarised_without_a_revision_is_read() -> None:
    """It has no facets, so these tell nothing of it."""
    event = an_event("us1", net="ci")
    async with empty_database("sqlite", ENTITIES) as database:
        await database.put(Put(EVENT, event.item))
        for entity, period in ((DAY_SUMMARY, {"day": event.day_bucket}), (YEAR_SUMMARY, {})):
            await database.put(Put(entity, {"year": "2023", **period, "events": 1, "bin45": 1, "edge45": 1}))

        await agree(catalogue_of(database), [event], [Selection(networks=("ci",)), Selection(networks=("us",))])
