"""Following changes: USGS is asked once an hour, by one process, for all that it changed or deleted since."""

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from urllib.parse import parse_qsl

import pytest
from starlette.types import Receive, Scope, Send

from graph.core.days import DAY_MS
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.entities import BACKFILL_PART
from graph.domains.earthquakes.ingest.changes import (
    CHANGES,
    CHANGES_LEASE,
    EVERY_MS,
    LEASE_MS,
    MARGIN_MS,
    REACH_MS,
    ChangesState,
    changes_lease,
    follow_forever,
)
from graph.domains.earthquakes.ingest.status import IngestStatusReader
from graph.work.tasks import BackgroundTasks
from tests.domains.earthquakes.ingest.ingests import NOW, Station, a_feature, events_in, file_of, logs_in, longest
from tests.domains.earthquakes.usgs.usgs_server import FDSN_COUNT, FDSN_QUERY, collection, epoch_ms, html, stall, status
from tests.domains.entities import documented
from tests.held_time import HeldTime

HOUR = EVERY_MS / 1000


@pytest.fixture
def station(station: Station) -> Station:
    station.usgs.hold([a_feature("us1", time=NOW)])
    return station


@asynccontextmanager
async def follows(station: Station, time: HeldTime, *, runs_s: float = LEASE_MS / 1000) -> AsyncIterator[None]:
    """A process that follows changes."""
    async with BackgroundTasks() as tasks:
        follow = partial(follow_forever, station.ingest, station.database, time, time.sleep, longest, runs_s=runs_s)
        tasks.start("following", follow)
        yield


async def begun(station: Station, time: HeldTime) -> None:
    """Asked once, and due again in an hour."""
    async with follows(station, time):
        await time.all_asleep()


def asked(station: Station) -> list[dict[str, str]]:
    """The parameters of the queries, without those of counts."""
    return [dict(parse_qsl(request.query)) for request in station.usgs.requests if request.path == FDSN_QUERY]


async def state_in(station: Station) -> ChangesState:
    return ChangesState.of(await changes_lease(station.database, station.clock).state())


async def test_the_first_query_asks_for_the_changes_of_a_month(station: Station, time: HeldTime) -> None:
    await begun(station, time)

    assert [request.path for request in station.usgs.requests] == [FDSN_COUNT, FDSN_QUERY]
    assert asked(station) == [
        {
            "format": "geojson",
            "orderby": "time",
            "limit": "20000",
            "includedeleted": "true",
            "starttime": "1000-01-01T00:00:00.000Z",
            "updatedafter": "2023-07-05T00:00:00.000Z",
        }
    ]
    assert REACH_MS == 30 * DAY_MS
    (log,) = await logs_in(station.database)
    assert (log["route"], log["status"], log["fetched"], log["upserted"]) == ("/ingest/recent", 200, 1, 1)


