"""What every engine of the store promises. The promise is tested in `tests/store/test_contract_*.py`.

Names are DynamoDB's, since the items are: an item is a mapping of at most 400 KB, found by
its partition and sort key, and an index is another way to read the same items. Three rules
go further than DynamoDB and hold on every engine:

* An item whose TTL has passed does not exist: no read returns it, a put takes its place,
  and an update or delete with or without a condition answers that it did not apply.
* A page is short only if nothing more matches, however little of it passed the filter.
* Whatever an engine may answer for a moment (throttling, unprocessed items, a conflict of
  two transactions) is tried again inside it; what lasts raises `DatabaseUnavailable`.

Reads by primary key see every completed write; reads through another index may lag.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.store.conditions import Condition
from graph.store.design import Index, TableDesign

KeyValue = str | int | float
Key = tuple[KeyValue, KeyValue]
"""The values of a primary key: partition, sort."""

Item = dict[str, Any]
"""Attribute name → text, number, truth value, None, list or mapping of such.

A whole number that fits 64 bits may be returned as int, any other number is a float: 2.0 may be
returned as 2, which equals it. Numbers beyond DynamoDB's range (±1e-130 to ±9.99e125), NaN,
infinities, whole numbers past 64 bits and text that is not valid Unicode raise `InvalidItem`.
"""


class KeptItem(dict[str, Any]):
    """An item that an engine keeps and may give again, and what was made of it.

    `made` is set by whoever first makes something: each by a key of its own.
    """

    __slots__ = ("made",)

    made: dict[object, Any]


Bounds = tuple[KeyValue | None, KeyValue | None]
"""Least and greatest sort key, both inclusive; None leaves a side open."""

UNBOUNDED: Bounds = (None, None)


class InvalidItem(ValueError):
    """The item or key breaks the store's rules: a fault of the calling code, not of the store."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some items of a query in order, and where the reading stopped.

    An engine may give the same object for the same item: who wants to change one makes a copy.
    """

    items: list[Item]
    last_key: Item | None  # pass as `start` to read on; None when nothing is left
    partitions: int = 1  # how many partitions were read


@dataclass(frozen=True, slots=True)
class Put:
    """Write an item whole; with `if_absent`, only where none with its key exists."""

    item: Item
    if_absent: bool = False


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


class Table(ABC):
    """One table, open for reading and writing until its engine is closed."""

    design: TableDesign
    transaction_limit: int  # actions that one transaction takes at most
    in_order: bool  # whether transactions that are under way at once are applied in the order in which they were sent

    @abstractmethod
    async def get(self, key: Key) -> Item | None:
        """The item with that primary key."""

    @abstractmethod
    async def get_many(self, keys: Collection[Key], *, only: Collection[str] | None = None) -> dict[Key, Item]:
        """The items that exist of any number of distinct keys; with `only`, just these attributes."""

    @abstractmethod
    async def put(self, item: Item, *, if_absent: bool = False) -> bool:
        """Write one item. False where `if_absent` found one: nothing was changed then."""

    @abstractmethod
    async def put_many(self, items: Sequence[Item]) -> None:
        """Write any number of items with distinct keys, each on its own, in no order."""

    @abstractmethod
    async def update(self, update: Update) -> bool:
        """Change one item. False where the condition did not hold: nothing was changed then."""

    @abstractmethod
    async def delete(self, delete: Delete) -> bool:
        """Remove one item. False where it did not exist or the condition did not hold."""

    @abstractmethod
    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        """Apply at most `transaction_limit` actions on distinct items, all or none of them.

        Returns:
            Positions of the actions whose condition did not hold. Empty: all were applied.
            Not empty: none was.
        """

    @abstractmethod
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
        """Items of one partition in the order of the sort key, or backwards.

        Args:
            index: one of the table's indexes, or `design.primary`.
            start: an item, or just its keys of the table and of the index. Reading begins
                behind it. It need not exist any more, nor lie within the bounds.
            limit: how many matching items at most; None reads to the end.
            where: what an item must fulfil besides; it may not name the index's own keys.

        Items with equal sort keys come in an order of the engine's own, which is the same
        at every reading, and exactly turned round when reading backwards.
        """

    @abstractmethod
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
        """As `query`, over several partitions one after the other in the order given.

        `start` must lie in the first of them. An engine may read partitions at the same
        time, and those behind a full page in vain, so name only what is likely needed.
        """

    @abstractmethod
    async def count(
        self,
        index: Index,
        partitions: Sequence[KeyValue],
        *,
        between: Bounds = UNBOUNDED,
        where: Condition | None = None,
    ) -> int:
        """How many items the partitions hold within the bounds."""

    @abstractmethod
    def scan(self, *, where: Condition | None = None) -> AsyncIterator[Item]:
        """Every item of the table in no order, those written meanwhile perhaps not."""

    async def revision(self) -> object | None:
        """A value that is the same as before only if nothing in the table has changed since.

        None where the engine cannot tell for less than a query.
        """
        return None

    @abstractmethod
    def changes(self) -> AsyncGenerator[None, None]:
        """Yields soon after anything in the table may have changed, by whichever process.

        That is at least once after each change that is made after the iteration began, at most ten
        times a second, and now and then without any. It never ends by itself: trouble makes it
        slower, about once a second then. Who leaves it closes it (`contextlib.aclosing`).
        """

    @abstractmethod
    async def ping(self) -> None:
        """Return when the store answers and has the table; raise `DatabaseUnavailable` otherwise."""
