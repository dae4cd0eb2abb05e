"""Wherever an ingest breaks off, and however many run at once: every event is there once, and counted once."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest

from graph.core.days import DAY_MS
from graph.core.errors import DatabaseUnavailable
from graph.domains.earthquakes.usgs.requests import RecentEvents, UsgsFeed
from graph.store.contract import Action, Database
from graph.store.location import StoreLocation
from tests.domains.earthquakes.ingest.ingests import (
    NOW,
    Station,
    a_feature,
    an_ingest,
    events_in,
    file_of,
    logs_in,
    recounted,
    summaries_in,
)
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, week_features
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.processes import TIMEOUT_S
from tests.store.engines import new_store

MANY_DAYS = [a_feature(f"us{n}", mag=n % 70 / 10, time=NOW - n % 40 * DAY_MS) for n in range(240)]


# A store that fails


class Breaking(WatchedDatabase):
    """Fails once, at one of its transactions, which are small: before it is applied, or when it is and nobody hears."""

    def __init__(self, database: Database, failing: int, *, applied: bool) -> None:
        super().__init__(database)
        self.transaction_limit = 20
        self._before_failure = failing
        self._applied = applied

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        self._before_failure -= 1
        if self._before_failure:
            return await super().transact(actions)
        if self._applied:
            await super().transact(actions)
        raise DatabaseUnavailable("the connection was lost")


@pytest.mark.parametrize("failing", [1, 2, 9, 14])
@pytest.mark.parametrize("applied", [False, True], ids=["refused", "answer lost"])
async def test_an_ingest_that_breaks_off_leaves_nothing_uncounted_and_is_finished_by_the_next(
    station: Station, failing: int, applied: bool
) -> None:
    breaking = Breaking(station.database, failing, applied=applied)

    with pytest.raises(DatabaseUnavailable):
        await station.ingest_into(breaking).file(file_of(MANY_DAYS))

    stored = len(await events_in(station.database))
    (log,) = await logs_in(station.database)
    assert log["fetched"] == log["upserted"]
    assert (stored > log["upserted"]) == applied
    assert stored < 240
    assert await summaries_in(station.database) == await recounted(station.database)

    report = await station.ingest_into(breaking).file(file_of(MANY_DAYS))

    assert (report.fetched, report.upserted, report.skipped) == (240, 240 - stored, stored)
    assert len(await events_in(station.database)) == 240
    assert await summaries_in(station.database) == await recounted(station.database)


# Several at once


@asynccontextmanager
async def one_table(engine: str, folder: Path, connections: int) -> AsyncIterator[list[Database]]:
    """One empty table through several connections of their own, as several processes have."""
    location = StoreLocation.of(await new_store(engine, folder, ENTITIES))
    async with AsyncExitStack() as stack:
        # Five ingests of a week at once are more than an emulator answers in the usual two seconds.
        opening = [location.open(ENTITIES, timeout_s=TIMEOUT_S) for _ in range(connections)]
        yield [await stack.enter_async_context(database) for database in opening]


@pytest.mark.parametrize("ingests", [2, 5])
async def test_ingests_of_the_same_week_at_once_lose_nothing_and_count_each_insert_once(
    engine: str, usgs: UsgsServer, tmp_path: Path, ingests: int
) -> None:
    usgs.forget()
    features = week_features()[::2]  # two chunks of an ingest
    usgs.hold(features)
    async with one_table(engine, tmp_path, ingests) as databases, httpx.AsyncClient(trust_env=False) as http:
        reports = await asyncio.gather(
            *[
                an_ingest(database, http, usgs.url, []).recent(RecentEvents(feed=UsgsFeed.ALL_WEEK))
                for database in databases
            ]
        )

        assert [report.fetched for report in reports] == [len(features)] * ingests
        assert [report.upserted + report.skipped for report in reports] == [len(features)] * ingests
        assert sum(report.upserted for report in reports) == len(features)
        assert (await events_in(databases[0])).keys() == {feature["id"] for feature in features}
        assert await summaries_in(databases[0]) == await recounted(databases[0])
