"""The store's contract on a SQLite file. See `statements` for its layout and `threads` for who runs it."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

import orjson

from graph.core.clock import Clock
from graph.core.errors import DatabaseUnavailable
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
from graph.store.design import Index
from graph.store.limits import check_actions, check_key
from graph.store.sqlite.actions import apply
from graph.store.sqlite.changes import changes
from graph.store.sqlite.integrity import Integrity, forgetting_damage
from graph.store.sqlite.query import ROWS_A_SLICE, Query, decoded
from graph.store.sqlite.recent import Recent
from graph.store.sqlite.short_reads import Lengthy, ShortReads
from graph.store.sqlite.statements import Statements
from graph.store.sqlite.threads import Job, ReadConnection, Readers, ReadJob, T, Writer
from graph.work.account import is_heavy

KEYS_A_STATEMENT = 500
ITEMS_REMEMBERED = 4096  # some 10 MB; clients ask for the newest above all, again and again
SWEEP_EVERY_S = 600.0
SWEEP_AT_ONCE = 1000  # rows, so that a sweep never holds up a write for long


class SqliteTable(Table):
    """One table in one SQLite file."""

    transaction_limit = 1000
    in_order = True  # by the one thread that writes

    def __init__(
        self,
        statements: Statements,
        writer: Writer,
        short: ShortReads,
        readers: Readers,
        integrity: Integrity,
        clock: Clock,
    ) -> None:
        self.design = statements.design
        self._sql = statements
        self._writer = writer
        self._short = short
        self._readers = readers
        self._integrity = integrity
        self._clock = clock
        self._recent: Recent[bytes, KeptItem] = Recent(ITEMS_REMEMBERED)  # JSON → item

    async def get(self, key: Key) -> Item | None:
        check_key(self.design, key)

        def job(db: ReadConnection) -> Item | None:
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

        def job(db: ReadConnection, some: list[Key]) -> dict[Key, Item]:
            values = [value for key in some for value in key]
            rows = db.execute(self._sql.get_many(len(some)), (*values, self._now())).fetchall()
            if not keys_alone:
                db.before_decoding(len(rows))
            return {(p, s): read(p, s, item) for p, s, item in rows}

        found: dict[Key, Item] = {}
        rest = iter(keys)
        while some := list(islice(rest, KEYS_A_STATEMENT)):
            found |= await self._read(partial(job, some=some))
        return found

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
        items = [item async for some in self._slices(wanted, partitions, start, limit) for item in some]
        if limit is None or len(items) < limit:
            return Page(items, None, len(partitions))
        last_key = {a.name: items[limit - 1][a.name] for a in self.design.start_attributes(index)}
        return Page(items[:limit], last_key, partitions.index(last_key[index.partition_key.name]) + 1)

    async def count(
        self,
        index: Index,
        partitions: Sequence[KeyValue],
        *,
        between: Bounds = UNBOUNDED,
        where: Condition | None = None,
    ) -> int:
        wanted = Query(self._sql, self._recent, index, between, True, where)
        if wanted.tests_items:
            return sum([len(some) async for some in self._slices(wanted, partitions, None, None)])
        return await self._read(lambda db: wanted.count(db, partitions, self._now()) if partitions else 0)

    async def _slices(
        self, wanted: Query, partitions: Sequence[KeyValue], start: Mapping[str, Any] | None, limit: int | None
    ) -> AsyncIterator[list[Item]]:
        """What a query reads, job by job, until it has found `limit` items or the end."""
        found = 0
        while partitions:
            rest = None if limit is None else limit - found
            some = await self._read(
                partial(wanted.read, partitions=partitions, now=self._now(), start=start, limit=rest)
            )
            yield some.items
            found += len(some.items)
            if some.last_row is None or (limit is not None and found >= limit):
                return
            start = some.last_row
            partitions = partitions[partitions.index(start[wanted.partition_key]) :]

    async def scan(self, *, where: Condition | None = None) -> AsyncIterator[Item]:
        matches = predicate(where) if where else None
        last = -1

        def job(db: ReadConnection) -> list[tuple[int, bytes]]:
            return db.execute(self._sql.scan, (last, self._now(), ROWS_A_SLICE)).fetchall()

        while rows := await self._read(job, short=False):  # on the loop, one after the other would hold it up
            last = rows[-1][0]
            for item in decoded([blob for _, blob in rows]):
                if matches is None or matches(item):
                    yield item

    async def revision(self) -> object | None:
        def job(db: ReadConnection) -> int:
            return int(db.execute("PRAGMA data_version").fetchone()[0])

        try:
            return self._short.read(job)
        except Lengthy:
            return None

    def changes(self) -> AsyncGenerator[None, None]:
        return changes(self.revision)

    async def ping(self) -> None:
        await self._integrity.verify()
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

    async def close(self) -> None:
        """Finish what is under way and close the file."""
        self._integrity.stop()
        self._short.close()  # here, as a read of the loop's own may come before the others have finished
        await asyncio.to_thread(self._close_others)

    def _close_others(self) -> None:
        self._readers.close()
        self._writer.close()
        self._integrity.close()

    def _now(self) -> int:
        """The time in seconds, which is how TTLs are told."""
        return self._clock() // 1000

    async def _read(self, job: ReadJob[T], *, short: bool = True) -> T:
        job = forgetting_damage(job)
        try:
            if short and not is_heavy():
                try:
                    return self._short.read(job)
                except Lengthy as lengthy:
                    self._integrity.notice(lengthy.__cause__)
            return await self._readers.run(job)
        except sqlite3.Error as error:
            self._integrity.notice(error)
            raise DatabaseUnavailable(f"SQLite cannot read: {error}") from error

    async def _write(self, job: Job[T]) -> T:
        try:
            return await self._writer.run(job)
        except sqlite3.Error as error:
            self._integrity.notice(error)
            raise DatabaseUnavailable(f"SQLite cannot write: {error}") from error


class _Refused(Exception):
    """Raised inside a transaction to undo it, with the positions of the actions that did not apply."""

    def __init__(self, positions: tuple[int, ...]) -> None:
        super().__init__(positions)
        self.positions = positions
