"""Fills a store with the files and runs of a world, without the service.

The domain's own code makes the items, and they are put in bulk. That takes a minute for a million edges; transactions
would take five. At the end, some of the files and runs are registered again by the domain: it must know them all.
"""

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from benchmarks.cache import CACHE
from benchmarks.data_files.world import PRODUCTS, START, World, file_of
from benchmarks.stores import made_once
from benchmarks.triggers.stores import done
from graph.core.clock import now_ms
from graph.domain import entities_of
from graph.domains import DOMAINS
from graph.domains.data_files.checking import drafted
from graph.domains.data_files.claims import MAKER
from graph.domains.data_files.counts import CounterChanges
from graph.domains.data_files.entities import ENTITIES, FILE_REVISION, RUN, USED
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.provenance.reports import RunReport, run_after
from graph.domains.data_files.references import Version
from graph.domains.data_files.registering import Registration
from graph.domains.data_files.times import time_text
from graph.domains.data_files.writes import write_of
from graph.store.contract import Put
from graph.store.sqlite import open_sqlite

T = TypeVar("T")

AT_ONCE = 1000  # files or runs
TOLD_AGAIN = 200
REPORT = "00000000"  # which brought the edges of each run


def filled(world: World, path: Path) -> None:
    """Copy the store with a world's files, which is made once, and again when the form of the items changes."""
    form = hashlib.sha256(repr(ENTITIES).encode()).hexdigest()[:8]
    kept = CACHE / f"data-files-{world.days}-{form}.db"
    for other in set(CACHE.glob(f"data-files-{world.days}-*.db")) - {kept}:
        other.unlink()
    shutil.copyfile(made_once(kept, lambda scratch: make(world, scratch)), path)


def make(world: World, path: Path) -> None:
    """Fill a store, which has no data files yet."""
    done(_fill(world, path))
    done(_tell_again(world, path))
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


async def _fill(world: World, path: Path) -> None:
    used = frozenset(file.name for run in world.runs() for file in run.used)
    counts = CounterChanges()
    async with open_sqlite(path, entities_of(DOMAINS)) as database:
        for files in _parts(world.originals()):
            await database.put_many([put for file in files for put in _of_file(file, counts, used)])
        for runs in _parts(world.runs()):
            await database.put_many([put for run in runs for put in _of_run(run, counts, used)])
        for update in counts.updates():
            await database.update(update)


async def store_files(world: World, path: Path) -> None:
    """Store the files of a world, without runs."""
    counts = CounterChanges()
    granules = (
        file_of(granule) for day in range(world.days) for level in PRODUCTS for granule in world.granules(level, day)
    )
    async with open_sqlite(path, entities_of(DOMAINS)) as database:
        for files in _parts(chain(world.originals(), granules)):
            await database.put_many([put for file in files for put in _of_file(file, counts, frozenset())])
        for update in counts.updates():
            await database.update(update)


def _of_file(file: NewFile, counts: CounterChanges, used: frozenset[str], run_id: str | None = None) -> Iterator[Put]:
    at = time_text(file.archive_time or START)
    write = write_of(drafted(file), None, {}, at=at, is_made=run_id is not None, is_used=file.name in used)
    counts.merge(write.counts)
    for action in write.actions:
        assert isinstance(action, Put)
        made = {MAKER: run_id} if run_id and action.entity is FILE_REVISION else {}
        yield Put(action.entity, {**action.item, **made}, is_checked=True)


def _of_run(run: RunReport, counts: CounterChanges, used: frozenset[str]) -> Iterator[Put]:
    assert run.run_id is not None
    assert run.ended_at is not None
    item = run_after(None, run, run.run_id, at=time_text(run.ended_at))
    item |= {
        "used": [Version(file.name, 1).reference for file in run.used],
        "generated": [Version(file.name, 1).reference for file in run.generated],
        "reports": [REPORT],
        "revision": 1,
    }
    yield Put(RUN, item)
    for reference in item["used"]:
        yield Put(USED, {"used": reference, "run-id": run.run_id, "report": REPORT}, is_checked=True)
    for file in run.generated:
        yield from _of_file(file, counts, used, run.run_id)


async def _tell_again(world: World, path: Path) -> None:
    """Register and record what is there already: that must change nothing."""
    async with open_sqlite(path, entities_of(DOMAINS)) as database:
        again = list(islice(world.originals(), TOLD_AGAIN))
        registered = await Registration(database, now_ms).register(again)
        runs = Runs(database, now_ms)
        recorded = [await runs.record(run) for run in islice(world.runs(), TOLD_AGAIN)]
    if registered.skipped < len(again) or any(run.item["revision"] > 1 for run in recorded):
        raise RuntimeError("the domain does not know what was stored")


def _parts(items: Iterator[T]) -> Iterator[list[T]]:
    while some := list(islice(items, AT_ONCE)):
        yield some