async def test_each_hour_one_of_three_processes_asks_for_what_changed_since_the_last_query_with_a_margin(
    station: Station, time: HeldTime
) -> None:
    async with AsyncExitStack() as processes:
        for _ in range(3):
            await processes.enter_async_context(follows(station, time))
        for queries in range(1, 4):
            await time.all_asleep(3)
            assert len(asked(station)) == queries
            time.move(HOUR - 1)
            await time.all_asleep(3)
            assert len(asked(station)) == queries
            time.move(1)
        await time.all_asleep(3)

    since = [epoch_ms(query["updatedafter"]) for query in asked(station)[1:]]
    assert since == [NOW // 1000 * 1000 + hours * EVERY_MS - MARGIN_MS for hours in range(3)]


async def test_after_an_outage_of_any_length_nothing_between_is_left_out(station: Station, time: HeldTime) -> None:
    """Neither a change of an older event, nor an event that no feed reaches any more."""
    await begun(station, time)
    times = {"us2": NOW - REACH_MS, "us3": NOW - REACH_MS - 1}
    station.usgs.hold([a_feature(event_id, time=at) for event_id, at in times.items()])
    time.move(400 * 86_400)

    await begun(station, time)

    assert (await events_in(station.database)).keys() == {"us1", "us2"}
    assert epoch_ms(asked(station)[-1]["updatedafter"]) == NOW // 1000 * 1000 - MARGIN_MS


async def test_an_old_event_is_revised_but_not_inserted(
    station: Station, time: HeldTime, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    old = NOW - REACH_MS
    await station.ingest.file(file_of([a_feature("us2", time=old - 1)]))
    changed = [
        a_feature("us2", time=old - 1, mag=4.7, updated=NOW),
        a_feature("us3", time=float(old - 1)),
        a_feature("us4", time=old),
        a_feature("nc5", time=old - 1, ids=",nc5,us2,", updated=NOW + 1),
        {"type": "Feature", "id": "us6"},
    ]
    station.usgs.answer_next(station.usgs.catalogue, collection(changed))

    await begun(station, time)

    assert (await events_in(station.database)).keys() == {"us2", "us4"}
    (log,) = [log for log in await logs_in(station.database) if log["route"] == "/ingest/recent"]
    assert (log["fetched"], log["upserted"], log["revised"], log["skipped"], log["rejected"]) == (5, 1, 2, 1, 1)
    (line,) = logs_of_following(caplog)
    assert line.__dict__["keywords"] == {"new": 1, "revised": 2, "deleted": 0, "fetched": 5}


# When it fails


async def test_pauses_grow_and_the_first_failure_is_logged(
    station: Station, time: HeldTime, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    station.usgs.answer_next(*[status(400)] * 3)
    async with follows(station, time):
        for failures, pause_s in enumerate((120, 240, 480), 1):
            await time.all_asleep()
            state = await state_in(station)
            assert (state.failures, state.last_error) == (failures, "INVALID_UPSTREAM_RESPONSE")
            assert state.last_success is None
            assert state.last_error_at == time.now
            catalogue = Catalogue(station.database, most_days_counted=1)
            read = IngestStatusReader(station.database, catalogue, time, polls=True)
            told = await read.status()
            assert (told.state, told.changes_failures, told.last_changes_at) == ("warning", failures, None)
            time.move(pause_s)
        await time.all_asleep()
        state = await state_in(station)
        assert (state.failures, state.last_success) == (0, time.now // 1000 * 1000)
        item = documented(CHANGES, await station.database.get(CHANGES_LEASE.key) or {})
        assert (item["pk"], item["sk"], item["entity"]) == ("POLL#USGS", "CHANGES", "POLL")
        assert (await read.status()).last_changes_at == state.last_success

    assert [record.getMessage() for record in logs_of_following(caplog)] == [
        "USGS cannot be asked for changes, and will be asked again",
        "Followed the changes of USGS",
    ]


def logs_of_following(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.name == "graph.domains.earthquakes.ingest.changes"]


async def test_an_interrupted_run_goes_on_with_the_rest_and_the_next_asks_from_its_beginning(
    station: Station, time: HeldTime
) -> None:
    """What changed while the run was interrupted, in a part that was done already, is in the next answer."""
    features = [a_feature(f"us{number}", time=NOW - number * 1000) for number in range(40)]
    station.usgs.hold(features, limit=10)
    queries = 0

    async def out_of_order_after_two_queries(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal queries
        queries += scope["path"] == FDSN_QUERY
        await (station.usgs.catalogue if queries <= 2 else html())(scope, receive, send)

    station.usgs.answer_next(*[out_of_order_after_two_queries] * 100)
    async with follows(station, time):
        await time.all_asleep()
        began = time.now
        assert (await state_in(station)).failures == 1
        done = [mark["events"] async for mark in station.database.scan(BACKFILL_PART)]
        assert 0 < sum(done) < 40
        station.usgs.forget_answers()
        station.usgs.requests.clear()
        time.move(120)
        await time.all_asleep()

    assert len(await events_in(station.database)) == 40
    assert (await state_in(station)).last_success == began // 1000 * 1000
    assert {query["updatedafter"] for query in asked(station)} == {"2023-07-05T00:00:00.000Z"}
    last = (await logs_in(station.database))[-1]
    assert last["fetched"] == 40 - sum(done)


async def test_a_run_that_takes_too_long_ends_itself_and_goes_on_later(station: Station, time: HeldTime) -> None:
    station.usgs.answer_next(stall)
    async with follows(station, time, runs_s=0.05):
        await time.all_asleep()

    state = await state_in(station)
    assert (state.failures, state.last_success, state.last_error) == (0, None, None)
    await begun(station, time)
    assert (await state_in(station)).last_success == time.now // 1000 * 1000
