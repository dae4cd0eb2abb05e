"""Ingests that are killed again and again leave what others leave, and payloads that rebuild it.

Two services that follow a simulated USGS at once have its catalogue, all along.
"""

import os
import random
import signal
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread

import orjson
import pytest

from graph.domains.earthquakes.entities import EVENT, REVISION
from graph.domains.earthquakes.ingest.changes import follow_forever
from graph.domains.earthquakes.ingest.polling import poll_forever
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.model import is_deleted
from graph.domains.payloads.folder import places_in
from graph.store.sqlite import open_sqlite
from graph.work.tasks import BackgroundTasks
from tests.domains.earthquakes.ingest.ingests import Station, a_station, an_ingest, counted_in, recounted
from tests.domains.earthquakes.ingest.truth import assert_it_is_the_truth, contents_of
from tests.domains.earthquakes.usgs.usgs_history import HOUR_MS, MINUTE_MS, UsgsHistory
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, week_features
from tests.domains.entities import ENTITIES
from tests.domains.payloads.kept import catalogue_in, rebuilt
from tests.effort import rounds
from tests.forking import forked
from tests.held_time import HeldTime
from tests.processes import TIMEOUT_S
from tests.store.engines import empty_database

KILLS = rounds(10, at_least=2)  # of each of the two ingests
COPIES = rounds(4, at_least=2)  # of the real week, each half a year before the one before
HALF_A_YEAR_MS = 183 * 86_400_000
MORE_BYTES = 1024 * 1024  # which an ingest reads at a time
NEVER = 2**62
A_COMMIT_BYTES = 256 * 1024  # at least, of a thousand events, in the journal


@pytest.mark.repeated
async def test_ingests_killed_many_times_and_then_finished_equal_clean_ones_and_their_payloads_rebuild_them(
    tmp_path: Path,
) -> None:
    """The first one inserts, and the second one revises every third event and updates the others in place."""
    clean, killed = (Ingests(tmp_path / name) for name in ("clean", "killed"))
    chosen, stored = random.Random(20230803), [0]
    for content in (catalogue(), catalogue(later=1)):
        clean.ingest(content)
        for number in range(1, KILLS + 1):
            begun = content[: len(content) * number // (KILLS + 1) + MORE_BYTES]
            most_bytes = NEVER if number % 2 else chosen.randrange(A_COMMIT_BYTES)
            killed.ingest(begun, is_killed=True, journal_bytes=None if number == 1 else most_bytes)
            stored.append(killed.versions())
            assert stored[-2] <= stored[-1]
        await killed.assert_payloads_have_what_is_stored()
        killed.ingest(content)

    assert len(set(stored)) > 2  # the kills hit ingests that were at different points
    assert any(place.part.exists() for place in places_in(killed.kept))
    async with (
        open_sqlite(killed.store, ENTITIES) as database,
        open_sqlite(clean.store, ENTITIES) as undisturbed,
        rebuilt("sqlite", killed.kept) as (again, _),
    ):
        assert await contents_of(database) == await contents_of(undisturbed)
        assert await counted_in(database) == await recounted(database)
        ours, theirs = await catalogue_in(database), await catalogue_in(again)
        assert (sorted(ours - theirs), sorted(theirs - ours)) == ([], [])


def catalogue(*, later: int = 0) -> bytes:
    """The week's events, a feature a line, as USGS has them at first, or as it revised them."""

    def lines() -> Iterator[bytes]:
        for copy in range(COPIES):
            for number, feature in enumerate(week_features()):
                event_id, properties = f"{feature['id']}-{copy}", dict(feature["properties"])
                properties |= {"time": properties["time"] - copy * HALF_A_YEAR_MS, "ids": f",{event_id},"}
                properties["updated"] += later
                if later and number % 3 == 0:
                    properties["mag"] = 1.005
                yield orjson.dumps({**feature, "id": event_id, "properties": properties}) + b"\n"

    return b"".join(lines())


class Ingests:
    """Ingests in processes of their own into a store in a folder, which keep their payloads there."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._pipe = folder / "pipe"
        os.mkfifo(self._pipe)
        self.store, self.kept = folder / "store.db", folder / "kept"

    def ingest(self, content: bytes, *, is_killed: bool = False, journal_bytes: int | None = None) -> None:
        """Ingest the content. With more to come, kill the process when it has stored some.

        Args:
            journal_bytes: kill it when its journal has more, or it has taken all.
        """
        reading, taken, ended, before = Event(), Event(), Event(), self.versions()

        def feed() -> None:
            with suppress(BrokenPipeError), self._pipe.open("wb") as stream:
                reading.set()
                stream.write(content)
                stream.flush()
                taken.set()
                if is_killed:
                    ended.wait(TIMEOUT_S)

        options = ("ingest", str(self._pipe), "--store", f"sqlite:///{self.store}")
        keeping = {"GRAPH_KEEP_PAYLOADS": str(self.kept)}
        feeding = Thread(target=feed, daemon=True)
        feeding.start()
        with forked(*options, folder=self._folder, settings=keeping) as process:
            if not is_killed:
                process.join(TIMEOUT_S)
            else:
                assert reading.wait(TIMEOUT_S)
                if journal_bytes is None:
                    while self.versions() == before:
                        assert process.is_alive()
                else:
                    while not taken.wait(0.0002) and self._bytes_of_journal() <= journal_bytes:
                        pass
                process.kill()
                process.join()
            assert process.exitcode == (-signal.SIGKILL if is_killed else 0)
        ended.set()
        feeding.join()

    def _bytes_of_journal(self) -> int:
        """The size of SQLite's write-ahead log, which grows page by page while a transaction is committed."""
        try:
            return self.store.with_name(f"{self.store.name}-wal").stat().st_size
        except FileNotFoundError:
            return 0

    def versions(self) -> int:
        """How many versions of events are stored, also while a process stores some."""
        tables = [f"{entity.table.name}.{entity.name}" for entity in (EVENT, REVISION)]
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(f"file:{self.store}?mode=rw", uri=True)) as db:
            return sum(db.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0] for table in tables)  # noqa: S608
        return 0  # there is no store yet

    async def assert_payloads_have_what_is_stored(self) -> None:
        """Check the versions against what is rebuilt. The last transaction may have been kept and not stored."""
        async with open_sqlite(self.store, ENTITIES) as database, rebuilt("sqlite", self.kept) as (again, _):
            for entity in (EVENT, REVISION):
                stored = {entity.key_of(item) async for item in database.scan(entity)}
                assert stored <= {entity.key_of(item) async for item in again.scan(entity)}


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
