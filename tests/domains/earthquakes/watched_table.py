"""A real table that tells what was asked of it, and one whose index lags behind as DynamoDB's may."""

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True)
class Call:
    """One reading."""

    method: str
    index: str
    partitions: tuple[KeyValue, ...]


class WatchedTable(Table):
    """Passes everything on to `table`, and keeps in `calls` the readings by partition."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.design = table.design
        self.transaction_limit = table.transaction_limit
        self.in_order = table.in_order
        self.calls: list[Call] = []

    def read(self, index: Index) -> set[KeyValue]:
        """The partitions of an index that were read."""
        return {partition for call in self.calls if call.index == index.name for partition in call.partitions}

    def shape(self) -> list[tuple[str, str, int]]:
        """What was asked, and of how many partitions, in order: the cost, whatever the partitions' names."""
        return [(call.method, call.index, len(call.partitions)) for call in self.calls]

    async def get(self, key: Key) -> Item | None:
        return await self._table.get(key)

    async def get_many(self, keys: Collection[Key], *, only: Collection[str] | None = None) -> dict[Key, Item]:
        return await self._table.get_many(keys, only=only)

    async def put(self, item: Item, *, if_absent: bool = False) -> bool:
        return await self._table.put(item, if_absent=if_absent)

    async def put_many(self, items: Sequence[Item]) -> None:
        await self._table.put_many(items)

    async def update(self, update: Update) -> bool:
        return await self._table.update(update)

    async def delete(self, delete: Delete) -> bool:
        return await self._table.delete(delete)

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
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
        self.calls.append(Call("query", index.name, (partition,)))
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
        self.calls.append(Call("query_many", index.name, tuple(partitions)))
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
        self.calls.append(Call("count", index.name, tuple(partitions)))
        return await self._table.count(index, partitions, between=between, where=where)

    def scan(self, *, where: Condition | None = None) -> AsyncIterator[Item]:
        self.calls.append(Call("scan", "", ()))
        return self._table.scan(where=where)

    def changes(self) -> AsyncGenerator[None, None]:
        return self._table.changes()

    async def ping(self) -> None:
        await self._table.ping()


class LaggingTable(WatchedTable):
    """Its indexes do not show the items in `hidden` yet; reads by primary key see everything."""

    def __init__(self, table: Table, hidden: Collection[Key]) -> None:
        super().__init__(table)
        self.hidden = set(hidden)

    async def query(self, index: Index, partition: KeyValue, **how: Any) -> Page:
        return await self._without_hidden(index, await super().query(index, partition, **_unlimited(how)), **how)

    async def query_many(self, index: Index, partitions: Sequence[KeyValue], **how: Any) -> Page:
        return await self._without_hidden(index, await super().query_many(index, partitions, **_unlimited(how)), **how)

    async def _without_hidden(self, index: Index, page: Page, *, limit: int | None = None, **_: Any) -> Page:
        """The page that an index without the hidden items would have given."""
        if index == self.design.primary:
            items = page.items
        else:
            items = [item for item in page.items if (item["pk"], item["sk"]) not in self.hidden]
        if limit is None or len(items) <= limit:
            return Page(items, None, page.partitions)
        read = list(dict.fromkeys(item[index.partition_key.name] for item in page.items))
        last = items[limit - 1]
        return Page(items[:limit], last, read.index(last[index.partition_key.name]) + 1)


def _unlimited(how: Mapping[str, Any]) -> dict[str, Any]:
    return {**how, "limit": None}
