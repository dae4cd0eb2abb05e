"""The contract of every engine. `tests/store/test_contract_*.py` test it.

Keys and limits are DynamoDB's: an item is a mapping of at most 400 KB with a primary key, and an
index is another way to read the same items. Three rules go further than DynamoDB and hold on
every engine:

* An item whose TTL has passed does not exist: no read returns it, a put replaces it, and an
  update or delete returns that it did not apply, with or without a condition.
* A page is short only if nothing more matches, however few items passed the filter.
* The engine retries after temporary failures (throttling, unprocessed items, a conflict of two
  transactions). A lasting failure raises `DatabaseUnavailable`.

Reads by primary key see every completed write. Reads by another index may lag.

A query's filter may be any condition. The condition of a write is tested by the engine at the
write itself, so it may not be `SameText` or `HasText`, nor contain one: that raises `InvalidItem`.

There is no object for a table: an entity names its table.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graph.store.conditions import Condition, are_numbers, folds_text
from graph.store.entity import Entity, Item, Key
from graph.store.query import ItemPage, Query
from graph.store.values import InvalidItem
from graph.work.account import charge_rows, give_way


@dataclass(slots=True)  # never changed; not frozen, which would take a microsecond more for each of many items
class Put:
    """Write a whole item; with `if_absent`, only if none with its key exists.

    A condition is tested on the item before it, as that of an update.
    """

    entity: Entity
    item: Item
    if_absent: bool = False
    condition: Condition | None = None  # not together with `if_absent`
    is_checked: bool = False  # whether its caller has checked the item, and that no other action is on it

    @property
    def key(self) -> Key:
        """The item's primary key."""
        return self.entity.key_of(self.item)


@dataclass(frozen=True, slots=True)
class Update:
    """Set attributes of one item and add to its numbers. A missing item is made.

    `add` counts a missing number as 0. The condition is tested on the item before the change.
    """

    key: Key
    set: Mapping[str, Any] = field(default_factory=dict)
    add: Mapping[str, int | float] = field(default_factory=dict)
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove one item."""

    key: Key
    condition: Condition | None = None


Action = Put | Update | Delete


class Database(ABC):
    """All tables of the service, open for reading and writing until it is closed."""

    transaction_limit: int  # the most actions of one transaction
    quick_partitions: int  # so many partitions of an index are read in some tenths of a second
    is_remote: bool  # whether a query waits for a network, so that several at once take little longer than one
    merges: int = 1  # so many partitions of an index can be read by one query as one list
    other_writers: "OtherWriters | None" = None  # None if no other program can write the tables
    in_order: bool  # whether concurrent transactions are applied in the order in which they were sent

    @abstractmethod
    async def get(self, key: Key, *, attributes: Collection[str] | None = None) -> Item | None:
        """The item with this primary key; with `attributes`, only these."""

    @abstractmethod
    async def get_many(self, keys: Collection[Key], *, attributes: Collection[str] | None = None) -> dict[Key, Item]:
        """The existing items of any number of distinct keys; with `attributes`, only these of each."""

    async def items_at(
        self, entity: Entity, keys: Collection[tuple[Any, ...]], *, attributes: Collection[str] | None = None
    ) -> Sequence[Item]:
        """The existing items of one entity with these distinct keys, in no order.

        Args:
            attributes: the needed ones of each, beside its key; None for all.
        """
        wanted = None if attributes is None else {*attributes, *entity.key_names}
        found = await self.get_many([Key(entity, key) for key in keys], attributes=wanted)
        return list(found.values())

    async def put(self, put: Put) -> bool:
        """Write one item. False, without a change, if it should have been absent and was not, or by its condition."""
        return not await self.transact([put])

    @abstractmethod
    async def put_many(self, puts: Sequence[Put]) -> None:
        """Write any number of items with distinct keys, each on its own, in no order. They replace existing items."""

    async def update(self, update: Update) -> bool:
        """Change one item. False, without a change, if the condition did not hold."""
        return not await self.transact([update])

    async def delete(self, delete: Delete) -> bool:
        """Remove one item. False if it did not exist or the condition did not hold."""
        return not await self.transact([delete])

    @abstractmethod
    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        """Apply at most `transaction_limit` actions on distinct items of any tables: all of them or none.

        Returns:
            The positions of the actions whose condition did not hold. If empty, all actions were
            applied, otherwise none.
        """

    @abstractmethod
    async def query(self, query: Query) -> ItemPage:
        """Items in the order of the partitions and, within each, of the sort key.

        With `merged`, they are one list in the order of the sort key, and `start` may lie in any of them.

        Items with equal sort keys are in the order of their primary keys if the query orders ties. Otherwise
        the engine chooses: an index of DynamoDB has an order of its own, and a page of it in another order
        costs a reading of the whole ties at its ends. Either order is the same at every reading, and exactly
        reversed when reading backwards. An engine may read several partitions at once, also some behind a
        full page, so name only partitions that are likely needed. `start` need not exist any more, nor lie
        within the bounds.
        """

    async def pages(self, query: Query, *, charged: int = 0) -> AsyncIterator[Sequence[Item]]:
        """The items of a query, `limit` of them at a time. Other work may run in between.

        Args:
            charged: rows that the operation in progress is charged for, before each page is read.
        """
        partitions, start = query.partitions, query.start
        while partitions:
            if charged:
                await charge_rows(read=charged)
            page = await self.query(replace(query, partitions=partitions, start=start))
            yield page.items
            await give_way()
            start = page.last_key
            partitions = partitions[partitions.index(query.entity.partition_of(query.by, start)) :] if start else ()

    async def first_of_each(self, query: Query, most: int) -> Sequence[Sequence[Item]]:
        """The first items of each of a query's distinct partitions, at most so many of each."""
        pages = [self.query(replace(query, partitions=[partition], limit=most)) for partition in query.partitions]
        return [page.items for page in await asyncio.gather(*pages)]

    @abstractmethod
    async def count(self, query: Query) -> int:
        """The number of items that match a query, without regard to `start` and `limit`."""

    @abstractmethod
    def scan(self, entity: Entity, *, attributes: Collection[str] | None = None) -> AsyncIterator[Item]:
        """Every item of the entity, in no order. Items written during the scan may be missing."""

    async def revision(self) -> object | None:
        """A value that stays the same only while nothing in the database changes.

        None if the engine needs a query to find out.
        """
        return None

    @abstractmethod
    def changes(self) -> AsyncGenerator[None, None]:
        """Yields soon after any process may have changed the database.

        It yields at least once after each change since the iteration began, at most ten times a second,
        and sometimes without a change. It never ends by itself; during a failure it yields about once a
        second. The caller must close it (`contextlib.aclosing`).
        """

    @abstractmethod
    async def ping(self) -> None:
        """Return if the database answers and has its tables, otherwise raise `DatabaseUnavailable`."""


