"""A back-fill that is interrupted anywhere is finished by the next one, which does not fetch again what is done."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from typing import Any, TypeVar

import httpx
import pytest

from graph.core.days import DAY_MS
from graph.domains.earthquakes.entities import BACKFILL, BACKFILL_PART, EVENT
from graph.domains.earthquakes.ingest.backfill_marks import KEPT_S, BackfillMarks, FinishedPart, Window
from graph.domains.earthquakes.usgs.errors import UpstreamUnavailable
from graph.domains.earthquakes.usgs.requests import EventQuery
from graph.store.contract import Database
from graph.store.query import Query
from tests.domains.earthquakes.ingest.guarded import GuardedDatabase, GuardedTransport
from tests.domains.earthquakes.ingest.ingests import NOW, Station, a_feature, an_ingest, counts, recounted, summaries_in
from tests.domains.earthquakes.usgs.usgs_server import FDSN_QUERY, status
from tests.domains.entities import documented
from tests.effort import THOROUGH
from tests.held_time import HeldTime

T = TypeVar("T")

LIMIT = 3
EVENTS = 5


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

    at: int = 0  # the operation, from 1
    how: How = How.BEFORE
    process: asyncio.Task[object] | None = None
    count: int = 0  # operations so far
    begun: list[asyncio.Future[Any]] = field(default_factory=list)

    async def __call__(self, name: str, about: Any, operation: Callable[[], Awaitable[T]]) -> T:
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

    async def burn(self, at: int, how: How, work: Awaitable[object]) -> bool:
        """Do some work, into the end of its process. False where it ended before."""
        self.at, self.how, self.count = at, how, 0
        self.process = asyncio.ensure_future(work)
        try:
            await self.process
        except (Crash, asyncio.CancelledError):
            return True
        finally:
            await asyncio.gather(*self.begun, return_exceptions=True)  # what nobody waits for any more
            self.begun.clear()
        return False


async def done_in(database: Database, query: EventQuery) -> list[FinishedPart]:
    """What is marked as done of a run that was begun."""
    return await BackfillMarks(database, query, lambda: NOW).resume() or []


async def test_after_any_interruption_the_next_ingest_fetches_only_the_rest(any_station: Station, engine: str) -> None:
    """At each operation in one of the ways, on DynamoDB at a quarter of them; in a thorough run in each."""
    station, fuse, skipping = any_station, Fuse(), 0
    step = 1 if THOROUGH or engine == "sqlite" else 4
    async with httpx.AsyncClient(transport=GuardedTransport(fuse)) as http:
        doomed = an_ingest(GuardedDatabase(station.database, fuse), http, station.usgs.url, station.pauses)
        for number in count(3 if THOROUGH else 1, step):  # for each, other events on a day of their own
            at, how = (number // 3 if THOROUGH else number), list(How)[number % 3]
            day = NOW - number * 10 * DAY_MS
            query = EventQuery(20_000, day, day + DAY_MS - 1)
            times = {f"us{number}-{n}": day + n * DAY_MS // EVENTS for n in range(EVENTS)}
            station.usgs.hold([a_feature(event, time=time) for event, time in times.items()], limit=LIMIT)
            if not await fuse.burn(at, how, doomed.window(query)):
                break
            done = await done_in(station.database, query)
            keys = [EVENT.key_for(event) for event in times]
            stored = {item["eventId"] for item in (await station.database.get_many(keys)).values()}
            windows = [range(part.window.start_ms, part.window.end_ms + 1) for part in done]
            surely = {event for event, time in times.items() if any(time in window for window in windows)}
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
            assert len(await station.database.get_many(keys)) == EVENTS

    assert at > 20  # operations of a run
    assert skipping >= 6 // step  # of which so many end it when something is done already
    assert await summaries_in(station.database) == await recounted(station.database)


# What is kept of it

DAY = NOW - DAY_MS
QUERY = EventQuery(20_000, DAY, NOW, 2.5)


async def stopped(station: Station, query: EventQuery = QUERY) -> list[FinishedPart]:
    """Let a back-fill of 40 events end in an outage after some answers. Returns what of it is done."""
    features = [a_feature(f"us{n}", time=DAY + n * DAY_MS // 40) for n in range(40)]
    station.usgs.hold(features, limit=5)
    station.usgs.answer_next(*[station.usgs.catalogue] * 14, *[status(503)] * 8)
    with pytest.raises(UpstreamUnavailable):
        await station.ingest.window(query)
    station.usgs.forget_answers()
    station.usgs.requests.clear()
    done = await done_in(station.database, query)
    assert done
    return done


async def test_marks_count_only_for_the_same_window_and_magnitude(station: Station) -> None:
    done = await stopped(station)
    for other in (
        EventQuery(20_000, DAY, NOW, 2.6),
        EventQuery(20_000, DAY, NOW),
        EventQuery(20_000, DAY, NOW + 1, 2.5),
        EventQuery(20_000, DAY - 1, NOW, 2.5),
        EventQuery(20_000, DAY, None, 2.5),
        EventQuery(20_000, DAY, NOW, 2.5, updated_after=NOW, include_deleted=True),
    ):
        assert await done_in(station.database, other) == []
        assert (await station.ingest.window(other)).fetched == 40
        assert await done_in(station.database, QUERY) == done


@pytest.mark.parametrize("end_ms", [None, NOW + 10 * DAY_MS], ids=["open", "ahead"])
async def test_an_unfinished_window_fetches_newer_events_on_the_next_ingest(
    station: Station, time: HeldTime, end_ms: int | None
) -> None:
    query = EventQuery(20_000, DAY, end_ms)
    done = await stopped(station, query)
    time.move(3600)
    station.usgs.hold([a_feature(f"us{n}", time=DAY + n * DAY_MS // 40) for n in range(60)], limit=5)

    report = await station.ingest.window(query)

    # One event comes every 36 minutes, and an hour has passed. USGS's own end is when it generated the week.
    assert report.fetched == 42 - sum(part.events for part in done)


async def test_marks_are_small_items_that_expire_after_thirty_days(any_station: Station, time: HeldTime) -> None:
    done = await stopped(any_station)

    page = await any_station.database.query(Query(entity=BACKFILL, partitions=[(str(DAY), str(NOW), "2.5")]))
    (run,) = [documented(BACKFILL, item) for item in page.items]
    assert (run["pk"], run["sk"]) == (f"BACKFILL#{DAY}#{NOW}#2.5", "RUN")
    assert run.keys() == {"pk", "sk", "entity", "run", "ttl"}
    page = await any_station.database.query(Query(entity=BACKFILL_PART, partitions=[(run["run"],)]))
    parts = [documented(BACKFILL_PART, item) for item in page.items]
    assert len(parts) == len(done)
    assert {part["pk"] for part in parts} == {f"BACKFILL#{run['run']}"}
    assert {item["entity"] for item in [run, *parts]} == {"BACKFILL"}
    assert {item["ttl"] for item in [run, *parts]} == {NOW // 1000 + KEPT_S}
    assert KEPT_S == 30 * 86_400

    time.move(KEPT_S)

    assert (await any_station.ingest.window(QUERY)).fetched == 40


async def test_two_simultaneous_backfills_share_their_marks_and_a_run_forgets_no_other(station: Station) -> None:
    first, second, third = (BackfillMarks(station.database, QUERY, station.clock) for _ in range(3))
    parts = [FinishedPart(Window(DAY, DAY), 1), FinishedPart(Window(DAY + 1, NOW), 2)]
    for marks, part in zip((first, second), parts, strict=True):
        await marks.begin()
        await marks.add(part)
    assert await done_in(station.database, QUERY) == parts

    await first.forget()
    await third.begin()
    await third.add(parts[0])
    await first.forget()

    assert await done_in(station.database, QUERY) == parts[:1]
