"""A simulated USGS is followed by two services at once: their catalogue is that of USGS, all along."""

import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import pytest

from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.ingest.changes import follow_forever
from graph.domains.earthquakes.ingest.polling import poll_forever
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.model import is_deleted
from graph.work.tasks import BackgroundTasks
from tests.domains.earthquakes.ingest.ingests import Station, a_station, an_ingest
from tests.domains.earthquakes.ingest.truth import assert_it_is_the_truth
from tests.domains.earthquakes.usgs.usgs_history import HOUR_MS, MINUTE_MS, UsgsHistory
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.entities import ENTITIES
from tests.effort import rounds
from tests.held_time import HeldTime
from tests.store.engines import empty_database

SERVICES = 2
STEPS = rounds(60, at_least=9)


class Followed:
    """A store that two services keep up with USGS. Each has leases of its own, so that both poll at the same time."""

    def __init__(self, station: Station, history: UsgsHistory, time: HeldTime) -> None:
        self.database = station.database
        self.history = history
        self._time = time
        self.reports: list[IngestReport] = []

    def observe(self, route: str, report: IngestReport, code: str) -> None:
        """Keep the report of an ingest."""
        assert code == "OK"
        self.reports.append(report)

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
            ingest = an_ingest(station.database, station.http, usgs.url, [], time, followed.observe)
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
