"""The store's contract on a SQLite file. See `statements` for its layout and `threads` for who runs it."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from graph.clock import Clock, now_ms
from graph.errors import DatabaseUnavailable
from graph.store.conditions import AllOf, Condition, conjuncts, predicate
from graph.store.contract import UNBOUNDED, Action, Bounds, Delete, Item, Key, KeyValue, Page, Put, Table, Update
from graph.store.design import Index, TableDesign
from graph.store.limits import check_item, check_key
from graph.store.sqlite.statements import Statements, translate
from graph.store.sqlite.threads import Job, Readers, T, Writer

READERS = 4  # threads; SQLite reads of this size are bound by the processor, so more would only queue
BUSY_TIMEOUT_S = 5.0  # how long a write waits for another process that writes
KEYS_A_STATEMENT = 500
ROWS_A_FETCH = 500
SWEEP_EVERY_S = 600.0
SWEEP_AT_ONCE = 1000  # rows, so that a sweep never holds up a write for long


@asynccontextmanager
async def open_sqlite(path: str | Path, design: TableDesign, *, clock: Clock = now_ms) -> AsyncIterator[Table]:
    """Open the table in the file `path`, both created where they are missing."""
    statements = Statements(design)
    try:
        db = await asyncio.to_thread(_connect, path)
    except sqlite3.Error as error:
        raise DatabaseUnavailable(f"SQLite cannot open {path}: {error}") from error
    table = SqliteTable(statements, Writer(db), Readers(lambda: _connect(path, writable=False), READERS), clock)
    sweeper: asyncio.Task[None] | None = None
    try:
        await table.prepare()
        sweeper = asyncio.create_task(table.sweep_forever())
        yield table
    finally:
        if sweeper:
            sweeper.cancel()
        await asyncio.to_thread(table.close)


def _connect(path: str | Path, *, writable: bool = True) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")  # a commit is on the disk before the mutation answers
        if not writable:
            db.execute("PRAGMA query_only = ON")
    except sqlite3.Error:
        db.close()
        raise
    return db


class SqliteTable(Table):
    """One table in one SQLite file."""

    transaction_limit = 1000

    def __init__(self, statements: Statements, writer: Writer, readers: Readers, clock: Clock) -> None:
        self.design = statements.design
        self._sql = statements
        self._writer = writer
        self._readers = readers
        self._clock = clock
        self._columns = {attribute.name: attribute for attribute in statements.columns}

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
        for at in range(0, len(items), self.transaction_limit):
            await self.transact([Put(item) for item in items[at : at + self.transaction_limit]])

    async def update(self, update: Update) -> bool:
        return not await self.transact([update])

    async def delete(self, delete: Delete) -> bool:
        """Remove one item; of one that does not exist there is nothing to remove."""
        check_key(self.design, delete.key)
        return await self._write(lambda db: self._delete(db, delete))

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        for action in actions:
            if isinstance(action, Put):
                check_item(self.design, action.item)
            else:
                check_key(self.design, action.key)

        def job(db: sqlite3.Connection) -> tuple[int, ...]:
            refused = tuple(i for i, action in enumerate(actions) if not self._apply(db, action))
            if refused:
                raise _Refused(refused)
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
        def job(db: sqlite3.Connection) -> Page:
            items: list[Item] = []
            read = 0
            for read, partition in enumerate(partitions, 1):
                wanted = None if limit is None else limit - len(items)
                behind = start if read == 1 else None
                items += self._select(db, index, partition, between, forward, behind, wanted, where)
                if limit is not None and len(items) >= limit:
                    break
            full = bool(items) and limit is not None and len(items) >= limit
            keys = [attribute.name for attribute in self.design.start_attributes(index)]
            return Page(items, {name: items[-1][name] for name in keys} if full else None, read)

        return await self._read(job)

    async def count(
        self,
        index: Index,
        partitions: Sequence[KeyValue],
        *,
        between: Bounds = UNBOUNDED,
        where: Condition | None = None,
    ) -> int:
        narrowing, values, rest = self._narrow(where)
        term, bounds = self._sql.in_partition(index, *between)
        statement = f"SELECT count(*) FROM {self._sql.table} WHERE {term} AND {self._sql.live}{narrowing}"

        def job(db: sqlite3.Connection) -> int:
            if rest:
                return sum(
                    len(self._select(db, index, partition, between, True, None, None, where))
                    for partition in partitions
                )
            return sum(
                db.execute(statement, (partition, *bounds, self._now(), *values)).fetchone()[0]
                for partition in partitions
            )

        return await self._read(job)

    async def scan(self, *, where: Condition | None = None) -> AsyncIterator[Item]:
        matches = predicate(where) if where else None
        last = -1

        def job(db: sqlite3.Connection) -> list[tuple[int, bytes]]:
            return db.execute(self._sql.scan, (last, self._now(), ROWS_A_FETCH)).fetchall()

        while rows := await self._read(job):
            last = rows[-1][0]
            for item in decoded(blob for _, blob in rows):
                if matches is None or matches(item):
                    yield item

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
        self._readers.close()
        self._writer.close()

    def _now(self) -> int | None:
        """What `live` takes: the time in seconds, or anything that is true where nothing expires."""
        return self._clock() // 1000 if self.design.ttl else 1

    async def _read(self, job: Job[T]) -> T:
        try:
            return await self._readers.run(job)
        except sqlite3.Error as error:
            raise DatabaseUnavailable(f"SQLite cannot read: {error}") from error

    async def _write(self, job: Job[T]) -> T:
        try:
            return await self._writer.run(job)
        except sqlite3.Error as error:
            raise DatabaseUnavailable(f"SQLite cannot write: {error}") from error

    def _narrow(self, where: Condition | None) -> tuple[str, list[Any], Condition | None]:
        """Split a filter: terms of SQL with their values, and the part that only the item can tell."""
        terms, values, rest = "", [], []
        for part in conjuncts(where):
            if (translated := translate(part, self._columns)) is None:
                rest.append(part)
            else:
                terms += f" AND {translated[0]}"
                values += translated[1]
        return terms, values, AllOf(tuple(rest)) if rest else None

    def _select(
        self,
        db: sqlite3.Connection,
        index: Index,
        partition: KeyValue,
        between: Bounds,
        forward: bool,
        start: Mapping[str, Any] | None,
        limit: int | None,
        where: Condition | None,
    ) -> list[Item]:
        narrowing, narrowed, rest = self._narrow(where)
        term, bounds = self._sql.in_partition(index, *between)
        behind, position = self._behind(index, start, forward)
        order = ", ".join(f"{column} {'ASC' if forward else 'DESC'}" for column in self._sql.order(index))
        statement = (
            f"SELECT item FROM {self._sql.table} WHERE {term}{behind} AND {self._sql.live}{narrowing} "
            f"ORDER BY {order} LIMIT ?"
        )
        most = -1 if limit is None or rest else limit
        rows = db.execute(statement, (partition, *bounds, *position, self._now(), *narrowed, most))
        if rest is None:
            return decoded(blob for (blob,) in rows)
        matches = predicate(rest)
        return list(islice((item for item in _fetched(rows) if matches(item)), limit))

    def _behind(self, index: Index, start: Mapping[str, Any] | None, forward: bool) -> tuple[str, list[Any]]:
        if start is None:
            return "", []
        names = [attribute.name for attribute in self.design.start_attributes(index)[1:]]
        columns = ", ".join(self._sql.order(index))
        marks = ", ".join("?" * len(names))
        return f" AND ({columns}) {'>' if forward else '<'} ({marks})", [start[name] for name in names]

    def _apply(self, db: sqlite3.Connection, action: Action) -> bool:
        match action:
            case Put(item, if_absent):
                row = (*self._sql.row(item), orjson.dumps(item))
                if if_absent:
                    return db.execute(self._sql.put_if_absent, (*row, self._now())).rowcount == 1
                db.execute(self._sql.put, row)
                return True
            case Update():
                return self._update(db, action)
            case Delete():
                return self._delete(db, action)

    def _update(self, db: sqlite3.Connection, update: Update) -> bool:
        stored = self._stored(db, update.key)
        if stored and self._expired(stored):
            return False
        before = stored or {}
        if update.condition and not predicate(update.condition)(before):
            return False
        item = {
            self.design.partition_key.name: update.key[0],
            self.design.sort_key.name: update.key[1],
            **before,
            **update.set,
            **{name: before.get(name, 0) + number for name, number in update.add.items()},
        }
        check_item(self.design, item)
        db.execute(self._sql.put, (*self._sql.row(item), orjson.dumps(item)))
        return True

    def _delete(self, db: sqlite3.Connection, delete: Delete) -> bool:
        stored = self._stored(db, delete.key)
        if stored is None or self._expired(stored):
            return False
        if delete.condition and not predicate(delete.condition)(stored):
            return False
        db.execute(self._sql.delete, delete.key)
        return True

    def _stored(self, db: sqlite3.Connection, key: Key) -> Item | None:
        """The item as it stands in the file, expired or not."""
        found = db.execute(f"SELECT item FROM {self._sql.table} WHERE {self._sql.has_key}", key).fetchone()
        return orjson.loads(found[0]) if found else None

    def _expired(self, item: Item) -> bool:
        ttl = item.get(self.design.ttl) if self.design.ttl else None
        return isinstance(ttl, int | float) and ttl <= self._clock() // 1000


class _Refused(Exception):
    """Raised inside a transaction to undo it, with the positions of the actions that did not apply."""

    def __init__(self, positions: tuple[int, ...]) -> None:
        super().__init__(positions)
        self.positions = positions


def decoded(blobs: Iterator[bytes]) -> list[Item]:
    """Many items in one call of the JSON parser, which costs half of one call each."""
    items: list[Item] = orjson.loads(b"[" + b",".join(blobs) + b"]")
    return items


def _fetched(rows: sqlite3.Cursor) -> Iterator[Item]:
    while some := rows.fetchmany(ROWS_A_FETCH):
        yield from decoded(blob for (blob,) in some)
