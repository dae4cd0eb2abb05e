"""The store's contract on a SQLite file. See `statements` for its layout and `threads` for who runs it."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from graph.clock import Clock, now_ms
from graph.errors import DatabaseUnavailable
from graph.recent import Recent
from graph.store.conditions import Condition, predicate
from graph.store.contract import (
    UNBOUNDED,
    Action,
    Bounds,
    Delete,
    InvalidItem,
    Item,
    KeptItem,
    Key,
    KeyValue,
    Page,
    Put,
    Table,
    Update,
)
from graph.store.design import Index, TableDesign
from graph.store.limits import check_actions, check_key
from graph.store.meter import Meter
from graph.store.sqlite.actions import apply
from graph.store.sqlite.changes import changes
from graph.store.sqlite.query import ROWS_A_FETCH, Query, decoded
from graph.store.sqlite.short_reads import Lengthy, ShortReads
from graph.store.sqlite.statements import Statements
from graph.store.sqlite.threads import Job, Readers, T, Writer

READERS = 4  # threads; SQLite reads of this size are bound by the processor, so more would only queue
BUSY_S = 2.0
KEYS_A_STATEMENT = 500
ITEMS_REMEMBERED = 4096  # some 10 MB; clients ask for the newest above all, again and again
CACHE_KIB = 8 * 1024  # of each connection; SQLite's own 2 MiB hold too little of an index of a million events
PAGES_A_CHECKPOINT = 4000  # of 4 KiB in the write-ahead log; an import writes most pages again and again
SWEEP_EVERY_S = 600.0
SWEEP_AT_ONCE = 1000  # rows, so that a sweep never holds up a write for long


@asynccontextmanager
async def open_sqlite(
    path: str | Path,
    design: TableDesign,
    *,
    clock: Clock = now_ms,
    meter: Meter | None = None,
    busy_s: float = BUSY_S,
) -> AsyncIterator[Table]:
    """Open the table in the file `path`, both created where they are missing.

    Args:
        busy_s: seconds that a write waits for another process that writes.
    """
    statements = Statements(design)
    try:
        db = await asyncio.to_thread(_connect, path, busy_s)
        short = ShortReads(await asyncio.to_thread(_connect, path, busy_s, writable=False))
    except sqlite3.Error as error:
        raise DatabaseUnavailable(f"SQLite cannot open {path}: {error}") from error
    writer, readers = Writer(db), Readers(lambda: _connect(path, busy_s, writable=False), READERS)
    if meter:
        meter.pool("writer", 1, writer.use)
        meter.pool("readers", READERS, readers.use)
    table = SqliteTable(statements, writer, short, readers, clock)
    sweeper: asyncio.Task[None] | None = None
    try:
        await table.prepare()
        sweeper = asyncio.create_task(table.sweep_forever())
        yield table
    finally:
        if sweeper:
            sweeper.cancel()
        await asyncio.to_thread(table.close)


def _connect(path: str | Path, busy_s: float, *, writable: bool = True) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=busy_s, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")  # a commit is on the disk before the mutation answers
        db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        db.execute(f"PRAGMA wal_autocheckpoint = {PAGES_A_CHECKPOINT}")
        if not writable:
            db.execute("PRAGMA query_only = ON")
    except sqlite3.Error:
        db.close()
        raise
    return db


class SqliteTable(Table):
    """One table in one SQLite file."""

    transaction_limit = 1000
    in_order = True  # by the one thread that writes

    def __init__(
        self, statements: Statements, writer: Writer, short: ShortReads, readers: Readers, clock: Clock
    ) -> None:
        self.design = statements.design
        self._sql = statements
        self._writer = writer
        self._short = short
        self._readers = readers
        self._clock = clock
        self._recent: Recent[bytes, KeptItem] = Recent(ITEMS_REMEMBERED)  # JSON → item

    async def get(self, key: Key) -> Item | None:
        check_key(self.design, key)

        def job(db: sqlite3.Connection) -> Item | None:
            found = db.execute(self._sql.get, (*key, self._now())).fetchone()
            return orjson.loads(found[0]) if found else None

        return await self._read(job)

    async def get_many(self, keys: Collection[Key], *, only: Collection[str] | None = None) -> dict[Key, Item]:
        for key in keys:
            check_key(self.design, key)
        pk, sk = self.design.partition_key.name, self.design.sort_key.name
        keys_alone = only is not None and {pk, sk}.issuperset(only)

        def read(p: KeyValue, s: KeyValue, item: bytes) -> Item:
            whole = {pk: p, sk: s} if keys_alone else orjson.loads(item)
            return whole if only is None else {name: whole[name] for name in only if name in whole}

        def job(db: sqlite3.Connection) -> dict[Key, Item]:
            found: dict[Key, Item] = {}
            rest = iter(keys)
            while some := list(islice(rest, KEYS_A_STATEMENT)):
                values = [value for key in some for value in key]
                rows = db.execute(self._sql.get_many(len(some)), (*values, self._now()))
                found |= {(p, s): read(p, s, item) for p, s, item in rows}
            return found

        return await self._read(job)

    async def put(self, item: Item, *, if_absent: bool = False) -> bool:
        return not await self.transact([Put(item, if_absent)])

    async def put_many(self, items: Sequence[Item]) -> None:
        puts = [Put(item) for item in items]
        # A thousand request logs take 2 ms to check, for which nobody on the loop need wait.
        await asyncio.to_thread(check_actions, self.design, puts, len(puts))
        for at in range(0, len(puts), self.transaction_limit):
            await self._apply(puts[at : at + self.transaction_limit])

    async def update(self, update: Update) -> bool:
        return not await self.transact([update])

    async def delete(self, delete: Delete) -> bool:
        return not await self.transact([delete])

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        check_actions(self.design, actions, self.transaction_limit)
        return await self._apply(actions)

    async def _apply(self, actions: Sequence[Action]) -> tuple[int, ...]:
        """Apply what was checked."""
        now = self._now()

        def job(db: sqlite3.Connection) -> tuple[int, ...]:
            if refused := apply(db, self._sql, actions, now):
                raise _Refused(tuple(refused))
            return ()

        try:
            return await self._write(job)
        except _Refused as error:
            return error.positions

    async def query(
        self,
        index: Index,
        partition: KeyValue,
        *,
        between: Bounds = UNBOUNDED,
        forward: bool = True,
        start: Mapping[str, Any] | None = None,
        limit: int | None = None,
        where: Condition | None = None,
    ) -> Page:
        return await self.query_many(
            index, [partition], between=between, forward=forward, start=start, limit=limit, where=where
        )

    async def query_many(
        self,
        index: Index,
        partitions: Sequence[KeyValue],
        *,
        between: Bounds = UNBOUNDED,
        forward: bool = True,
        start: Mapping[str, Any] | None = None,
        limit: int | None = None,
        where: Condition | None = None,
    ) -> Page:
        if limit is not None and limit < 1:
            raise InvalidItem("a page has room for one item at least")

        wanted = Query(self._sql, self._recent, index, between, forward, where)
        keys = [attribute.name for attribute in self.design.start_attributes(index)]

        def job(db: sqlite3.Connection) -> Page:
            items: list[Item] = []
            read = 0
            for run in _runs(partitions, start is not None):
                rest = None if limit is None else limit - len(items)
                items += wanted.read(db, run, self._now(), None if read else start, rest)
                if limit is not None and len(items) >= limit:
                    last_key = {name: items[-1][name] for name in keys}
                    return Page(items, last_key, read + run.index(last_key[index.partition_key.name]) + 1)
                read += len(run)
            return Page(items, None, read)

        return await self._read(job)

    async def count(
        self,
        index: Index,
        partitions: Sequence[KeyValue],
        *,
        between: Bounds = UNBOUNDED,
        where: Condition | None = None,
    ) -> int:
        wanted = Query(self._sql, self._recent, index, between, True, where)
        return await self._read(lambda db: wanted.count(db, partitions, self._now()) if partitions else 0)

    async def scan(self, *, where: Condition | None = None) -> AsyncIterator[Item]:
        matches = predicate(where) if where else None
        last = -1

        def job(db: sqlite3.Connection) -> list[tuple[int, bytes]]:
            return db.execute(self._sql.scan, (last, self._now(), ROWS_A_FETCH)).fetchall()

        while rows := await self._read(job, short=False):  # on the loop, one after the other would hold it up
            last = rows[-1][0]
            for item in decoded([blob for _, blob in rows]):
                if matches is None or matches(item):
                    yield item

    async def revision(self) -> object | None:
        def job(db: sqlite3.Connection) -> int:
            return int(db.execute("PRAGMA data_version").fetchone()[0])

        try:
            return self._short.read(job)
        except Lengthy:
            return None

    def changes(self) -> AsyncGenerator[None, None]:
        return changes(self.revision)

    async def ping(self) -> None:
        await self._read(lambda db: db.execute(f"SELECT 1 FROM {self._sql.table} LIMIT 1").fetchone())

    async def prepare(self) -> None:
        """Create the table, or bring that of an older file up to its design."""
        await self._write(self._sql.migrate)

    async def sweep_forever(self) -> None:
        """Delete expired items for good, which no reading returns already."""
        if (statement := self._sql.sweep) is None:
            return

        def job(db: sqlite3.Connection) -> int:
            return db.execute(statement, (self._now(), SWEEP_AT_ONCE)).rowcount

        while True:
            with suppress(DatabaseUnavailable):  # The next round makes up for it.
                while await self._write(job) == SWEEP_AT_ONCE:
                    pass
            await asyncio.sleep(SWEEP_EVERY_S)

    def close(self) -> None:
        """Finish what is under way and close the file. Blocks."""
        self._short.close()
        self._readers.close()
        self._writer.close()

    def _now(self) -> int:
        """The time in seconds, which is how TTLs are told."""
        return self._clock() // 1000

    async def _read(self, job: Job[T], *, short: bool = True) -> T:
        try:
            if short:
                with suppress(Lengthy):
                    return self._short.read(job)
            return await self._readers.run(job)
        except sqlite3.Error as error:
            raise DatabaseUnavailable(f"SQLite cannot read: {error}") from error

    async def _write(self, job: Job[T]) -> T:
        try:
            return await self._writer.run(job)
        except sqlite3.Error as error:
            raise DatabaseUnavailable(f"SQLite cannot write: {error}") from error


def _runs(partitions: Sequence[KeyValue], first_alone: bool) -> Iterator[Sequence[KeyValue]]:
    """The partitions in runs that ascend or descend, each of which one statement can read in order."""
    begin, end = 0, 1
    while begin < len(partitions):
        ascending = end < len(partitions) and partitions[begin] < partitions[end]  # type: ignore[operator]
        while end < len(partitions) and not (first_alone and begin == 0):
            if (partitions[end - 1] < partitions[end]) is not ascending:  # type: ignore[operator]  # of one type
                break
            end += 1
        yield partitions[begin:end]
        begin, end = end, end + 1


class _Refused(Exception):
    """Raised inside a transaction to undo it, with the positions of the actions that did not apply."""

    def __init__(self, positions: tuple[int, ...]) -> None:
        super().__init__(positions)
        self.positions = positions
