"""Opens a SQLite file with its connections and threads, and closes them."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import TypeVar

from graph.core.clock import Clock, now_ms
from graph.core.errors import DatabaseUnavailable
from graph.store.contract import Database
from graph.store.entity import Entity
from graph.store.meter import Meter
from graph.store.sqlite.claiming import ForeignFile, claim
from graph.store.sqlite.engine import SqliteDatabase
from graph.store.sqlite.integrity import Integrity, is_damage
from graph.store.sqlite.layout import OtherLayout, prepare
from graph.store.sqlite.short_reads import ShortReads
from graph.store.sqlite.table import EntityTable
from graph.store.sqlite.threads import ReadConnection, Readers, Writer
from graph.work.tasks import BackgroundTasks

C = TypeVar("C", bound=sqlite3.Connection)

READERS = 2  # threads; they and the loop need the interpreter for each row, so more would only delay each other
BUSY_S = 2.0
CACHE_KIB = 8 * 1024  # of each connection; SQLite's own 2 MiB hold too little of an index of a million events
PAGES_PER_CHECKPOINT = 4000  # of 4 KiB in the write-ahead log; an import writes most pages again and again


@asynccontextmanager
async def open_sqlite(
    path: str | Path,
    entities: Collection[Entity],
    *,
    clock: Clock = now_ms,
    meter: Meter | None = None,
    busy_s: float = BUSY_S,
) -> AsyncIterator[Database]:
    """Open the tables of entities in the file `path`. Missing ones are created.

    A file of another application or of another layout is not touched.

    Args:
        busy_s: seconds that a write waits for another process's write.
    """
    tables = {entity: EntityTable(entity) for entity in entities}
    connect_reader = partial(_connect, path, busy_s, ReadConnection)
    try:
        await asyncio.to_thread(claim, Path(path))
        db = await asyncio.to_thread(_connect, path, busy_s, sqlite3.Connection)
        short = ShortReads(await asyncio.to_thread(connect_reader))
        reading = [await asyncio.to_thread(connect_reader) for _ in range(READERS)]
        integrity = await asyncio.to_thread(Integrity, path)
    except (sqlite3.Error, OSError, ForeignFile) as error:
        raise DatabaseUnavailable(f"SQLite cannot open {path}: {error}") from error
    try:
        try:
            await _prepare(db, tables.values())
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            integrity.notice(error)  # a damaged file is served as far as possible
    except BaseException as error:
        for reader in reading:
            reader.close()
        for connection in (short, db, integrity):
            connection.close()
        if isinstance(error, sqlite3.Error | OtherLayout):
            raise DatabaseUnavailable(f"SQLite cannot open {path}: {error}") from error
        raise
    writer, readers = Writer(db, integrity.check_place), Readers(reading)
    if meter:
        meter.pool("writer", 1, writer.use)
        meter.pool("readers", READERS, readers.use)
    database = SqliteDatabase(tables, writer, short, readers, integrity, clock)
    try:
        async with BackgroundTasks() as tasks:
            tasks.start("sweeping", database.sweep_forever)
            yield database
    finally:
        await database.close()


async def _prepare(db: sqlite3.Connection, tables: Iterable[EntityTable]) -> None:
    stopped = Event()
    preparing = asyncio.create_task(asyncio.to_thread(prepare, db, tables, stopped.is_set))
    try:
        await asyncio.shield(preparing)
    except asyncio.CancelledError:
        stopped.set()
        await asyncio.wait([preparing])
        raise


def _connect(path: str | Path, busy_s: float, kind: type[C]) -> C:
    mode = "rw" if kind is ReadConnection else "rwc"  # a reader must not create a lost file again
    uri = f"{Path(path).absolute().as_uri()}?mode={mode}"
    db = sqlite3.connect(uri, uri=True, timeout=busy_s, isolation_level=None, check_same_thread=False, factory=kind)
    pragmas = [
        "journal_mode = WAL",
        "synchronous = FULL",  # a commit is on the disk before the mutation is answered
        f"cache_size = -{CACHE_KIB}",
        f"wal_autocheckpoint = {PAGES_PER_CHECKPOINT}",
        *(["query_only = ON"] if kind is ReadConnection else []),
    ]
    try:
        for pragma in pragmas:
            try:
                db.execute(f"PRAGMA {pragma}")
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CORRUPT:
                    raise
                # With a damaged schema nothing can be read. The service starts all the same, and `/readyz` reports it.
    except sqlite3.Error:
        db.close()
        raise
    return db
