"""A back-fill that is interrupted anywhere is finished by the next one, which does not fetch again what is done."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from typing import Any, TypeVar

import httpx
import pytest

from graph.core.days import DAY_MS
from graph.core.errors import UpstreamUnavailable
from graph.domains.earthquakes.entities import BACKFILL, BACKFILL_PART
from graph.domains.earthquakes.ingest.backfill import Progress
from graph.domains.earthquakes.ingest.backfill_marks import KEPT_S, BackfillMarks, Done
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.usgs.requests import EventQuery
from graph.domains.earthquakes.usgs.windows import Window
from graph.store.contract import Action, Database, Put, Update
from graph.store.entity import Item, Key
from graph.store.query import Page, Query
from tests.domains.earthquakes.ingest.ingests import (
    NOW,
    Station,
    a_feature,
    a_station,
    an_ingest,
    counts,
    events_in,
    recounted,
    summaries_in,
)
from tests.domains.earthquakes.usgs.usgs_server import FDSN_COUNT, FDSN_QUERY, UsgsServer, status
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import documented
from tests.store.samples import HeldClock

T = TypeVar("T")

LIMIT = 3
EVENTS = 6


# Where it is interrupted


class Crash(Exception):
    """The process is no longer there: nothing that it asks for is done."""


class How(Enum):
    """What becomes of the operation in which the process ends."""

    BEFORE = "never done"
    AFTER = "done, and nobody hears of it"
    CANCELLED = "cancelled, as by Ctrl-C"


@dataclass
class Fuse:
    """Passes on operations of a process, on the store and on USGS alike, and ends it at one of them.

    An operation that was begun goes through, as it may on an engine when nobody waits for it any more.
    """

    at: int  # the operation, from 1
    how: How
    process: asyncio.Task[object] | None = None
    count: int = 0  # operations so far
    begun: list[asyncio.Future[Any]] = field(default_factory=list)

    async def passing(self, operation: Callable[[], Awaitable[T]]) -> T:
        self.count += 1
        if self.count > self.at and self.how is not How.CANCELLED:
            raise Crash
        if self.count == self.at and self.how is How.BEFORE:
            raise Crash
        going = asyncio.ensure_future(operation())
        self.begun.append(going)
        if self.count == self.at and self.how is How.CANCELLED and self.process:
            self.process.cancel()
        answer = await asyncio.shield(going)
        if self.count >= self.at and self.how is How.AFTER:
            raise Crash
        return answer

    async def end(self) -> None:
        """Wait for what nobody waits for any more."""
        await asyncio.gather(*self.begun, return_exceptions=True)


class FusedDatabase(WatchedDatabase):
    """A database that is reached through the fuse."""

    def __init__(self, database: Database, fuse: Fuse) -> None:
        super().__init__(database)
        self._fuse = fuse

    async def get(self, key: Key, *, attributes: Collection[str] | None = None) -> Item | None:
        return await self._fuse.passing(lambda: self._database.get(key, attributes=attributes))

    async def get_many(self, keys: Collection[Key], *, attributes: Collection[str] | None = None) -> dict[Key, Item]:
        return await self._fuse.passing(lambda: self._database.get_many(keys, attributes=attributes))

    async def put(self, put: Put) -> bool:
        return await self._fuse.passing(lambda: self._database.put(put))

    async def update(self, update: Update) -> bool:
        return await self._fuse.passing(lambda: self._database.update(update))

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        return await self._fuse.passing(lambda: self._database.transact(actions))

    async def query(self, query: Query) -> Page:
        return await self._fuse.passing(lambda: self._database.query(query))


class FusedTransport(httpx.AsyncHTTPTransport):
    """A way to USGS through the fuse."""

    def __init__(self, fuse: Fuse) -> None:
        super().__init__()
        self._fuse = fuse

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        send = super().handle_async_request
        return await self._fuse.passing(lambda: send(request))


async def interrupted(station: Station, query: EventQuery, fuse: Fuse) -> bool:
    """Run a back-fill into the fuse. False where it ended before."""
    async with httpx.AsyncClient(transport=FusedTransport(fuse)) as http:
        ingest = an_ingest(FusedDatabase(station.database, fuse), http, station.usgs.url, station.pauses)
        fuse.process = asyncio.create_task(ingest.window(query))
        try:
            await fuse.process
        except (Crash, asyncio.CancelledError):
            return True
        finally:
            await fuse.end()
        return False


async def done_in(database: Database, query: EventQuery) -> list[Done]:
    """What is marked as done of a run that was begun."""
    return await BackfillMarks(database, query, lambda: NOW).resume() or []


@pytest.mark.parametrize("how", How)
async def test_after_any_interruption_the_next_ingest_fetches_only_the_rest(
    station: Station, how: How, engine: str
) -> None:
    """On SQLite each operation in each way, on DynamoDB each in one of the ways."""
    first, step = (1, 1) if engine == "sqlite" else (1 + list(How).index(how), len(How))
    skipping = 0
    for at in count(first, step):  # operations: for each, other events on a day of their own
        day = NOW - at * 10 * DAY_MS
        query = EventQuery(20_000, day, day + DAY_MS - 1)
        features = [a_feature(f"us{at}-{n}", time=day + n * DAY_MS // EVENTS) for n in range(EVENTS)]
        station.usgs.hold(features, limit=LIMIT)
        if not await interrupted(station, query, Fuse(at, how)):
            break
        done = await done_in(station.database, query)
        stored = {event for event in await events_in(station.database) if event.startswith(f"us{at}-")}
        surely = {f["id"] for f in features for part in done if lies_in(f["properties"]["time"], part.window)}
        assert stored >= surely
        assert len(surely) == sum(part.events for part in done)
        skipping += bool(done)

        station.usgs.requests.clear()
        report = await station.ingest.window(query)

        fetched = EVENTS - len(surely)
        assert counts(report) == (fetched, EVENTS - len(stored), fetched - (EVENTS - len(stored)), 0)
        asked = [Window(*request.window) for request in station.usgs.requests if request.path == FDSN_QUERY]
        assert not [1 for window in asked for part in done if window.without([part.window]) != [window]]
        assert await done_in(station.database, query) == []
        assert {f["id"] for f in features} <= (await events_in(station.database)).keys()

    assert at > 20  # operations of a run
    assert skipping >= 8 // step  # of which so many end it when something is done already
    assert await summaries_in(station.database) == await recounted(station.database)


def lies_in(time: int, window: Window) -> bool:
    return window.start_ms <= time <= window.end_ms


# What is kept of it

DAY = NOW - DAY_MS
QUERY = EventQuery(20_000, DAY, NOW, 2.5)


@asynccontextmanager
async def stopped(station: Station, query: EventQuery = QUERY, *, answers: int = 14) -> AsyncIterator[list[Done]]:
    """A back-fill of 40 events that ends in an outage after so many answers; what of it is done."""
    features = [a_feature(f"us{n}", time=DAY + n * DAY_MS // 40) for n in range(40)]
    station.usgs.hold(features, limit=5)
    station.usgs.answer_next(*[station.usgs.catalogue] * answers, *[status(503)] * 8)
    with pytest.raises(UpstreamUnavailable):
        await station.ingest.window(query)
    station.usgs.forget_answers()
    station.usgs.requests.clear()
    done = await done_in(station.database, query)
    assert done
    yield done


async def test_the_next_one_tells_what_was_done_before(station: Station) -> None:
    async with stopped(station) as done:
        told: list[Progress] = []

        report = await station.ingest.window(QUERY, lambda _, progress: told.append(progress))

        before = sum(part.events for part in done)
        assert (told[-1].parts_before, told[-1].events_before) == (len(done), before)
        assert (told[-1].to_fetch, report.fetched) == (40 - before, 40 - before)


async def test_after_a_finished_ingest_everything_is_fetched_again(station: Station) -> None:
    async with stopped(station):
        await station.ingest.window(QUERY)

        again = await station.ingest.window(QUERY)

        assert counts(again) == (40, 0, 40, 0)


@pytest.mark.parametrize(
    "other",
    [
        EventQuery(20_000, DAY, NOW, 2.6),
        EventQuery(20_000, DAY, NOW),
        EventQuery(20_000, DAY, NOW + 1, 2.5),
        EventQuery(20_000, DAY - 1, NOW, 2.5),
        EventQuery(20_000, DAY, None, 2.5),
    ],
)
async def test_marks_count_only_for_the_same_window_and_magnitude(station: Station, other: EventQuery) -> None:
    async with stopped(station):
        assert await done_in(station.database, other) == []

        report = await station.ingest.window(other)

        assert report.fetched == 40
        assert await done_in(station.database, QUERY) != []


@pytest.mark.parametrize("end_ms", [None, NOW + 10 * DAY_MS])
async def test_an_unfinished_window_fetches_newer_events_on_the_next_ingest(
    engine: str, usgs: UsgsServer, end_ms: int | None
) -> None:
    clock = HeldClock()
    clock.now = NOW
    async with a_station(engine, usgs, clock) as station:
        query = EventQuery(20_000, DAY, end_ms)
        async with stopped(station, query) as done:
            clock.now = NOW + 3_600_000
            usgs.hold([a_feature(f"us{n}", time=DAY + n * DAY_MS // 40) for n in range(60)], limit=5)

            report = await station.ingest.window(query)

            # One event comes every 36 minutes, and an hour has passed. USGS's own end is when it generated the week.
            assert report.fetched == 42 - sum(part.events for part in done)


async def test_marks_expire_after_thirty_days(engine: str, usgs: UsgsServer) -> None:
    clock = HeldClock()
    clock.now = NOW
    async with a_station(engine, usgs, clock) as station, stopped(station):
        marks = [item for entity in (BACKFILL, BACKFILL_PART) async for item in station.database.scan(entity)]
        assert {item["ttl"] for item in marks} == {NOW // 1000 + KEPT_S}
        assert KEPT_S == 30 * 86_400
        clock.now = NOW + KEPT_S * 1000

        report = await station.ingest.window(QUERY)

        assert report.fetched == 40


async def test_a_failed_count_on_resuming_loses_no_marks(station: Station) -> None:
    async with stopped(station) as done:
        station.usgs.answer_next(*[status(503)] * 4)
        with pytest.raises(UpstreamUnavailable):
            await station.ingest.window(QUERY)

        assert [request.path for request in station.usgs.requests] == [FDSN_COUNT] * 4
        assert await done_in(station.database, QUERY) == done


async def test_two_at_once_store_every_event_once(station: Station) -> None:
    async with stopped(station) as done:
        ingests: list[Ingest] = [station.ingest, station.ingest_into(station.database)]

        reports = await asyncio.gather(*[ingest.window(QUERY) for ingest in ingests])

        rest = 40 - sum(part.events for part in done)
        assert [report.fetched for report in reports] == [rest, rest]
        assert sum(report.upserted for report in reports) <= rest
        assert len(await events_in(station.database)) == 40
        assert await done_in(station.database, QUERY) == []


async def test_two_simultaneous_backfills_share_their_marks(station: Station) -> None:
    first, second = (BackfillMarks(station.database, QUERY, station.clock) for _ in range(2))
    await first.begin()
    await second.begin()
    await first.add(Done(Window(DAY, DAY), 1))
    await second.add(Done(Window(DAY + 1, NOW), 2))

    assert await done_in(station.database, QUERY) == [Done(Window(DAY, DAY), 1), Done(Window(DAY + 1, NOW), 2)]


async def test_a_run_forgets_no_other(station: Station) -> None:
    first, second = (BackfillMarks(station.database, QUERY, station.clock) for _ in range(2))
    await first.begin()
    await first.forget()
    await second.begin()
    await second.add(Done(Window(DAY, NOW), 3))

    await first.forget()

    assert await done_in(station.database, QUERY) == [Done(Window(DAY, NOW), 3)]


async def test_marks_are_small_items_of_partitions_of_their_own(station: Station) -> None:
    async with stopped(station) as done:
        page = await station.database.query(Query(entity=BACKFILL, partitions=[(str(DAY), str(NOW), "2.5")]))

        (run,) = [documented(BACKFILL, item) for item in page.items]
        assert (run["pk"], run["sk"]) == (f"BACKFILL#{DAY}#{NOW}#2.5", "RUN")
        assert run.keys() == {"pk", "sk", "entity", "run", "ttl"}
        page = await station.database.query(Query(entity=BACKFILL_PART, partitions=[(run["run"],)]))
        parts = [documented(BACKFILL_PART, item) for item in page.items]
        assert len(parts) == len(done)
        assert {part["pk"] for part in parts} == {f"BACKFILL#{run['run']}"}
        assert {item["entity"] for item in [run, *parts]} == {"BACKFILL"}
