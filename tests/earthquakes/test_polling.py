"""Polling: of many processes one has each turn, and nothing but the end of the service ends it."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from starlette.types import Receive, Scope, Send

from graph.earthquakes.polling import Polling, polling
from graph.errors import DatabaseUnavailable
from graph.store.contract import Item, Table
from tests.earthquakes.ingests import NOW, Station, a_station, events_in, logs_in
from tests.earthquakes.usgs_server import UsgsServer, html, stall, status
from tests.earthquakes.watched_table import WatchedTable

ALL_DAY = "/earthquakes/feed/v1.0/summary/all_day.geojson"
MINUTE = 60.0


class HeldTime:
    """A clock, and sleepers that wake when a test moves it."""

    def __init__(self) -> None:
        self.now = NOW
        self._sleepers: list[tuple[int, asyncio.Future[None]]] = []
        self._changed = asyncio.Condition()

    def __call__(self) -> int:
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was moved so far."""
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        async with self._changed:
            self._sleepers.append((self.now + round(seconds * 1000), woken))
            self._changed.notify_all()
        await woken

    async def all_asleep(self, sleepers: int = 1) -> None:
        """Wait until so many sleep: each has done what it does between two pauses."""
        async with asyncio.timeout(60), self._changed:
            await self._changed.wait_for(lambda: len(self._asleep()) == sleepers)

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self.now += round(seconds * 1000)
        for due, woken in self._asleep():
            if due <= self.now:
                woken.set_result(None)

    def _asleep(self) -> list[tuple[int, asyncio.Future[None]]]:
        """Those that neither woke nor were cancelled."""
        return [(due, woken) for due, woken in self._sleepers if not woken.done()]


@pytest.fixture
def time() -> HeldTime:
    return HeldTime()


@pytest.fixture
async def station(engine: str, usgs: UsgsServer, time: HeldTime) -> AsyncIterator[Station]:
    async with a_station(engine, usgs, time) as station:
        yield station


@asynccontextmanager
async def polls(station: Station, time: HeldTime, *, table: Table | None = None) -> AsyncIterator[Polling]:
    """A process that polls every minute."""
    async with polling(station.ingest, table or station.table, MINUTE, time, time.sleep) as state:
        yield state


async def test_a_poll_ingests_the_events_of_the_past_day(station: Station, time: HeldTime) -> None:
    async with polls(station, time):
        await time.all_asleep()

    (log,) = await logs_in(station.table)
    assert (log["route"], log["status"], log["fetched"], log["upserted"]) == ("/ingest/recent", 200, 228, 228)
    assert len(await events_in(station.table)) == 228
    assert [request.path for request in station.usgs.requests] == [ALL_DAY]


async def test_of_three_processes_one_has_each_turn(station: Station, time: HeldTime) -> None:
    async with AsyncExitStack() as processes:
        for _ in range(3):
            await processes.enter_async_context(polls(station, time))
        for turns in range(1, 6):
            await time.all_asleep(3)
            assert len(station.usgs.requests) == turns
            time.move(MINUTE - 1)
            await time.all_asleep(3)
            assert len(station.usgs.requests) == turns
            time.move(1)


async def test_a_process_that_starts_between_two_turns_waits_for_the_next(station: Station, time: HeldTime) -> None:
    async with polls(station, time):
        await time.all_asleep()
        time.move(20)
        async with polls(station, time):
            await time.all_asleep(2)
            assert len(station.usgs.requests) == 1
            for second, turns in ((60, 2), (80, 2), (120, 3), (140, 3)):
                time.move(second - (time.now - NOW) / 1000)
                await time.all_asleep(2)
                assert len(station.usgs.requests) == turns


async def test_another_process_takes_over_the_turns_of_one_that_ended(station: Station, time: HeldTime) -> None:
    async with polls(station, time):
        await time.all_asleep()
    time.move(20)

    async with polls(station, time):
        await time.all_asleep()
        assert len(station.usgs.requests) == 1
        time.move(MINUTE)
        await time.all_asleep()
        assert len(station.usgs.requests) == 2


class Failing(WatchedTable):
    """Fails at the first lease that is asked of it."""

    def __init__(self, table: Table, failure: Exception) -> None:
        super().__init__(table)
        self._failures = [failure]

    async def put(self, item: Item, *, if_absent: bool = False) -> bool:
        if self._failures:
            raise self._failures.pop()
        return await super().put(item, if_absent=if_absent)


@pytest.mark.parametrize(
    ("failure", "code", "cause"),
    [
        (DatabaseUnavailable("the disk is full"), "DATABASE_UNAVAILABLE", "the disk is full"),
        (RuntimeError("a defect"), "INTERNAL_SERVER_ERROR", "RuntimeError('a defect')"),
    ],
)
async def test_a_failure_of_the_store_and_a_defect_cost_one_turn(
    station: Station, time: HeldTime, caplog: pytest.LogCaptureFixture, failure: Exception, code: str, cause: str
) -> None:
    async with polls(station, time, table=Failing(station.table, failure)) as state:
        await time.all_asleep()
        (warning,) = polling_logs(caplog)
        assert warning.__dict__["keywords"] == {"code": code, "cause": cause}
        assert bool(warning.exc_info) == isinstance(failure, RuntimeError)
        assert (state.status, state.error, state.failures) == ("warning", code, 1)
        assert station.usgs.requests == []

        time.move(MINUTE)
        await time.all_asleep()
        assert state == Polling(last_success=time.now)

    assert len(await events_in(station.table)) == 228


async def test_an_hour_without_usgs_is_one_warning(
    station: Station, time: HeldTime, caplog: pytest.LogCaptureFixture
) -> None:
    """Queries are answered all along."""
    caplog.set_level("INFO")
    async with polls(station, time) as state:
        await time.all_asleep()
        began = time.now
        station.usgs.answer_next(*[status(400)] * 30, *[html()] * 4 * 30)
        for failures in range(1, 61):
            time.move(MINUTE)
            await time.all_asleep()
            assert (state.status, state.failures) == ("warning", failures)
            assert len(await events_in(station.table)) == 228
        assert (state.last_success, state.failing_since) == (began, began + 60_000)
        assert state.error == "INVALID_UPSTREAM_RESPONSE"

        time.move(MINUTE)
        await time.all_asleep()
        assert state == Polling(last_success=time.now)

    said = [record.getMessage() for record in polling_logs(caplog)]
    assert said == ["Polled USGS", "Polling fails, and goes on", "Polled USGS", "Polling USGS works again"]


def polling_logs(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """What polling said of its troubles."""
    return [record for record in caplog.records if record.name == "graph.earthquakes.polling"]


async def test_the_end_of_a_process_does_not_wait_for_usgs(station: Station, time: HeldTime) -> None:
    asked = threading.Event()

    async def note_and_stall(scope: Scope, receive: Receive, send: Send) -> None:
        asked.set()
        await stall(scope, receive, send)

    station.usgs.answer_next(note_and_stall)
    async with asyncio.timeout(60):  # which is as long as the ingest would wait
        async with polls(station, time):
            await asyncio.to_thread(asked.wait)

    assert await logs_in(station.table) == []
