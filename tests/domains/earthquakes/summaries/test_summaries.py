"""Summaries count what is stored, whoever stores it, and what is remembered of them is never out of date.

They are rebuilt in a database that something else wrote to. What is corrected depends on no engine.
"""

from collections.abc import AsyncIterator, Collection, Sequence

import pytest

from graph.core.days import DAY_MS
from graph.core.errors import DatabaseUnavailable
from graph.core.paging import Paging
from graph.domains.earthquakes.entities import DAY_SUMMARY, EVENT, YEAR_SUMMARY
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.summaries.recount import ROUNDS, RebuildReport, rebuild_summaries
from graph.domains.earthquakes.summaries.summary import Summary, day_key, year_key
from graph.store.contract import Action, Database, Delete, Put, Update
from graph.store.entity import Entity, Item, Key
from graph.store.query import ItemPage, Partition, Query
from tests.domains.earthquakes.builders import (
    INGESTED_AT,
    NOON,
    adopt_all,
    an_event,
    at,
    catalogue_of,
    events_at,
    ids,
    ingest,
    stored,
)
from tests.domains.earthquakes.ingest.ingests import counted_in, recount
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES, documented
from tests.store.engines import empty_database


async def test_a_summary_is_stored_under_its_documented_names(engine: str) -> None:
    events = [an_event("us1", NOON, 4.55), an_event("us2", NOON, 4.5), an_event("us3", NOON, -2.0)]
    async with stored(engine, events) as database:
        numbers = {"events": 3, "bin45": 2, "edge45": 1, "bin-20": 1, "edge-20": 1, "revision": 1, "type:earthquake": 3}
        numbers["changedAt"] = INGESTED_AT
        day = {"pk": "SUMMARY#2023", "sk": "DAY#20230803", "entity": "SUMMARY", **numbers}
        year = {"pk": "SUMMARY#YEARS", "sk": "YEAR#2023", "entity": "SUMMARY", **numbers}
        assert documented(DAY_SUMMARY, await database.get(day_key("20230803")) or {}) == day
        assert documented(YEAR_SUMMARY, await database.get(year_key("2023")) or {}) == year


def test_a_bin_that_an_earlier_version_left_below_zero_counts_nothing() -> None:
    summary = Summary({"events": 3, "bin44": 2, "bin45": -1, "edge45": -1, "bin46": 1})
    assert summary.bins(MagnitudeRange(4.4, 4.6)) == {44: 2, 45: 0, 46: 0}
    assert summary.bins(MagnitudeRange(4.4, 4.5)) == {44: 2, 45: 0}
    assert summary.counts("bin").below(47) == 3


async def test_a_year_that_did_not_change_is_read_once_and_an_ingest_by_another_process_is_seen() -> None:
    async with stored("sqlite", [an_event("us1", NOON, 7.0), an_event("us2", at("2020-02-29"))]) as database:
        watched = WatchedDatabase(database)
        catalogue = catalogue_of(watched)
        for _ in range(3):
            await catalogue.page(Selection(), Paging(9))
        assert summaries_read(watched) == [(), ("2023",), ("2020",), (), ()]

        # On another day of the same year, on the same day, and in another year
        elsewhere = [at("2023-01-01"), NOON + 1, at("1906-04-18T13:12:00")]
        assert await ingest(database, [an_event(f"us{time_ms}", time_ms, 7.9) for time_ms in elsewhere]) == 3
        watched.calls.clear()
        found = await catalogue.page(Selection(magnitudes=MagnitudeRange(6.5)), Paging(9))
        assert [event.event_ts_ms for event in found.records] == [NOON + 1, NOON, *elsewhere[::2]]
        assert await found.read_total() == 4
        assert summaries_read(watched)[:3] == [(), ("2023",), ("1906",)]


def summaries_read(watched: WatchedDatabase) -> list[Partition]:
    """Of which partition each reading of summaries was: () for all years, a year for its days."""
    return [call.partitions[0] for call in watched.calls if call.entity in (DAY_SUMMARY, YEAR_SUMMARY)]


