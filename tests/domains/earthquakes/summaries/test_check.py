"""The check of the summaries: it finds every day that another program changed, is never mistaken, and stays cheap."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from graph.core.days import DAY_MS, bucket_of, datetime_of, day_bucket, day_span, days_between
from graph.core.paging import Paging
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes import DOMAIN
from graph.domains.earthquakes.entities import DAY_SUMMARY, EVENT, YEAR_SUMMARY
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.revisions.views import Deleted, View
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.summaries.check import FIRST_CHECK_S, MOST_DIFFERENCES, check_forever
from graph.domains.earthquakes.summaries.recount import rebuild_summaries
from graph.domains.earthquakes.summaries.state import CONFIRMATIONS, SUMMARY_CHECK, check_lease
from graph.store.contract import Database, Delete, Put, Update
from graph.store.entity import Item, Key
from graph.store.location import StoreLocation
from graph.store.query import ItemPage, Query
from graph.work.tasks import BackgroundTasks
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
from tests.domains.earthquakes.ingest.ingests import unlogged_ingest
from tests.domains.earthquakes.summaries.checks import EVERY_S, Checks
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.held_time import NOW, HeldTime
from tests.observability.scraping import scraped
from tests.processes import TIMEOUT_S, quakegraph
from tests.service import running, settings
from tests.store.engines import new_store

EVENTS = [an_event("us1", NOON), an_event("us2", NOON + 1), an_event("us3", NOON - 40 * DAY_MS)]
DAY = "20230803"  # of the first two


@pytest.fixture
async def database() -> AsyncIterator[Database]:
    """On SQLite, where a check of two years takes milliseconds. One test below is for each engine."""
    async with stored("sqlite", EVENTS) as database:
        yield database


async def by_another_writer(database: Database, *times_ms: int) -> None:
    """Events that the documented access pattern inserts, and nothing else."""
    await database.put_many([Put(EVENT, event.item) for event in events_at(*times_ms)])


PLACES = {
    "a day with events": NOON + 2,
    "a day of the same year without events": at("2023-02-01"),
    "today": NOW,
    "tomorrow": NOW + DAY_MS,
    "three weeks ago": NOW - 21 * DAY_MS,
    "a year long ago": at("1950-06-01"),
    "next year": at("2024-01-05"),
}


@pytest.mark.parametrize("place", PLACES)
async def test_an_event_of_another_writer_is_found_wherever_it_is(
    database: Database, time: HeldTime, place: str
) -> None:
    if place == "next year":
        time.now = at("2023-12-20")
    await by_another_writer(database, PLACES[place])
    checks = Checks(database, time)
    await checks.begin_with(datetime_of(PLACES[place]).year)

    await checks.once()

    day = day_bucket(PLACES[place])
    found = await catalogue_of(database).page(Selection(start_ms=day_span(day)[0], end_ms=day_span(day)[1]), Paging(9))
    assert "e000" in ids(found.records)
    assert (await checks.status()).state == "ok"
    assert (await rebuild_summaries(database)).corrected == 0


async def test_a_day_is_counted_anew_once_several_checks_have_found_an_event_less(
    database: Database, time: HeldTime, caplog: pytest.LogCaptureFixture
) -> None:
    checks = Checks(database, time)
    await database.delete(Delete(EVENT.key_of(EVENTS[0].item)))
    began = time.now
    with caplog.at_level(logging.INFO):
        for number in range(1, CONFIRMATIONS):
            await checks.once()
            assert (await checks.state()).differences == {DAY: number}
        await checks.once()
        assert (await checks.state()).differences == {}
    assert time.now - began < 200_000
    assert len(checks.pauses) == CONFIRMATIONS, "each check looks twice"
    assert await catalogue_of(database).total(Selection()) == 2
    assert (await rebuild_summaries(database)).corrected == 0
    told = [(record.levelname, record.getMessage()) for record in caplog.records if "ummaries" in record.getMessage()]
    assert told == [("WARNING", "Summaries were corrected: another program changed or removed events")]


CHANGED: dict[str, Put | Update] = {
    "another magnitude": Put(EVENT, an_event("us1", NOON, 5.5).item),
    "another magnitude in place": Update(EVENT.key_for("us1"), set={"mag": 5.5}),
    "another bin's edge": Put(EVENT, an_event("us1", NOON, 4.57).item),
    "another day": Put(EVENT, an_event("us1", NOON - 3 * DAY_MS).item),
    "another place": Put(EVENT, an_event("us1", NOON, lat=-80.0).item),
}


@pytest.mark.parametrize("how", CHANGED)
async def test_an_event_that_another_program_changes_is_counted_as_it_is_now(
    database: Database, time: HeldTime, how: str
) -> None:
    assert not await database.transact([CHANGED[how]])

    await Checks(database, time).several(2 * CONFIRMATIONS)

    strong = Selection(magnitudes=MagnitudeRange(5.5))
    assert await catalogue_of(database).total(Selection()) == 3
    assert await catalogue_of(database).total(strong) == ("another magnitude" in how)
    assert (await rebuild_summaries(database)).corrected == 0


async def test_a_day_that_is_counted_anew_keeps_what_was_deleted_and_revised(
    database: Database, time: HeldTime
) -> None:
    later = {"updated": NOW}
    await unlogged_ingest(database, lambda: NOW).events(
        [{**as_given(EVENTS[0]), "status": "deleted", **later}, {**as_given(EVENTS[1]), "mag": 5.5, **later}]
    )
    assert (await rebuild_summaries(database)).corrected == 0
    await by_another_writer(database, NOON + 2)

    await Checks(database, time).several(2 * CONFIRMATIONS)

    assert await catalogue_of(database).total(Selection(), View(deleted=Deleted.INCLUDE)) == 4
    assert (await rebuild_summaries(database)).corrected == 0


async def test_a_check_that_a_rebuild_has_overtaken_restores_no_difference(database: Database, time: HeldTime) -> None:
    await by_another_writer(database, NOON + 2)
    await Checks(database, time).several(CONFIRMATIONS)
    overtaken = Checks(database, time, during_pause=partial(rebuild_summaries, database))
    await by_another_writer(database, NOON + 3)

    await overtaken.once()

    assert (await overtaken.state()).differences == {}


# What is no difference


class Between(WatchedDatabase):
    """A database in which something happens before each reading of a day with events, and each get."""

    def __init__(self, database: Database, happens: Callable[[], Any]) -> None:
        super().__init__(database)
        self._happens = happens

    async def query(self, query: Query) -> ItemPage:
        if query.entity is EVENT and query.partitions[0][0] in (DAY, day_bucket(NOW)):
            await self._happens()
        return await super().query(query)

    async def get(self, key: Key, *, attributes: Collection[str] | None = None) -> Item | None:
        await self._happens()
        return await super().get(key, attributes=attributes)


async def test_an_ingest_between_the_two_reads_is_no_difference(database: Database, time: HeldTime) -> None:
    """Each day is read while events are stored on it."""
    number = 0

    async def store() -> None:
        nonlocal number
        number += 1
        await ingest(database, [an_event(f"n{number}", NOON + number), an_event(f"t{number}", NOW + number)])

    checks = Checks(Between(database, store), time)
    await checks.several(3)

    assert number >= 6
    assert (await checks.state()).differences == {}


class Lagging(WatchedDatabase):
    """A database whose index does not show the last events of each day at first."""

    lags = True

    async def query(self, query: Query) -> ItemPage:
        page = await super().query(query)
        shown = page.items[: -1 if self.lags and query.entity is EVENT else None]
        return ItemPage(shown, page.last_key)


async def test_an_index_that_lags_for_a_while_is_no_difference(database: Database, time: HeldTime) -> None:
    lagging = Lagging(database)

    async def catch_up() -> None:
        lagging.lags = False

    checks = Checks(lagging, time, during_pause=catch_up)
    await checks.once()
    assert (len(checks.pauses), (await checks.state()).differences) == (1, {}), "it catches up within a check"

    lagging.lags = True
    checks = Checks(lagging, time)
    await checks.several(CONFIRMATIONS - 1)
    assert (await checks.state()).differences == {DAY: 2, "20230624": 2}
    assert not (await checks.status()).wrong_days

    lagging.lags = False
    await checks.several(CONFIRMATIONS)
    assert (await checks.state()).differences == {}


# The price


def days_read(database: WatchedDatabase) -> list[str]:
    """The days of the index that were read, each on its own."""
    calls = [call for call in database.calls if (call.method, call.index) == ("query", TIME_ORDERED.name)]
    return [str(call.partitions[0][0]) for call in calls]


async def test_a_check_without_differences_counts_two_years_at_most_and_reads_each_day_once(
    database: Database, time: HeldTime
) -> None:
    watched = WatchedDatabase(database)
    checks = Checks(watched, time)
    await checks.once()

    days = days_read(watched)
    assert len(days) == len(set(days)) <= 366 + 6
    assert [len(call.partitions) for call in watched.calls if call.method == "count"] == [365]
    assert [call.entity for call in watched.calls if call.method == "query" and call.entity is not EVENT] == [
        YEAR_SUMMARY,
        DAY_SUMMARY,
    ]
    assert checks.pauses == []


async def test_the_checks_walk_over_every_day_from_1900_to_now_and_of_the_catalogue(time: HeldTime) -> None:
    async with stored("sqlite", [an_event("old", at("1850-01-01")), an_event("new", at("1853-12-31"))]) as database:
        watched = WatchedDatabase(database)
        checks = Checks(watched, time)
        await checks.several(4)
        assert set(map(bucket_of, days_between(date(1850, 1, 1), date(1853, 12, 31)))) <= set(days_read(watched))

        for begin, end in ((1900, 1902), (2020, 2023)):
            await checks.begin_with(begin)
            await checks.several(end - begin + 1)
            seen = {str(partition[0]) for partition in watched.read(EVENT, TIME_ORDERED)}
            assert set(map(bucket_of, days_between(date(begin, 1, 1), date(end, 12, 31)))) <= seen


async def test_a_check_stops_when_it_has_read_many_events_and_the_next_one_goes_on_there(
    database: Database, time: HeldTime
) -> None:
    """The recent days already have more events than a check may read, so each walks on by one day, and later."""
    watched = WatchedDatabase(database)
    checks = Checks(watched, time, most_events=1)
    began = time.now
    for number in range(1, 4):
        watched.calls.clear()
        await checks.once()
        assert days_read(watched)[6:] == [f"2023010{number}"]
        assert (await checks.state()).differences == {}
    next_attempt = (await check_lease(database, time).state()).next_attempt
    assert next_attempt is not None
    assert next_attempt - began == 3 * EVERY_S * 1000 * 2


async def test_a_few_differences_are_known_and_corrected_at_a_time(database: Database, time: HeldTime) -> None:
    checks = Checks(database, time)
    events = events_at(*(at("2023-01-01") + number * DAY_MS for number in range(2 * MOST_DIFFERENCES)))
    await ingest(database, events)
    for event in events:
        await database.delete(Delete(EVENT.key_of(event.item)))
    for _ in range(CONFIRMATIONS - 1):
        await checks.once()
        assert len((await checks.state()).differences) == MOST_DIFFERENCES
    await checks.several(2 * CONFIRMATIONS)

    assert (await checks.state()).differences == {}
    assert (await rebuild_summaries(database)).corrected == 0


# In a process


async def test_a_process_has_more_urgent_work_at_its_start(database: Database, time: HeldTime) -> None:
    watched = WatchedDatabase(database)
    async with BackgroundTasks() as tasks:
        adopt = unlogged_ingest(watched, time).intake.adopt
        tasks.start("checking", partial(check_forever, watched, adopt, EVERY_S, time, time.sleep))
        await time.all_asleep()
        assert watched.calls == []
        time.move(FIRST_CHECK_S)
        await time.all_asleep()

    assert days_read(watched)
    state = await Checks(database, time).state()
    assert (state.last_check, state.next_year) == (NOW + FIRST_CHECK_S * 1000, 1901)


def test_a_service_runs_the_checks_unless_they_are_switched_off(tmp_path: Path, usgs: UsgsServer) -> None:
    assert "checking the summaries" in [task.name for task in DOMAIN.tasks]
    with running(settings(tmp_path / "off.db", usgs, check_summaries=0)) as service:
        unknown: dict[str, Any] = {"status": "unknown", "last_check": None, "days": [], "remedy": None}
        assert service.http.get("/readyz").json()["summaries"] == unknown


# Another program on a real store, and what the operator sees


async def test_an_item_of_another_program_is_counted_and_a_day_that_cannot_be_is_told_to_the_operator(
    engine: str, tmp_path: Path, usgs: UsgsServer, time: HeldTime
) -> None:
    url = await new_store(engine, tmp_path, ENTITIES)
    async with StoreLocation.of(url).open(ENTITIES, timeout_s=TIMEOUT_S) as database:
        await ingest(database, EVENTS)
        documented = ("eventId", "eventTsMs", "mag", "place", "lat", "lon", "dayBucket", "source", "ingestedAt")
        elsewhere = an_event("elsewhere", NOON + DAY_MS).item
        await database.put(Put(EVENT, {name: elsewhere[name] for name in documented}))
        await Checks(database, time).several(CONFIRMATIONS)
        unchanged = {"differences": {DAY: CONFIRMATIONS}}
        await database.update(Update(SUMMARY_CHECK.key_for(), set=unchanged))

    service_settings = settings(tmp_path / "unused.db", usgs).model_copy(update={"store": url})
    with running(service_settings, clock=time) as service:
        answer = service.ask("{ events { totalCount nodes { eventId } } }")["events"]
        assert (answer["totalCount"], len(answer["nodes"])) == (4, 4)
        ready = service.http.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "ok")
        assert ready.json()["summaries"] == {
            "status": "warning",
            "last_check": time.now,
            "days": ["2023-08-03"],
            "remedy": "quakegraph rebuild-summaries",
        }
        assert scraped(service.url).value("quakegraph_summaries_wrong_days") == 1

        rebuilt = await asyncio.to_thread(quakegraph, "rebuild-summaries", "--store", url)
        assert rebuilt.stdout == "4 events on 3 days; 0 summaries corrected.\n"

        summaries = service.http.get("/readyz").json()["summaries"]
        assert (summaries["status"], summaries["days"]) == ("ok", [])
        assert scraped(service.url).value("quakegraph_summaries_wrong_days") == 0
