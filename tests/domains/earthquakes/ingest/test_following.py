"""A simulated USGS is followed by services, two at once or killed: their catalogue is that of USGS, all along."""

import random
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from starlette.types import Receive, Scope, Send

from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.ingest.changes import follow_forever
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.ingest.polling import poll_forever
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.model import is_deleted
from graph.store.contract import Database
from graph.store.location import StoreLocation
from graph.work.tasks import BackgroundTasks
from tests.domains.earthquakes.ingest.ingests import Station, a_station, an_ingest
from tests.domains.earthquakes.ingest.truth import assert_it_is_the_truth, contents_of
from tests.domains.earthquakes.usgs.usgs_history import HOUR_MS, MINUTE_MS, UsgsHistory
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.entities import ENTITIES
from tests.effort import rounds
from tests.forking import forked
from tests.held_time import HeldTime
from tests.processes import TIMEOUT_S
from tests.store.engines import empty_database, new_store

SERVICES = 2
STEPS = rounds(60, at_least=9)


class Followed:
    """A store that two services keep up with USGS. Each has leases of its own, so that both poll at the same time."""

    def __init__(self, station: Station, history: UsgsHistory, time: HeldTime) -> None:
        self.station = station
        self.history = history
        self._time = time
        self.reports: list[IngestReport] = []

    @property
    def ingest(self) -> Ingest:
        """An ingest of one service, whose reports are kept."""
        station = self.station

        def observe(route: str, report: IngestReport, code: str) -> None:
            assert code == "OK"
            self.reports.append(report)

        return an_ingest(station.database, station.http, station.usgs.url, [], station.clock, observe)

    @property
    def database(self) -> Database:
        return self.station.database

    async def move_to(self, now: int) -> None:
        """Let time pass, and both services do all that is due."""
        self.history.now = max(now, self.history.now)
        self._time.move((self.history.now - self._time.now) / 1000)
        await self._time.all_asleep(2 * SERVICES)


@asynccontextmanager
async def following(engine: str, usgs: UsgsServer, history: UsgsHistory) -> AsyncIterator[Followed]:
    time = HeldTime()
    time.now = history.now = history.moments[5]
    async with a_station(engine, usgs, time) as station, AsyncExitStack() as stack:
        usgs.stand_in(history.application)
        tasks = await stack.enter_async_context(BackgroundTasks())
        followed = Followed(station, history, time)
        for _ in range(SERVICES):
            leases = await stack.enter_async_context(empty_database("sqlite", ENTITIES, clock=time))
            ingest = followed.ingest
            tasks.start("polling", partial(poll_forever, ingest, leases, 60.0, time, time.sleep))
            tasks.start("following", partial(follow_forever, ingest, leases, time, time.sleep))
        await time.all_asleep(2 * SERVICES)
        yield followed


async def assert_counts_add_up(followed: Followed) -> None:
    """What the ingests say they created and revised is what there is."""
    for counts in followed.reports:
        assert counts.fetched == counts.upserted + counts.revised + counts.skipped + counts.rejected
    events = [item async for item in followed.database.scan(EVENT)]
    assert sum(report.upserted for report in followed.reports) == len(events)
    versions = sum(item["revision"] for item in events)
    merged = sum("mergedInto" in item for item in events)  # by a record that revised the other event, or only its ids
    revised = sum(report.revised for report in followed.reports)
    assert len(events) + revised <= versions <= len(events) + revised + merged
    assert revised > sum(report.deleted for report in followed.reports) >= sum(map(is_deleted, events))


@pytest.mark.repeated
@pytest.mark.parametrize("seed", range(rounds(5, at_least=1)))
async def test_two_services_that_follow_usgs_have_its_catalogue_at_any_time(
    engine: str, usgs: UsgsServer, seed: int
) -> None:
    history, chosen = UsgsHistory(seed), random.Random(seed)
    async with following(engine, usgs, history) as followed:
        for step, moment in enumerate(sorted(chosen.sample(history.moments, STEPS))):
            await followed.move_to(moment + chosen.choice([0, 2 * MINUTE_MS]))
            if step % 3 == 0:
                await followed.move_to(history.now + HOUR_MS)
                await assert_it_is_the_truth(followed.database, history)
        for _ in range(2):
            await followed.move_to(max(history.now, history.end) + HOUR_MS)
        await assert_it_is_the_truth(followed.database, history)
        await assert_counts_add_up(followed)


# Killed again and again

KILLS = rounds(20)
MOMENTS = rounds(5, at_least=2)
LATEST_KILL = 8  # requests; a run makes more


@pytest.mark.repeated
async def test_following_that_is_killed_many_times_equals_what_was_never_disturbed(
    engine: str, tmp_path: Path, usgs: UsgsServer
) -> None:
    """Each process ingests what changed, in parts. It is killed when USGS has received a certain request, so always
    in the midst of its work, while it reads one part and stores another. The next one goes on with the rest.
    """
    history, chosen = UsgsHistory(7, events=120, limit=20), random.Random(7)
    usgs.stand_in(history.application)
    clean, killed = [await new_store(engine, new_folder(tmp_path / name), ENTITIES) for name in ("clean", "killed")]
    kills = 0
    for number in range(1, MOMENTS + 1):
        history.now = history.moments[(len(history.moments) - 1) * number // MOMENTS]
        ingest(usgs, clean, tmp_path)
        while kills < KILLS * number // MOMENTS and ingest(
            usgs, killed, tmp_path, kill_at=chosen.randrange(LATEST_KILL)
        ):
            kills += 1
        ingest(usgs, killed, tmp_path)

    assert kills > KILLS // 2
    async with (
        StoreLocation.of(killed).open(ENTITIES, timeout_s=TIMEOUT_S) as database,
        StoreLocation.of(clean).open(ENTITIES, timeout_s=TIMEOUT_S) as undisturbed,
    ):
        assert await contents_of(database) == await contents_of(undisturbed)
        await assert_it_is_the_truth(database, history)


def new_folder(path: Path) -> Path:
    """Make the folder."""
    path.mkdir()
    return path


def ingest(usgs: UsgsServer, store: str, place: Path, *, kill_at: int | None = None) -> bool:
    """Ingest what changed since the beginning, killed at a request or to the end. Returns whether it was killed."""
    usgs.forget_answers()
    received = Event()

    async def note_and_answer(scope: Scope, receive: Receive, send: Send) -> None:
        received.set()
        await usgs.catalogue(scope, receive, send)

    if kill_at is not None:
        usgs.answer_next(*[usgs.catalogue] * kill_at, note_and_answer)
    options = ("--updated-since", "2023-07-01", "--store", store)
    with forked("ingest", *options, folder=place, settings={"GRAPH_USGS_URL": usgs.url}) as process:
        if kill_at is not None:
            received.wait(TIMEOUT_S)
            process.kill()
        process.join(TIMEOUT_S)
        assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0
