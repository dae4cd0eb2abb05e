"""Summaries count what is stored, whoever stores it, and what is remembered of them is never out of date."""

import asyncio
from collections import Counter
from typing import Any

from hypothesis import given

from graph.core.paging import Paging
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.summaries import YEARS, Summaries, day_key, year_key
from graph.store.conditions import Compare
from graph.store.contract import Item, KeyValue, Page, Table
from graph.store.design import Index
from tests.domains.earthquakes.builders import (
    NOON,
    an_event,
    at,
    catalogue_of,
    events_at,
    ids,
    ingest,
    stored,
)
from tests.domains.earthquakes.strategies import A_FEW, catalogues
from tests.domains.earthquakes.watched_table import WatchedTable

Counts = dict[tuple[str, str], dict[str, int]]


async def counted(table: Table) -> Counts:
    """What every summary says, by its key."""
    items = [item async for item in table.scan(where=Compare("entity", "=", "SUMMARY"))]
    return {(item["pk"], item["sk"]): numbers_of(item) for item in items}


def numbers_of(summary: Item) -> dict[str, int]:
    return {name: value for name, value in summary.items() if name not in ("pk", "sk", "entity", "revision")}


def recounted(events: list[Event]) -> Counts:
    """What the summaries of the events must say."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for event in events:
        hundredths = round(event.mag * 100)
        day = f"{event.time:%Y%m%d}".rjust(8, "0")
        for key in ((f"SUMMARY#{day[:4]}", f"DAY#{day}"), ("SUMMARY#YEARS", f"YEAR#{day[:4]}")):
            counter = counts.setdefault(key, Counter())
            counter["events"] += 1
            counter[f"bin{hundredths // 10}"] += 1
            counter[f"edge{hundredths // 10}"] += hundredths % 10 == 0
    return {key: {name: number for name, number in counter.items() if number} for key, counter in counts.items()}


@A_FEW
@given(events=catalogues)
async def test_summaries_count_exactly_the_stored_events(engine: str, events: list[Event]) -> None:
    async with stored(engine, events) as table:
        assert await counted(table) == recounted(events)


async def test_a_summary_is_stored_under_its_documented_names(engine: str) -> None:
    events = [an_event("us1", NOON, 4.55), an_event("us2", NOON, 4.5), an_event("us3", NOON, -2.0)]
    async with stored(engine, events) as table:
        numbers = {"events": 3, "bin45": 2, "edge45": 1, "bin-20": 1, "edge-20": 1, "revision": 1}
        day = {"pk": "SUMMARY#2023", "sk": "DAY#20230803", "entity": "SUMMARY", **numbers}
        year = {"pk": "SUMMARY#YEARS", "sk": "YEAR#2023", "entity": "SUMMARY", **numbers}
        assert await table.get(day_key("20230803")) == day
        assert await table.get(year_key("2023")) == year


async def test_ingests_at_once_count_each_event_once(engine: str) -> None:
    """Six ingests take overlapping parts of the same events, which all lie on two days."""
    times = [at("2020-02-29T23:59:59.000") + 25 * number for number in range(80)]
    events = events_at(*times, mag=4.6)
    async with stored(engine, []) as table:
        parts = [events[start : start + 40] for start in (0, 10, 20, 30, 40)] + [events[::2]]
        upserted = await asyncio.gather(*(ingest(table, part) for part in parts))

        assert sum(upserted) == len(events)
        assert await counted(table) == recounted(events)
        assert await catalogue_of(table).total(Selection()) == len(events)


async def test_a_year_says_what_its_days_together_say(engine: str) -> None:
    times = [at("2020-01-01T00:00:00"), at("2020-02-29T12:00:00"), at("2020-12-31T23:59:59.999"), at("2021-01-01")]
    events = [an_event(f"us{time_ms}{mag}", time_ms, mag) for time_ms in times for mag in (-2.0, 4.55, 4.6)]
    async with stored(engine, events) as table:
        summaries = Summaries(table)
        years = await summaries.years()
        assert list(years) == ["2020", "2021"]
        for year, summary in years.items():
            total: Counter[str] = Counter()
            for day in (await summaries.days(year, summary)).days.values():
                total.update(numbers_of(day.item))
            assert total == numbers_of(summary.item)


async def test_what_is_remembered_of_a_year_ends_with_an_ingest_by_someone_else(engine: str) -> None:
    async with stored(engine, [an_event("us1", NOON, 7.0)]) as table:
        catalogue = catalogue_of(table)
        strong = Selection(magnitudes=MagnitudeRange(6.5))
        assert ids((await catalogue.page(strong, Paging(9))).records) == ["us1"]

        # On another day of the same year, on the same day, and in another year.
        elsewhere = [at("2023-01-01"), NOON + 1, at("1906-04-18T13:12:00")]
        assert await ingest(table, [an_event(f"us{time_ms}", time_ms, 7.9) for time_ms in elsewhere]) == 3

        found = await catalogue.page(strong, Paging(9))
        assert [event.event_ts_ms for event in found.records] == [NOON + 1, NOON, *elsewhere[::2]]
        assert await found.total() == 4


async def test_a_year_that_did_not_change_is_read_once(engine: str) -> None:
    async with stored(engine, [an_event("us1", NOON), an_event("us2", at("2020-02-29"))]) as table:
        watched = WatchedTable(table)
        catalogue = catalogue_of(watched)
        for _ in range(3):
            await catalogue.page(Selection(), Paging(9))
        assert [call.partitions[0] for call in watched.calls if call.index == "primary"] == [
            YEARS, "SUMMARY#2023", "SUMMARY#2020", YEARS, YEARS,
        ]  # fmt: skip

        await ingest(table, [an_event("us3", NOON + 1)])
        watched.calls.clear()
        await catalogue.page(Selection(), Paging(9))
        assert [call.partitions[0] for call in watched.calls if call.index == "primary"] == [YEARS, "SUMMARY#2023"]


class HalfCommitted(WatchedTable):
    """Between two readings it shows a transaction half: the year as it is, its days as they were.

    DynamoDB may, since a query is not serialised with the transactions that write what it reads.
    """

    def __init__(self, table: Table, days_before: list[Item]) -> None:
        super().__init__(table)
        self.days_before: list[Item] | None = days_before

    async def query(self, index: Index, partition: KeyValue, **how: Any) -> Page:
        page = await super().query(index, partition, **how)
        if index == self.design.primary and partition == "SUMMARY#2023" and self.days_before is not None:
            page = Page(self.days_before, None)
        return page


async def test_days_that_do_not_add_up_to_their_year_are_not_remembered(engine: str) -> None:
    async with stored(engine, [an_event("us1", NOON)]) as table:
        days_before = (await table.query(table.design.primary, "SUMMARY#2023")).items
        assert await ingest(table, [an_event("us2", at("2023-08-05T00:00:00"))]) == 1
        half_committed = HalfCommitted(table, days_before)
        catalogue = catalogue_of(half_committed)
        await catalogue.page(Selection(), Paging(9))

        half_committed.days_before = None
        assert ids((await catalogue.page(Selection(), Paging(9))).records) == ["us2", "us1"]
