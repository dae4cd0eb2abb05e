"""What every engine of the store promises. The promise is tested in `tests/store/test_contract_*.py`.

Keys and limits are DynamoDB's: an item is a mapping of at most 400 KB, found by its primary
key, and an index is another way to read the same items. Three rules go further than DynamoDB
and hold on every engine:

* An item whose TTL has passed does not exist: no read returns it, a put takes its place,
  and an update or delete with or without a condition answers that it did not apply.
* A page is short only if nothing more matches, however little of it passed the filter.
* Whatever an engine may answer for a moment (throttling, unprocessed items, a conflict of
  two transactions) is tried again inside it; what lasts raises `DatabaseUnavailable`.

Reads by primary key see every completed write; reads through another index may lag.

There is no object for a table: an entity says which table it stands in.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.store.conditions import Condition
from graph.store.entity import Entity, Item, Key
from graph.store.query import Page, Query
from graph.store.values import InvalidItem


@dataclass(frozen=True, slots=True)
class Put:
    """Write an item whole; with `if_absent`, only where none with its key exists."""

    entity: Entity
    item: Item
    if_absent: bool = False

    @property
    def key(self) -> Key:
        """The item's primary key."""
        return self.entity.key_of(self.item)


@dataclass(frozen=True, slots=True)
class Update:
    """Set attributes and add to numbers of one item, which is made where it does not exist.

    `add` takes a missing number for 0. The condition is tested on the item as it was.
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

    transaction_limit: int  # actions that one transaction takes at most
    in_order: bool  # whether transactions that are under way at once are applied in the order in which they were sent

    @abstractmethod
    async def get(self, key: Key, *, attributes: Collection[str] | None = None) -> Item | None:
        """The item with that primary key; with `attributes`, just these of it."""

    @abstractmethod
    async def get_many(self, keys: Collection[Key], *, attributes: Collection[str] | None = None) -> dict[Key, Item]:
        """The items that exist of any number of distinct keys; with `attributes`, just these of each."""

    @abstractmethod
    async def put(self, put: Put) -> bool:
        """Write one item. False where it should have been absent and was not: nothing was changed then."""

    @abstractmethod
    async def put_many(self, puts: Sequence[Put]) -> None:
        """Write any number of items with distinct keys, each on its own, in no order, whatever was there."""

    @abstractmethod
    async def update(self, update: Update) -> bool:
        """Change one item. False where the condition did not hold: nothing was changed then."""

    @abstractmethod
    async def delete(self, delete: Delete) -> bool:
        """Remove one item. False where it did not exist or the condition did not hold."""

    @abstractmethod
    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        """Apply at most `transaction_limit` actions on distinct items of any tables, all or none of them.

        Returns:
            Positions of the actions whose condition did not hold. Empty: all were applied.
            Not empty: none was.
        """

    @abstractmethod
    async def query(self, query: Query) -> Page:
        """Items in the order of the partitions and, within each, of the sort key.

        Items with equal sort keys come in an order of the engine's own, which is the same
        at every reading, and exactly turned round when reading backwards. An engine may read
        partitions at the same time, and those behind a full page in vain, so name only what
        is likely needed. `start` need not exist any more, nor lie within the bounds.
        """

    @abstractmethod
    async def count(self, query: Query) -> int:
        """How many items a query without `start` and `limit` would answer."""

    @abstractmethod
    def scan(self, entity: Entity, *, attributes: Collection[str] | None = None) -> AsyncIterator[Item]:
        """Every item of the entity in no order, those written meanwhile perhaps not."""

    async def revision(self) -> object | None:
        """A value that is the same as before only if nothing in the database has changed since.

        None where the engine cannot tell for less than a query.
        """
        return None

    @abstractmethod
    def changes(self) -> AsyncGenerator[None, None]:
        """Yields soon after anything in the database may have changed, by whichever process.

        That is at least once after each change that is made after the iteration began, at most ten
        times a second, and now and then without any. It never ends by itself: trouble makes it
        slower, about once a second then. Who leaves it closes it (`contextlib.aclosing`).
        """

    @abstractmethod
    async def ping(self) -> None:
        """Return when the database answers and has its tables; raise `DatabaseUnavailable` otherwise."""


def check_update(update: Update) -> None:
    """Raise `InvalidItem` unless the update can be applied to some item.

    Whether the item grows too large, or a sum is added to something else than a number,
    only the engine can tell.
    """
    check_key(update.key)
    if not update.set and not update.add:
        raise InvalidItem("the update changes nothing")
    if update.set.keys() & update.add.keys():
        raise InvalidItem("the update both sets and adds to an attribute")
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in update.add.values()):
        raise InvalidItem("only a number can be added")
    update.key.entity.check_changes(update.set, update.add)


def check_key(key: Key) -> None:
    """Raise `InvalidItem` unless the key can be one of its entity."""
    key.entity.check_key(key.values)


def check_actions(actions: Sequence[Action], limit: int) -> None:
    """Raise `InvalidItem` unless the actions can be one transaction: few enough, on distinct items."""
    if len(actions) > limit:
        raise InvalidItem(f"{len(actions)} actions in a transaction of at most {limit}")
    for action in actions:
        match action:
            case Put(entity, item):
                entity.check(item)
            case Update():
                check_update(action)
            case _:
                check_key(action.key)
    if len({action.key for action in actions}) < len(actions):
        raise InvalidItem("two writes at once to one item")
