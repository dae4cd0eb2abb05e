"""Measuring a store: what an engine reports, and a table that times each call of the contract.

The store knows no library of metrics or traces: whoever measures passes in a `Meter`.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from graph.store.conditions import Condition
from graph.store.contract import (
    UNBOUNDED,
    Action,
    Bounds,
    Delete,
    Item,
    Key,
    KeyValue,
    Page,
    Table,
    Update,
)
from graph.store.design import Index


@dataclass(frozen=True, slots=True)
class PoolUse:
    """What of a pool is taken at the moment."""

    busy: int
    waiting: int  # for one of them to be free


class CallMeter(Protocol):
    """Told of calls of the contract."""

    def call(self, operation: str) -> AbstractContextManager[object]:
        """Around one call, by the name of the contract's method. What it raises is its outcome."""


class Meter(CallMeter, Protocol):
    """Told of all that there is to measure in a store."""

    def units(self, kind: Literal["read", "write"], count: float) -> None:
        """Capacity units that DynamoDB charges for one request."""

    def pool(self, name: str, size: int, use: Callable[[], PoolUse]) -> None:
        """A pool of threads or connections, once, before it is used. `use` may be asked from any thread."""


class MeteredTable(Table):
    """Passes everything on to `table`, and each call through the meter."""

    def __init__(self, table: Table, meter: CallMeter) -> None:
        self.design = table.design
        self.transaction_limit = table.transaction_limit
        self.in_order = table.in_order
        self._table = table
        self._call = meter.call

    async def get(self, key: Key) -> Item | None:
        with self._call("get"):
            return await self._table.get(key)

    async def get_many(self, keys: Collection[Key], *, only: Collection[str] | None = None) -> dict[Key, Item]:
        with self._call("get_many"):
            return await self._table.get_many(keys, only=only)

    async def put(self, item: Item, *, if_absent: bool = False) -> bool:
        with self._call("put"):
            return await self._table.put(item, if_absent=if_absent)

    async def put_many(self, items: Sequence[Item]) -> None:
        with self._call("put_many"):
            await self._table.put_many(items)

    async def update(self, update: Update) -> bool:
        with self._call("update"):
            return await self._table.update(update)

    async def delete(self, delete: Delete) -> bool:
        with self._call("delete"):
            return await self._table.delete(delete)

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        with self._call("transact"):
            return await self._table.transact(actions)

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
        with self._call("query"):
            return await self._table.query(
                index, partition, between=between, forward=forward, start=start, limit=limit, where=where
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
        with self._call("query_many"):
            return await self._table.query_many(
                index, partitions, between=between, forward=forward, start=start, limit=limit, where=where
            )

    async def count(
        self,
        index: Index,
        partitions: Sequence[KeyValue],
        *,
        between: Bounds = UNBOUNDED,
        where: Condition | None = None,
    ) -> int:
        with self._call("count"):
            return await self._table.count(index, partitions, between=between, where=where)

    async def scan(self, *, where: Condition | None = None) -> AsyncIterator[Item]:
        # From the first item to the last, with what the caller does in between.
        with self._call("scan"):
            async for item in self._table.scan(where=where):
                yield item

    async def revision(self) -> object | None:
        return await self._table.revision()

    def changes(self) -> AsyncGenerator[None, None]:
        return self._table.changes()  # which is waited for, so its time says nothing

    async def ping(self) -> None:
        with self._call("ping"):
            await self._table.ping()
