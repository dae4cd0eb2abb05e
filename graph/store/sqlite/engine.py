"""The store's contract on a SQLite file. See `table` for its layout and `threads` for its threads."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from typing import Any

from graph.core.clock import Clock
from graph.core.errors import DatabaseUnavailable
from graph.store.contract import Action, Database, Put, check_actions, check_key, check_keys
from graph.store.entity import Entity, Item, Key
from graph.store.query import ItemPage, Query
from graph.store.rows import Row, Rows, joined
from graph.store.sqlite.actions import apply
from graph.store.sqlite.changes import changes
from graph.store.sqlite.integrity import Integrity, forgetting_damage
from graph.store.sqlite.projection import projection
from graph.store.sqlite.query import ROWS_PER_SLICE, PreparedSqlQuery, check_partitions, fetch
from graph.store.sqlite.short_reads import Lengthy, ShortReads
from graph.store.sqlite.table import EntityTable
from graph.store.sqlite.threads import Job, ReadConnection, Readers, ReadJob, T, Writer
from graph.store.values import InvalidItem
from graph.work.account import is_heavy

CHECKED_ON_THE_LOOP = 100  # actions of a transaction; to check a thousand takes 2 ms, and of counters 10 ms
KEYS_PER_STATEMENT = 500
SWEEP_EVERY_S = 600.0
SWEEP_AT_ONCE = 1000  # rows, so that a sweep never delays a write for long


class SqliteDatabase(Database):
    """All tables, in one SQLite file."""

    transaction_limit = 1200  # a thousand events with their aliases, or the summaries of a hundred days, fit
    quick_partitions = 100_000
    is_remote = False
    merges = 32  # by one statement, which is compiled in less than a millisecond
    in_order = True  # since one thread writes

    def __init__(
        self,
        tables: Mapping[Entity, EntityTable],
        writer: Writer,
        short: ShortReads,
        readers: Readers,
        integrity: Integrity,
        clock: Clock,
    ) -> None:
        self._tables = tables
        self._writer = writer
        self._short = short
        self._readers = readers
        self._integrity = integrity
        self._clock = clock

    async def get(self, key: Key, *, attributes: Collection[str] | None = None) -> Item | None:
        check_key(key)
        table = self._tables[key.entity]
        columns = projection(key.entity, None if attributes is None else frozenset(attributes))

        def job(db: ReadConnection) -> Item | None:
            found = db.execute(table.get(columns), (*key.values, *table.live_at(self._now()))).fetchone()
            return columns.items([found])[0] if found else None

        return await self._read(job)

    async def get_many(self, keys: Collection[Key], *, attributes: Collection[str] | None = None) -> dict[Key, Item]:
        found: dict[Key, Item] = {}
        for entity, its_keys in check_keys(keys).items():
            if not entity.key_names:
                item = await self.get(its_keys[0], attributes=attributes)
                found |= {} if item is None else {its_keys[0]: item}
                continue
            items = await self._items_at(entity, [key.values for key in its_keys], attributes)
            its_found = dict(zip(entity.keys_of(items), items, strict=True))
            not_wanted = [] if attributes is None else [name for name in entity.key_names if name not in attributes]
            for name in not_wanted:
                for item in its_found.values():
                    del item[name]
            found |= its_found
        return found

    async def items_at(
        self, entity: Entity, keys: Collection[tuple[Any, ...]], *, attributes: Collection[str] | None = None
    ) -> Sequence[Item]:
        if not entity.key_names:
            return await super().items_at(entity, keys, attributes=attributes)
        entity.check_keys(keys)
        return await self._items_at(entity, keys, attributes)

    async def _items_at(
        self, entity: Entity, keys: Iterable[tuple[Any, ...]], attributes: Collection[str] | None
    ) -> Rows:
        table = self._tables[entity]
        columns = projection(entity, None if attributes is None else frozenset(attributes).union(entity.key_names))

        def job(db: ReadConnection, some: Sequence[tuple[Any, ...]]) -> list[Row]:
            values = [*chain.from_iterable(some), *table.live_at(self._now())]
            return fetch(db, columns, table.get_many(columns, len(some)), values)

        rows: list[Row] = []
        rest = iter(keys)
        while some := list(islice(rest, KEYS_PER_STATEMENT)):
            rows += await self._read(partial(job, some=some))
        return Rows(columns, rows)

    async def put_many(self, puts: Sequence[Put]) -> None:
        if len(puts) > CHECKED_ON_THE_LOOP:
            await asyncio.to_thread(check_actions, puts, len(puts))
        else:
            check_actions(puts, len(puts))
        for at in range(0, len(puts), self.transaction_limit):
            await self._apply(puts[at : at + self.transaction_limit])

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        if len(actions) > CHECKED_ON_THE_LOOP:
            return await self._apply(actions, are_checked=False)
        check_actions(actions, self.transaction_limit)
        return await self._apply(actions)

    async def _apply(self, actions: Sequence[Action], *, are_checked: bool = True) -> tuple[int, ...]:
        """Apply actions. The writer's thread checks many of them, since a later transaction must not overtake them."""
        now = self._now()

        def job(db: sqlite3.Connection) -> tuple[int, ...]:
            if not are_checked:
                check_actions(actions, self.transaction_limit)
            if refused := apply(db, self._tables, actions, now):
                raise _Refused(tuple(refused))
            return ()

        try:
            return await self._write(job)
        except _Refused as error:
            return error.positions

    async def query(self, query: Query) -> ItemPage:
        limit, partitions = query.limit, query.partitions
        if limit is not None and limit < 1:
            raise InvalidItem("the limit of a query must be at least 1")
        prepared = self._prepared(query)
        items: Sequence[Item] = []
        left, start = partitions, query.start
        while True:
            most = ROWS_PER_SLICE if limit is None else min(limit - len(items), ROWS_PER_SLICE)
            job = partial(prepared.read, partitions=left, now=self._now(), start=start, most=most)
            some, start = await self._read(job)
            items = joined(items, some)
            if start is not None and not query.merged:
                left = left[left.index(query.entity.partition_of(query.by, start)) :]
            if start is None or len(items) == limit:
                read = len(partitions) if start is None or query.merged else len(partitions) - len(left) + 1
                return ItemPage(items, start, read)

    async def first_of_each(self, query: Query, most: int) -> Sequence[Sequence[Item]]:
        prepared = self._prepared(query)
        at_once = min(max(ROWS_PER_SLICE // most, 1), self.merges)
        found: list[Sequence[Item]] = []
        for at in range(0, len(query.partitions), at_once):
            some = query.partitions[at : at + at_once]
            found += await self._read(partial(prepared.first_of_each, partitions=some, now=self._now(), most=most))
        return found

    async def count(self, query: Query) -> int:
        prepared = self._prepared(query)
        return await self._read(lambda db: prepared.count(db, query.partitions, self._now()))

    def _prepared(self, query: Query) -> PreparedSqlQuery:
        check_partitions(query)
        return PreparedSqlQuery(self._tables[query.entity], query)

    async def scan(self, entity: Entity, *, attributes: Collection[str] | None = None) -> AsyncIterator[Item]:
        table = self._tables[entity]
        columns = projection(entity, None if attributes is None else frozenset(attributes))
        last = -1

        def job(db: ReadConnection) -> list[tuple[Any, ...]]:
            live_at = table.live_at(self._now())
            return fetch(db, columns, table.scan(columns), (last, *live_at, ROWS_PER_SLICE))

        while rows := await self._read(job, short=False):  # many short reads in a row would block the loop
            last = rows[-1][0]
            for item in columns.items([row[1:] for row in rows]):
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

        def job(db: ReadConnection) -> None:
            for table in self._tables.values():
                db.execute(f"SELECT 1 FROM {table.table} LIMIT 1").fetchone()

        await self._read(job)

    async def sweep_forever(self) -> None:
        """Delete expired items from the file. Reads do not return them anyway."""
        statements = [table.sweep for table in self._tables.values() if table.sweep is not None]

        def job(db: sqlite3.Connection, statement: str) -> int:
            return db.execute(statement, (self._now(), SWEEP_AT_ONCE)).rowcount

        while True:
            for statement in statements:
                with suppress(DatabaseUnavailable):  # the next round tries again
                    while await self._write(partial(job, statement=statement)) == SWEEP_AT_ONCE:
                        pass
            await asyncio.sleep(SWEEP_EVERY_S)

    async def close(self) -> None:
        """Finish the jobs in progress and close the file."""
        self._integrity.stop()
        self._short.close()  # on the loop's thread, since the loop may read until the threads have finished
        await asyncio.to_thread(self._close_others)

    def _close_others(self) -> None:
        self._readers.close()
        self._writer.close()
        self._integrity.close()

    def _now(self) -> int:
        """The time in seconds, the unit of TTLs."""
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
