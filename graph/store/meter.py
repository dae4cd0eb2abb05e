"""Measures a store: the interface of a meter, and a database that meters each call of the contract.

The store uses no library of metrics or traces: a `Meter` is passed in.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from graph.observability.tracing import CallMeter
from graph.store.contract import Action, Database, Delete, Put, Update
from graph.store.entity import Entity, Item, Key
from graph.store.query import ItemPage, Query


@dataclass(frozen=True, slots=True)
class PoolUse:
    """The present use of a pool."""

    busy: int
    waiting: int  # calls that wait for a free thread or connection

    @classmethod
    def of(cls, calls: int, size: int) -> "PoolUse":
        """The use by so many calls that are not finished."""
        return cls(busy=min(calls, size), waiting=max(calls - size, 0))


class Meter(CallMeter, Protocol):
    """Meters all that can be measured in a store."""

    def units(self, kind: Literal["read", "write"], count: float) -> None:
        """Capacity units that DynamoDB charges for one request."""

    def broken_item(self, table: str) -> None:
        """An item of a table was left out, since it is broken."""

    def pool(self, name: str, size: int, use: Callable[[], PoolUse]) -> None:
        """Register a pool of threads or connections before its use. `use` may be called on any thread."""


class MeteredDatabase(Database):
    """Passes all calls on to `database`, through the meter."""

    def __init__(self, database: Database, meter: CallMeter) -> None:
        self.transaction_limit = database.transaction_limit
        self.quick_partitions = database.quick_partitions
        self.is_remote = database.is_remote
        self.merges = database.merges
        self.other_writers = database.other_writers
        self.in_order = database.in_order
        self._database = database
        self._call = meter.call

    async def get(self, key: Key, *, attributes: Collection[str] | None = None) -> Item | None:
        with self._call("get", (key.entity.table.name,)):
            return await self._database.get(key, attributes=attributes)

    async def get_many(self, keys: Collection[Key], *, attributes: Collection[str] | None = None) -> dict[Key, Item]:
        with self._call("get_many", (key.entity.table.name for key in keys)):
            return await self._database.get_many(keys, attributes=attributes)

    async def items_at(
        self, entity: Entity, keys: Collection[tuple[Any, ...]], *, attributes: Collection[str] | None = None
    ) -> Sequence[Item]:
        with self._call("get_many", (entity.table.name,)):
            return await self._database.items_at(entity, keys, attributes=attributes)

    async def put(self, put: Put) -> bool:
        with self._call("put", (put.entity.table.name,)):
            return await self._database.put(put)

    async def put_many(self, puts: Sequence[Put]) -> None:
        with self._call("put_many", (put.entity.table.name for put in puts)):
            await self._database.put_many(puts)

    async def update(self, update: Update) -> bool:
        with self._call("update", (update.key.entity.table.name,)):
            return await self._database.update(update)

    async def delete(self, delete: Delete) -> bool:
        with self._call("delete", (delete.key.entity.table.name,)):
            return await self._database.delete(delete)

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        with self._call("transact", map(_table_of, actions)):
            return await self._database.transact(actions)

    async def query(self, query: Query) -> ItemPage:
        with self._call("query", (query.entity.table.name,)):
            return await self._database.query(query)

    async def first_of_each(self, query: Query, most: int) -> Sequence[Sequence[Item]]:
        with self._call("query", (query.entity.table.name,)):
            return await self._database.first_of_each(query, most)

    async def count(self, query: Query) -> int:
        with self._call("count", (query.entity.table.name,)):
            return await self._database.count(query)

    async def scan(self, entity: Entity, *, attributes: Collection[str] | None = None) -> AsyncIterator[Item]:
        # The time includes the caller's work between the items.
        with self._call("scan", (entity.table.name,)):
            async for item in self._database.scan(entity, attributes=attributes):
                yield item

    async def revision(self) -> object | None:
        return await self._database.revision()

    def changes(self) -> AsyncGenerator[None, None]:
        return self._database.changes()  # not metered: its time is only waiting

    async def ping(self) -> None:
        with self._call("ping"):
            await self._database.ping()


def _table_of(action: Action) -> str:
    entity = action.entity if isinstance(action, Put) else action.key.entity
    return entity.table.name
