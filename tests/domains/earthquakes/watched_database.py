"""Real databases: one tells what was asked of it, one counts items, and one's index lags behind as DynamoDB's may."""

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from dataclasses import dataclass, replace

from graph.store.contract import Action, Database, Delete, Put, Update
from graph.store.design import Index
from graph.store.entity import Entity, Item, Key
from graph.store.query import ItemPage, Partition, Query


@dataclass(frozen=True)
class Call:
    """One reading."""

    method: str
    entity: Entity
    index: str
    partitions: tuple[Partition, ...]
    attributes: frozenset[str] | None = None


class WatchedDatabase(Database):
    """Passes everything on to `database`, and keeps in `calls` the readings by partition, in `gets` those by key.

    And in `transactions`, how many actions each had.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.transaction_limit = database.transaction_limit
        self.quick_partitions = database.quick_partitions
        self.is_remote = database.is_remote
        self.other_writers = database.other_writers
        self.merges = database.merges
        self.in_order = database.in_order
        self.calls: list[Call] = []
        self.gets: list[tuple[Entity, frozenset[str] | None]] = []  # of which entity, with the needed attributes
        self.transactions: list[int] = []

    def read(self, of: Entity, index: Index | None = None) -> set[Partition]:
        """The partitions of an entity's index that were read."""
        name = (index or of.table.primary).name
        calls = [call for call in self.calls if (call.entity, call.index) == (of, name)]
        return {partition for call in calls for partition in call.partitions}

    def shape(self) -> list[tuple[str, str, int]]:
        """What was asked, and of how many partitions, in order: the cost, whatever the partitions' names."""
        return [(call.method, call.index, len(call.partitions)) for call in self.calls]

    def _note(self, method: str, query: Query) -> None:
        self.calls.append(Call(method, query.entity, query.by.name, tuple(query.partitions), query.attributes))

    def _note_get(self, entity: Entity, attributes: Collection[str] | None) -> None:
        self.gets.append((entity, None if attributes is None else frozenset(attributes)))

    async def get(self, key: Key, *, attributes: Collection[str] | None = None) -> Item | None:
        self._note_get(key.entity, attributes)
        return await self._database.get(key, attributes=attributes)

    async def get_many(self, keys: Collection[Key], *, attributes: Collection[str] | None = None) -> dict[Key, Item]:
        for entity in {key.entity for key in keys}:
            self._note_get(entity, attributes)
        return await self._database.get_many(keys, attributes=attributes)

    async def put(self, put: Put) -> bool:
        return await self._database.put(put)

    async def put_many(self, puts: Sequence[Put]) -> None:
        await self._database.put_many(puts)

    async def update(self, update: Update) -> bool:
        return await self._database.update(update)

    async def delete(self, delete: Delete) -> bool:
        return await self._database.delete(delete)

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        self.transactions.append(len(actions))
        return await self._database.transact(actions)

    async def query(self, query: Query) -> ItemPage:
        self._note("query", query)
        return await self._database.query(query)

    async def count(self, query: Query) -> int:
        self._note("count", query)
        return await self._database.count(query)

    def scan(self, entity: Entity, *, attributes: Collection[str] | None = None) -> AsyncIterator[Item]:
        self.calls.append(Call("scan", entity, "", ()))
        return self._database.scan(entity, attributes=attributes)

    def changes(self) -> AsyncGenerator[None, None]:
        return self._database.changes()

    async def ping(self) -> None:
        await self._database.ping()


class CountingDatabase(WatchedDatabase):
    """A real database that counts the items that it returns."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.items = 0
        self.most = 0  # of one query

    async def query(self, query: Query) -> ItemPage:
        page = await super().query(query)
        self.items += len(page.items)
        self.most = max(self.most, len(page.items))
        return page


class LaggingDatabase(WatchedDatabase):
    """Its indexes do not show the items in `hidden` yet; reads by primary key see everything."""

    def __init__(self, database: Database, hidden: Collection[Key]) -> None:
        super().__init__(database)
        self.hidden = set(hidden)

    async def query(self, query: Query) -> ItemPage:
        page = await super().query(replace(query, limit=None))
        return self._without_hidden(query, page)

    def _without_hidden(self, query: Query, page: ItemPage) -> ItemPage:
        """The page that an index without the hidden items would have given."""
        entity, index = query.entity, query.by
        items = page.items
        if index != entity.table.primary:
            items = [item for item in items if entity.key_of(item) not in self.hidden]
        if query.limit is None or len(items) <= query.limit:
            return ItemPage(items, None, page.partitions)
        read = list(dict.fromkeys(entity.partition_of(index, item) for item in page.items))
        last = items[query.limit - 1]
        return ItemPage(items[: query.limit], last, read.index(entity.partition_of(index, last)) + 1)
