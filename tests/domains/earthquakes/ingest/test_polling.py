"""Polling: polite to USGS, under one lease with other processes, and nothing but the end of the service ends it."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import orjson
import pytest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from graph.core.days import DAY_MS
from graph.core.errors import DatabaseUnavailable
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.ingest.polling import POLL, POLL_LEASE, PollState, feed_after, poll_forever, poll_lease
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.usgs.answers import Validators
from graph.domains.earthquakes.usgs.requests import UsgsFeed
from graph.store.contract import Database
from graph.work.tasks import BackgroundTasks
from tests.domains.earthquakes.ingest.guarded import Guard, GuardedDatabase, failing
from tests.domains.earthquakes.ingest.ingests import Station, a_feature, events_in, logs_in, longest
from tests.domains.earthquakes.usgs.usgs_server import body, html, stall, status, week_features
from tests.domains.entities import documented
from tests.held_time import HeldTime

FEEDS = "/earthquakes/feed/v1.0/summary/"
ALL_DAY = f"{FEEDS}all_day.geojson"
ALL_WEEK = f"{FEEDS}all_week.geojson"
ALL_MONTH = f"{FEEDS}all_month.geojson"
MINUTE = 60.0
HELD = week_features()[::20]  # a tenth of a second to store, where the whole week takes seconds
MONTH, DAY = 107, 12  # how many of them are in each feed
HOUR_MS = 3_600_000


@pytest.fixture
def station(station: Station) -> Station:
    station.usgs.hold(HELD)
    return station


def shortest(low: float, high: float) -> float:
    """The shortest."""
    return low


@asynccontextmanager
async def polls(
    station: Station,
    time: HeldTime,
    *,
    database: Database | None = None,
    ingest: Ingest | None = None,
    every_s: float = MINUTE,
    between: Callable[[float, float], float] = longest,
) -> AsyncIterator[None]:
    """A process that polls every minute."""
    database = database or station.database
    async with BackgroundTasks() as tasks:
        poll = partial(poll_forever, ingest or station.ingest, database, every_s, time, time.sleep, between)
        tasks.start("polling", poll)
        yield


async def state_in(station: Station) -> PollState:
    return PollState.of(await poll_lease(station.database, station.clock).state())


def requested_paths(station: Station) -> list[str]:
    """The paths that USGS was asked for."""
    return [request.path for request in station.usgs.requests]


def conditions(station: Station) -> tuple[str | None, str | None]:
    """What the last request named of the version that is known."""
    headers = station.usgs.requests[-1].headers
    return headers.get("if-none-match"), headers.get("if-modified-since")


def version(event_id: str, **headers: str) -> Response:
    """A feed with one event."""
    return body(orjson.dumps({"type": "FeatureCollection", "features": [a_feature(event_id)]}), **headers)


async def begun(station: Station, time: HeldTime) -> None:
    """A catalogue that has been polled, and is due again in a minute."""
    async with polls(station, time):
        await time.all_asleep()


# One process at a time


async def test_the_end_of_a_process_does_not_wait_for_usgs(station: Station, time: HeldTime) -> None:
    asked = threading.Event()

    async def note_and_stall(scope: Scope, receive: Receive, send: Send) -> None:
        asked.set()
        await stall(scope, receive, send)

    station.usgs.answer_next(note_and_stall)
    async with asyncio.timeout(60):  # which is as long as the ingest would wait
        async with polls(station, time):
            await asyncio.to_thread(asked.wait)

    assert (len(station.usgs.requests), station.pauses, await logs_in(station.database)) == (1, [], [])


async def test_the_item_has_the_documented_names(station: Station, time: HeldTime) -> None:
    await begun(station, time)
    station.usgs.answer_next(status(503))
    time.move(MINUTE)
    await begun(station, time)

    item = documented(POLL, await station.database.get(POLL_LEASE.key) or {})

    assert (item["pk"], item["sk"]) == ("POLL#USGS", "STATE")
    assert item.keys() == {
        *("pk", "sk", "entity", "turn", "nextAttempt", "unended"),
        *("lastSuccess", "lastWideSuccess", "lastError", "lastErrorAt", "failures", "versions"),
    }
    assert (item["entity"], item["nextAttempt"], item["unended"]) == ("POLL", time.now + 120_000, 0)


async def test_an_outage_begins_when_the_last_success_began(
    station: Station, time: HeldTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch = station.ingest.feed

    async def suspended(feed: UsgsFeed, known: Validators) -> tuple[IngestReport, Validators]:
        done = await fetch(feed, known)
        time.now += 60 * HOUR_MS
        return done

    with monkeypatch.context() as patched:
        patched.setattr(station.ingest, "feed", suspended)
        await begun(station, time)
    await begun(station, time)

    assert requested_paths(station) == [ALL_MONTH, ALL_WEEK]


async def test_the_first_poll_ingests_a_month_and_later_ones_a_day_or_once_a_day_a_week_for_late_events(
    station: Station, time: HeldTime
) -> None:
    for _ in range(7):
        await begun(station, time)
        time.move(6 * 3600)

    assert requested_paths(station) == [ALL_MONTH, ALL_DAY, ALL_DAY, ALL_DAY, ALL_WEEK, ALL_DAY, ALL_DAY]
    log, *_ = await logs_in(station.database)
    assert (log["route"], log["status"], log["fetched"], log["upserted"]) == ("/ingest/recent", 200, MONTH, MONTH)
    assert len(await events_in(station.database)) == MONTH


async def test_a_feed_without_any_events_is_not_believed(station: Station, time: HeldTime) -> None:
    station.usgs.answer_next(body(orjson.dumps({"type": "FeatureCollection", "features": []})))

    await begun(station, time)

    state = await state_in(station)
    assert (state.last_success, state.last_error) == (None, "INVALID_UPSTREAM_RESPONSE")


# What has changed alone


async def test_a_feed_that_has_not_changed_is_a_success_without_events(station: Station, time: HeldTime) -> None:
    async with polls(station, time):
        for _ in range(3):
            await time.all_asleep()
            time.move(MINUTE)
        await time.all_asleep()

    logs = await logs_in(station.database)
    assert [(log["status"], log["fetched"], log["upstreamSize"]) for log in logs[2:]] == [(200, 0, 0)] * 2
    assert [log["fetched"] for log in logs[:2]] == [MONTH, DAY]
    state = await state_in(station)
    assert (state.last_success, state.failures, state.last_error) == (time.now, 0, None)
    fresh = await station.http.get(station.usgs.url + ALL_DAY)
    station.usgs.requests.pop()
    assert conditions(station) == (fresh.headers["etag"], fresh.headers["last-modified"])


async def test_a_changed_feed_is_stored_and_its_version_remembered_if_it_is_valid(
    station: Station, time: HeldTime
) -> None:
    await begun(station, time)
    station.usgs.answer_next(
        version("us1", etag='W/"1"'),
        version("us2", etag='W/"2"', last_modified="today"),
        version("us3", etag="é", last_modified="today"),
        version("us4", etag="x" * 201, last_modified="today"),
    )
    async with polls(station, time):
        for known in ((None, None), ('W/"1"', None), ('W/"2"', "today"), (None, "today"), (None, "today")):
            time.move(MINUTE)
            await time.all_asleep()
            assert conditions(station) == known
            assert (await state_in(station)).failures == 0

    assert {"us1", "us2", "us3", "us4"} < (await events_in(station.database)).keys()
    assert [log["upserted"] for log in await logs_in(station.database)] == [MONTH, 1, 1, 1, 1, 0]


async def test_after_an_outage_the_feed_covers_all_of_it_and_each_feed_has_a_version_of_its_own(
    station: Station, time: HeldTime
) -> None:
    await begun(station, time)
    month = (await state_in(station)).validators(UsgsFeed.ALL_MONTH)
    station.usgs.answer_next(status(503), status(503))
    for pause_s in (300, 300):
        time.move(pause_s)
        await begun(station, time)
        assert conditions(station) == (None, None)
    time.move(10 * 86_400)
    await begun(station, time)
    assert conditions(station) == (month.etag, month.last_modified)
    time.move(MINUTE)
    await begun(station, time)

    assert requested_paths(station) == [ALL_MONTH, ALL_DAY, ALL_DAY, ALL_MONTH, ALL_DAY]
    assert (await state_in(station)).validators(UsgsFeed.ALL_DAY).etag


def failing_once(failure: Exception, *, of: str) -> Guard:
    """Fails at the first change of the state, or at the first transaction."""
    left = [1]

    def is_due(name: str, about: Any) -> bool:
        found = name == "update" and about.key == POLL_LEASE.key if of == "lease" else name == "transact"
        return found and bool(left) and bool(left.pop())

    return failing(failure, when=is_due)


# When it fails


@pytest.mark.parametrize(
    ("failure", "code", "cause"),
    [
        (DatabaseUnavailable("the disk is full"), "DATABASE_UNAVAILABLE", "the disk is full"),
        (RuntimeError("a defect"), "INTERNAL_SERVER_ERROR", "RuntimeError('a defect')"),
    ],
    ids=["store", "defect"],
)
@pytest.mark.parametrize("of", ["lease", "ingest"])
async def test_a_failure_of_the_store_and_a_defect_do_not_end_polling(
    station: Station,
    time: HeldTime,
    caplog: pytest.LogCaptureFixture,
    failure: Exception,
    code: str,
    cause: str,
    of: str,
) -> None:
    """A version that was stored in part is fetched again."""
    await begun(station, time)
    time.move(MINUTE)
    caplog.clear()
    answers = [version("us1", etag='"1"')] * 2
    station.usgs.answer_next(*answers[: 2 if of == "ingest" else 1])
    database = GuardedDatabase(station.database, failing_once(failure, of=of))
    async with polls(station, time, database=database, ingest=station.ingest_into(database)):
        await time.all_asleep()
        (warning,) = polling_logs(caplog)
        assert warning.__dict__["keywords"] == {"code": code, "cause": cause}
        assert bool(warning.exc_info) == isinstance(failure, RuntimeError)
        assert len(station.usgs.requests) == 1 + (of == "ingest")
        assert (await state_in(station)).last_error == (code if of == "ingest" else None)
        assert "us1" not in await events_in(station.database)

        time.move(2 * MINUTE)
        await time.all_asleep()
        state = await state_in(station)
        assert (state.last_success, state.failures) == (time.now, 0)

    assert conditions(station) == (None, None)
    assert "us1" in await events_in(station.database)


PAUSES = [
    (longest, MINUTE, [120, 240, 480, 960, 1800, 1800, 1800]),
    (shortest, MINUTE, [60, 120, 240, 480, 900, 900, 900]),
    (shortest, 1000, [1000, 1000, 1000]),  # never more often than while all is well
    (longest, 3600, [3600, 3600]),
]


async def test_the_pause_grows_from_failure_to_failure_up_to_half_an_hour(station: Station, time: HeldTime) -> None:
    """Each is one attempt, and the first success ends it."""
    for between, every_s, pauses in PAUSES:
        station.usgs.requests.clear()
        station.usgs.answer_next(*[html()] * len(pauses))
        async with polls(station, time, every_s=every_s, between=between):
            for failures, pause_s in enumerate(pauses, 1):
                await time.all_asleep()
                state = await state_in(station)
                assert (state.failures, state.next_attempt) == (failures, time.now + pause_s * 1000)
                assert (state.last_error, state.last_error_at) == ("INVALID_UPSTREAM_RESPONSE", time.now)
                time.move(pause_s - 1)
                await time.all_asleep()
                assert len(station.usgs.requests) == failures
                time.move(1)
            await time.all_asleep()
            state = await state_in(station)
            assert (state.last_success, state.failures, state.next_attempt) == (time.now, 0, time.now + every_s * 1000)
            assert state.last_error_at == time.now - pauses[-1] * 1000
        time.move(every_s)


async def test_no_process_polls_before_retry_after_is_over(station: Station, time: HeldTime) -> None:
    for retry_after, pause_s in (("7200", 7200), ("10", 120), ("9" * 400, 86_400)):  # the second has its own pause
        station.usgs.requests.clear()
        station.usgs.answer_next(status(503, retry_after=retry_after))
        await begun(station, time)

        time.move(pause_s - 1)
        await begun(station, time)
        assert len(station.usgs.requests) == 1
        assert (await state_in(station)).last_error == "UPSTREAM_UNAVAILABLE"
        time.move(1)
        await begun(station, time)
        assert len(station.usgs.requests) == 2
        time.move(MINUTE)


async def test_hours_without_usgs_are_one_warning_whichever_process_polls(
    station: Station, time: HeldTime, caplog: pytest.LogCaptureFixture
) -> None:
    """Queries are answered all along."""
    caplog.set_level("INFO")
    await begun(station, time)
    station.usgs.answer_next(*[status(400)] * 5, *[html()] * 5)
    for failures in range(1, 11):
        time.move(1800)
        await begun(station, time)
        assert (await state_in(station)).failures == failures
        assert len(await events_in(station.database)) == MONTH
    time.move(1800)
    await begun(station, time)

    said = [record.getMessage() for record in polling_logs(caplog)]
    assert said == ["Polled USGS", "A poll failed, and will be tried again", "Polled USGS", "Polling USGS works again"]


def polling_logs(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """What polling said of its troubles."""
    return [record for record in caplog.records if record.name == "graph.domains.earthquakes.ingest.polling"]


# After an outage


def test_a_feed_covers_half_a_day_more_than_the_outage() -> None:
    for outage_ms, feed in (
        (-1000, UsgsFeed.ALL_MONTH),  # a clock was ahead, and nobody knows for how long
        (60_000, UsgsFeed.ALL_DAY),
        (12 * HOUR_MS, UsgsFeed.ALL_DAY),
        (12 * HOUR_MS + 1, UsgsFeed.ALL_WEEK),
        (7 * DAY_MS - 12 * HOUR_MS, UsgsFeed.ALL_WEEK),
        (7 * DAY_MS - 12 * HOUR_MS + 1, UsgsFeed.ALL_MONTH),
        (365 * DAY_MS, UsgsFeed.ALL_MONTH),
        (None, UsgsFeed.ALL_MONTH),
    ):
        assert feed_after(outage_ms) is feed