@dataclass(frozen=True, slots=True)
class Found:
    """Items of one table that fulfilled a condition when they were written or read. They may have changed since."""

    keys: Sequence[Key]  # an item may come several times
    position: Callable[[], Item]  # where a later reading goes on after them; to call before the next `Found` is read
    written_at: int | None = None  # when the last item was written, epoch ms; None once everything was read one time
    is_gap: bool = False  # what was written before may be missing, so the whole table must be read


class OtherWriters(ABC):
    """Finds items that other programs have written: readings of one table, for its items that fulfil a condition.

    A position is a document that a caller may keep. An item whose key is not a valid one is left out.
    """

    @abstractmethod
    def written(self, conditions: Mapping[Entity, Condition], position: Item | None) -> AsyncGenerator[Found, None]:
        """Yields what anybody writes, about once a second, also if there is nothing.

        It begins at the position, or with the oldest writing that is known. It ends if the engine cannot find out
        what was written. The caller must close it.
        """

    @abstractmethod
    def stored(self, conditions: Mapping[Entity, Condition], position: Item | None) -> AsyncGenerator[Found, None]:
        """Yields what is in the table, in no order, from the position on, and ends.

        It takes its time, so that it uses a part of the table's capacity. The caller must close it.

        Raises:
            DatabaseUnavailable: The table cannot be read now.
        """


def check_update(update: Update) -> None:
    """Raise `InvalidItem` unless the update can be applied to some item.

    Only the engine can find out whether the item grows too large, or whether the attribute to add to
    is a number.
    """
    check_key(update.key)
    if not update.set and not update.add:
        raise InvalidItem("the update changes nothing")
    if update.set.keys() & update.add.keys():
        raise InvalidItem("the update both sets and adds to an attribute")
    if not are_numbers(update.add.values()):
        raise InvalidItem("only a number can be added")
    update.key.entity.check_changes(update.set, update.add)


def check_key(key: Key) -> None:
    """Raise `InvalidItem` unless the key fits its entity."""
    key.entity.check_keys([key.values])


def check_keys(keys: Iterable[Key]) -> dict[Entity, list[Key]]:
    """The keys by their entities. Raises `InvalidItem` unless all of them fit."""
    of_entity: dict[Entity, list[Key]] = {}
    for key in keys:
        of_entity.setdefault(key.entity, []).append(key)
    for entity, its_keys in of_entity.items():
        entity.check_keys([key.values for key in its_keys])
    return of_entity


def check_actions(actions: Sequence[Action], limit: int) -> None:
    """Raise `InvalidItem` unless the actions can be one transaction: few enough, on distinct items."""
    if len(actions) > limit:
        raise InvalidItem(f"{len(actions)} actions in a transaction of at most {limit}")
    unchecked = [action for action in actions if not (isinstance(action, Put) and action.is_checked)]
    for action in unchecked:
        if action.condition is not None and folds_text(action.condition):
            raise InvalidItem("the condition of a write tests a folded text, which only a filter can")
        match action:
            case Put(entity, item, if_absent, condition):
                if if_absent and condition is not None:
                    raise InvalidItem("a put has a condition and should be absent")
                entity.check(item)
            case Update():
                check_update(action)
            case _:
                check_key(action.key)
    if len({action.key for action in unchecked}) < len(unchecked):
        raise InvalidItem("two writes at once to one item")
