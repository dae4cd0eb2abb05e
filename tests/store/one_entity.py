"""A database seen through one entity, so that a test names it once: keys are tuples, partitions of one value bare."""

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph.store.contract import Action, Database, Delete, Put, Update
from graph.store.design import Index, TableDesign
from graph.store.entity import Entity, Item, Key
from graph.store.query import ItemPage, Query


@dataclass(frozen=True)
class OneEntity:
    """The contract's calls, all on one entity. Whatever is given is passed on unchecked, to a `Query` as its values."""

    database: Database
    entity: Entity

    @property
    def design(self) -> TableDesign:
        return self.entity.table

    @property
    def transaction_limit(self) -> int:
        return self.database.transaction_limit

    def key(self, values: Collection[Any]) -> Key:
        return Key(self.entity, tuple(values))

    async def get(self, key: Collection[Any], *, attributes: Collection[str] | None = None) -> Item | None:
        return await self.database.get(self.key(key), attributes=attributes)

    async def get_many(
        self, keys: Collection[tuple[Any, ...]], *, attributes: Collection[str] | None = None
    ) -> dict[tuple[Any, ...], Item]:
        found = await self.database.get_many([self.key(key) for key in keys], attributes=attributes)
        assert all(key.entity is self.entity for key in found)
        return {key.values: item for key, item in found.items()}

    async def put(self, item: Item, *, if_absent: bool = False) -> bool:
        return await self.database.put(Put(self.entity, item, if_absent))

    async def put_many(self, items: Sequence[Item]) -> None:
        await self.database.put_many([Put(self.entity, item) for item in items])

    async def update(self, update: Update) -> bool:
        return await self.database.update(update)

    async def delete(self, delete: Delete) -> bool:
        return await self.database.delete(delete)

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        return await self.database.transact(actions)

    async def query(self, index: Index, partition: Any, **options: Any) -> ItemPage:
        return await self.query_many(index, [partition], **options)

    async def query_many(self, index: Index, partitions: Sequence[Any], **options: Any) -> ItemPage:
        return await self.database.query(self.query_of(index, partitions, **options))

    async def count(self, index: Index, partitions: Sequence[Any], **options: Any) -> int:
        return await self.database.count(self.query_of(index, partitions, **options))

    def query_of(
        self, index: Index, partitions: Sequence[Any], *, attributes: Collection[str] | None = None, **options: Any
    ) -> Query:
        return Query(
            entity=self.entity,
            index=None if index == self.design.primary else index,
            partitions=[partition if isinstance(partition, tuple) else (partition,) for partition in partitions],
            attributes=None if attributes is None else frozenset(attributes),
            **options,
        )

    def scan(self, *, attributes: Collection[str] | None = None) -> AsyncIterator[Item]:
        return self.database.scan(self.entity, attributes=attributes)

    def changes(self) -> AsyncGenerator[None, None]:
        return self.database.changes()

    async def ping(self) -> None:
        await self.database.ping()


async def read_on(database: Database, query: Query) -> list[Item]:
    """All that a query finds, in pages of its limit, each of which begins behind the one before."""
    items: list[Item] = []
    while True:
        page = await database.query(query)
        items += page.items
        if page.last_key is None:
            return items
        assert len(page.items) == query.limit
        query = replace(query, start=page.last_key)
