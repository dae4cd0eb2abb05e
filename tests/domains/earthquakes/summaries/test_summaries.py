"""Summaries count what is stored, whoever stores it, and what is remembered of them is never out of date."""

from collections.abc import Sequence

from graph.core.paging import Paging
from graph.domains.earthquakes.entities import DAY_SUMMARY, YEAR_SUMMARY
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.summaries.summary import Summary, day_key, year_key
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import ItemPage, Partition, Query
from tests.domains.earthquakes.builders import INGESTED_AT, NOON, an_event, at, catalogue_of, ids, ingest, stored
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import documented


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
        assert await found.total() == 4
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