class HalfCommitted(WatchedDatabase):
    """Between two readings it shows a transaction half: the year as it is, its days as they were.

    DynamoDB may, since a query is not serialised with the transactions that write what it reads.
    """

    def __init__(self, database: Database, days_before: Sequence[Item]) -> None:
        super().__init__(database)
        self.days_before: Sequence[Item] | None = days_before

    async def query(self, query: Query) -> ItemPage:
        page = await super().query(query)
        if query.entity is DAY_SUMMARY and self.days_before is not None:
            page = ItemPage(self.days_before, None)
        return page


async def test_days_that_do_not_add_up_to_their_year_are_not_remembered() -> None:
    async with stored("sqlite", [an_event("us1", NOON)]) as database:
        days_before = (await database.query(Query(entity=DAY_SUMMARY, partitions=[("2023",)]))).items
        assert await ingest(database, [an_event("us2", at("2023-08-05T00:00:00"))]) == 1
        half_committed = HalfCommitted(database, days_before)
        catalogue = catalogue_of(half_committed)
        await catalogue.page(Selection(), Paging(9))

        half_committed.days_before = None
        assert ids((await catalogue.page(Selection(), Paging(9))).records) == ["us2", "us1"]


EVENTS = [
    an_event("us1", at("1969-12-31T23:59:59.999"), 7.0),
    an_event("us2", NOON, 4.55),
    an_event("us3", NOON + 1, 4.6),
    an_event("us4", NOON + DAY_MS, -2.0),
]
NEW_YEAR = at("2023-01-01T00:00:00")
STRONG = Selection(magnitudes=MagnitudeRange(6.5))


async def found(database: Database, selection: Selection = Selection()) -> list[str]:  # noqa: B008 — it is immutable
    catalogue = catalogue_of(database)
    page = await catalogue.page(selection, Paging(100), ascending=True)
    assert await page.read_total() == len(page.records)
    return ids(page.records)


async def test_a_table_that_another_writer_filled_can_be_read_once_it_is_rebuilt(engine: str) -> None:
    async with empty_database(engine, ENTITIES) as database:
        await database.put_many([Put(EVENT, event.item) for event in EVENTS])
        assert await found(database) == []

        assert await adopt_all(database) == 4
        assert await rebuild_summaries(database) == RebuildReport(events=4, days=3, corrected=0)

        await assert_counted(database, EVENTS)
        assert await found(database) == ids(EVENTS)

        assert await database.delete(Delete(EVENT.key_for("us1")))
        assert await rebuild_summaries(database) == RebuildReport(events=3, days=2, corrected=2)
        assert await found(database) == ["us2", "us3", "us4"]
        assert not await catalogue_of(database).total(Selection(end_ms=0))


async def assert_counted(database: Database, events: Sequence[Event]) -> None:
    """The summaries say what these events, which are all, must have them say."""
    assert await counted_in(database) == recount(event.item for event in events)


def changed(key: Key, **numbers: int) -> Update:
    return Update(key, set=numbers, add={"revision": 1})


