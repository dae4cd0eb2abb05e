"""Rebuilding the summaries of a database that something else wrote to. What is corrected depends on no engine."""

from collections.abc import AsyncIterator, Collection, Sequence
from typing import Any

import pytest

from graph.core.days import DAY_MS
from graph.core.errors import DatabaseUnavailable
from graph.core.paging import Paging
from graph.domains.earthquakes.entities import DAY_SUMMARY, EVENT
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.summaries.recount import ROUNDS, RebuildReport, rebuild_summaries
from graph.domains.earthquakes.summaries.summary import day_key, year_key
from graph.store.contract import Action, Database, Delete, Put, Update
from graph.store.entity import Entity, Item, Key
from tests.domains.earthquakes.builders import (
    NOON,
    an_event,
    as_given,
    at,
    catalogue_of,
    events_at,
    ids,
    ingest,
    stored,
)
from tests.domains.earthquakes.ingest.ingests import counted_in, recount
from tests.domains.earthquakes.revisions.histories import Source, a_record
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.store.engines import empty_database

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
    assert await page.total() == len(page.records)
    return ids(page.records)


async def test_a_table_that_another_writer_filled_can_be_read_once_it_is_rebuilt(engine: str) -> None:
    async with empty_database(engine, ENTITIES) as database:
        await database.put_many([Put(EVENT, event.item) for event in EVENTS])
        assert await found(database) == []

        assert await rebuild_summaries(database) == RebuildReport(events=4, days=3, corrected=5)

        await assert_counted(database, EVENTS)
        assert await found(database) == ids(EVENTS)

        assert await database.delete(Delete(EVENT.key_for("us1")))
        assert await rebuild_summaries(database) == RebuildReport(events=3, days=2, corrected=2)
        assert await found(database) == ["us2", "us3", "us4"]
        assert not await catalogue_of(database).total(Selection(end_ms=0))


CHANGES: dict[str, dict[str, Any]] = {
    "another bin": {"mag": 4.6},
    "the same bin": {"mag": 4.55},
    "no version": {"felt": 9},
    "a deletion": {"status": "deleted"},
}


@pytest.mark.parametrize("change", CHANGES)
async def test_an_ingest_that_changes_an_event_of_another_writer_counts_its_day(change: str) -> None:
    async with empty_database("sqlite", ENTITIES) as database:
        source, foreign = Source(database), an_event("us1", NOON)
        await source.say(a_record("us2", event_ts_ms=NOON + DAY_MS))
        await database.put_many([Put(EVENT, event.item) for event in (foreign, an_event("us3", NOON))])

        await source.say(as_given(foreign) | {"updated": 2} | CHANGES[change])

        assert await found(database) == [*(["us1"] if change != "a deletion" else []), "us3", "us2"]
        assert (await rebuild_summaries(database)).corrected == 0


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