DAY, YEAR = day_key("20230803"), year_key("2023")
DAMAGES: dict[str, Sequence[Update | Delete | Put]] = {
    "a day counts too much": [changed(DAY, events=9, bin46=8)],
    "a day counts too little": [changed(DAY, events=1, bin46=0)],
    "an edge is wrong": [changed(DAY, edge45=1), changed(YEAR, edge45=7)],
    "a day is missing": [Delete(DAY)],
    "a year is missing": [Delete(YEAR)],
    "a year and a day of it are missing": [Delete(YEAR), Delete(DAY)],
    "all of a year is missing": [Delete(year_key("1969")), Delete(day_key("19691231"))],
    "a day without events is counted": [
        changed(day_key("20230101"), events=1, bin50=1),
        changed(YEAR, events=4, bin50=1),
    ],
    "a year without events is counted": [
        changed(day_key("20010101"), events=1, bin50=1),
        changed(year_key("2001"), events=1, bin50=1),
    ],
    "a day without events is counted and its year is missing": [changed(day_key("20010101"), events=1, bin50=1)],
    "another writer's summary has no revision": [Put(DAY_SUMMARY, {"year": "2023", "day": "20230803", "events": 1})],
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_whatever_is_wrong_is_corrected_once(damage: str) -> None:
    async with stored("sqlite", EVENTS) as database:
        for action in DAMAGES[damage]:
            match action:
                case Delete():
                    assert await database.delete(action)
                case Update():
                    assert await database.update(action)
                case Put():
                    assert await database.put(action)
        catalogue = catalogue_of(database)  # which remembers what is wrong
        await catalogue.page(Selection(), Paging(9))

        report = await rebuild_summaries(database)

        assert (report.events, report.days) == (4, 3)
        assert report.corrected >= 1
        await assert_counted(database, EVENTS)
        assert await found(database) == ids(EVENTS)
        assert await found(database, Selection(start_ms=NOON, end_ms=NOON + DAY_MS)) == ["us2", "us3", "us4"]
        assert ids((await catalogue.page(Selection(), Paging(9))).records) == ["us4", "us3", "us2", "us1"]
        assert await rebuild_summaries(database) == RebuildReport(events=4, days=3, corrected=0)

        late = [an_event("us5", NOON + 2, 4.6)]  # is counted on from the rebuilt ones
        assert await ingest(database, late) == 1
        await assert_counted(database, [*EVENTS, *late])


class ReadBetween(WatchedDatabase):
    """A page is read after each correction, and the catalogue remembers what it read."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.catalogue = catalogue_of(database)

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        refused = await super().transact(actions)
        await self.catalogue.page(STRONG, Paging(99))
        return refused


async def test_a_catalogue_that_is_read_between_two_corrections_remembers_neither_as_the_last() -> None:
    """The sums of events are right all along, so the days and their year seem to belong together."""
    years = [str(year) for year in range(2018, 2024)]  # several, of which hardly each is corrected after all its days
    events = [an_event(f"us{year}{day}", at(f"{year}-03-0{day}"), 6.5) for year in years for day in (1, 2, 3)]
    async with stored("sqlite", events) as database:
        for event in events:
            assert await database.update(changed(day_key(event.day_bucket), bin65=0, bin20=1))
        for year in years:
            assert await database.update(changed(year_key(year), bin20=3))
        reading = ReadBetween(database)
        assert ids((await reading.catalogue.page(STRONG, Paging(99))).records) == []

        await rebuild_summaries(reading)

        assert ids((await reading.catalogue.page(STRONG, Paging(99))).records) == ids(events[::-1])


class Interrupted(WatchedDatabase):
    """While it is scanned for events, others are ingested, as often as there are some to ingest."""

    def __init__(self, database: Database, ingests: list[list[Event]]) -> None:
        super().__init__(database)
        self.ingests = ingests

    async def scan(self, entity: Entity, *, attributes: Collection[str] | None = None) -> AsyncIterator[Item]:
        items = [item async for item in self._database.scan(entity, attributes=attributes)]
        if self.ingests and entity is EVENT and items:
            await ingest(self._database, self.ingests.pop(0))
        for item in items:
            yield item


async def test_events_ingested_during_a_rebuild_are_counted_once(engine: str) -> None:
    meanwhile = [[an_event("us5", NOON + 2, 4.6)], [an_event("us6", NOON + 3, 4.6), an_event("us7", NEW_YEAR, 5.0)]]
    every = [*EVENTS, *meanwhile[0], *meanwhile[1]]
    async with stored(engine, EVENTS) as database:
        assert await database.update(changed(day_key("20230803"), events=9, bin46=8))

        report = await rebuild_summaries(Interrupted(database, list(meanwhile)))

        assert (report.events, report.days) == (7, 4)
        await assert_counted(database, every)
        assert (await rebuild_summaries(database)).corrected == 0
        assert sorted(await found(database)) == sorted(ids(every))


async def test_a_rebuild_that_an_ingest_keeps_interrupting_ends_with_an_error() -> None:
    restless = [[event] for event in events_at(*range(NOON + 100, NOON + 100 + 2 * ROUNDS))]
    async with stored("sqlite", EVENTS) as database:
        assert await database.update(changed(day_key("20230803"), events=9))
        with pytest.raises(DatabaseUnavailable) as caught:
            await rebuild_summaries(Interrupted(database, restless))

        assert "run this again when fewer ingest" in caught.value.detail
        assert len(restless) == ROUNDS
        assert (await rebuild_summaries(database)).corrected == 1
