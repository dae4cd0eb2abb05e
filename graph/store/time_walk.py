"""Reads an index in the order of time across partitions, one for each day.

The walk makes pages complete: it reads partition after partition until a page is full, and
resumes at the exact position where the page before stopped. The order of partitions is the order
of time. A plan names the partitions that may hold a match.

Items with equal sort keys are in the order of their primary keys, so every item has a place in the list.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

from graph.core.paging import Page, Paging, Position
from graph.store.between import WHOLE, Between, ItemsFound, Place, Reader, page_between
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Bounds, Partition, Query, narrowed
from graph.store.rows import joined, picked
from graph.work.account import charge_rows, give_way

T = TypeVar("T")

SOME = 100  # the assumed number of a partition's items, so that a page seldom reads unneeded partitions
READ_AT_LEAST = 200  # items at a time, if a part of the filter is tested here at once and may drop most of them
ITEMS_PER_PIECE = 100  # more items take long enough to give way before they are used
ITEMS_IN_MEMORY = 500  # at a time, when all items are read
ROWS_PER_BATCH = 20_000  # a store tests a filter on them in some milliseconds, before other callers are served


Promise = tuple[Partition, int, int]
"""A partition that may hold matches, the most that it may hold, and the number of items that a filter may be tested on.

A plan makes many of them, so they are plain tuples.
"""

Promises = Iterable[Promise]


class Batch(NamedTuple):
    """Partitions to read together."""

    partitions: list[Partition]
    rows: int  # their number in all these partitions


class WalkPlan(Protocol):
    """Lists the partitions to read."""

    def __call__(self, *, forward: bool, start: Partition | None) -> AsyncGenerator[Promises, None]:
        """The partitions in order of time or in reverse, some at a time, beginning with `start`."""


async def _each_of(
    partitions: Sequence[Partition], *, forward: bool, start: Partition | None
) -> AsyncGenerator[Promises, None]:
    ordered = partitions if forward else reversed(partitions)
    yield [(each, SOME, SOME) for each in ordered if start is None or (each >= start if forward else each <= start)]


class Keep(NamedTuple):
    """The part of a filter that stores cannot test."""

    holds: Callable[[Item], bool]
    reads: frozenset[str]  # the attributes that it reads
    learn: Callable[[Sequence[Item]], Awaitable[None]] | None = None  # reads what it needs to know of some items
    drops_few: bool = False  # whether no more items are read at a time than are wanted


def keep_all(keeps: Sequence[Keep]) -> Keep | None:
    """All of the parts as one; None without any. Only one that is alone may have to learn something."""
    if len(keeps) < 2:
        return keeps[0] if keeps else None
    tests = tuple(keep.holds for keep in keeps)
    reads = frozenset[str]().union(*(keep.reads for keep in keeps))
    return Keep(lambda item: all(holds(item) for holds in tests), reads)


class Walk:
    """The items of an index that match a filter, in order of time."""

    def __init__(
        self, database: Database, query: Query, plan: WalkPlan | None = None, keep: Keep | None = None
    ) -> None:
        """Prepare a walk.

        Args:
            query: the entity, the index, its bounds, the filter and the needed attributes.
            plan: the partitions; by default those of the query, which are few and in ascending order.
            keep: the part of the filter that stores cannot test.
        """
        self._database = database
        self._query = replace(query if keep is None else reading_for(query, keep), orders_ties=True)
        self._plan = plan or partial(_each_of, query.partitions)
        self._keep = keep
        self._entity = query.entity
        self._index = query.by
        self._sort = query.entity.templates[query.by].sort.names
        self._names = query.entity.position_names(query.by)

    async def page(
        self,
        paging: Paging,
        *,
        forward: bool,
        place_of: Callable[[Position], Position] | None = None,
        record_of: Callable[[Item], T],
    ) -> Page[T]:
        """A page of a connection in order of time, or with `forward=False` in reverse.

        Args:
            place_of: a position of the connection → that in the index; None if they are the same.
        """
        return await page_between(
            self.read,
            paging,
            forward=forward,
            place_of=lambda position: self.place_of(place_of(position) if place_of else position),
            record_of=record_of,
            to_count=self.to_count,
        )

    def to_count(self) -> list[Reader]:
        """The same walk, which reads no more than it needs to find the items."""
        walk = Walk(self._database, replace(self._query, attributes=frozenset()), self._plan, self._keep)
        return [Reader(walk.read, walk.place_of)]

    async def read(self, size: int, within: Between = WHOLE, *, forward: bool) -> ItemsFound:
        """The first items of a part of the list, or with `forward=False` the last ones, in reverse."""
        await give_way()
        wanted = size + 1  # one item more shows exactly whether more follow
        items: Sequence[Item] = []
        partitions = 0
        query, after, before = self._query, self._position(within.after), self._position(within.before)
        start, stop = (after, before) if forward else (before, after)
        first, last = (self._partition(place) if place else None for place in (start, stop))
        bounded = {last, first if within.with_ends else None}  # are read alone, as the ends bound them
        admitted = self._admission(within if stop or within.with_ends else None)
        async with aclosing(self._batches(wanted, forward, first, last)) as batches:
            async for batch, rows in batches:
                if query.where:
                    await charge_rows(tested=rows)
                behind = start if batch[0] == first and not within.with_ends else None
                while batch and len(items) < wanted:
                    rest = wanted - len(items)
                    if self._keep:
                        is_exact = self._keep.learn or self._keep.drops_few
                        rest = rest if is_exact else max(rest, READ_AT_LEAST)
                        await charge_rows(read=rest)
                    is_bounded = batch[0] in bounded
                    some = batch[:1] if is_bounded else batch[:-1] if batch[-1] == last else batch
                    between = self._bounds(batch[0], after, before) if is_bounded else query.between
                    page = await self._database.query(
                        replace(query, partitions=some, between=between, forward=forward, start=behind, limit=rest)
                    )
                    if self._keep and self._keep.learn:
                        await self._keep.learn(page.items)
                    items = joined(items, await passing(page.items, admitted) if admitted else page.items)
                    partitions += page.partitions
                    behind = page.last_key
                    batch = batch[batch.index(self._partition(behind)) if behind else len(some) :]
                    if batch and len(items) < wanted:
                        partitions -= 1 if behind else 0  # a partition that is read on counts once
                        await give_way()
                if len(items) >= wanted:
                    break
                await give_way()
        if len(items) > ITEMS_PER_PIECE:
            await give_way()
        return ItemsFound(items[:size], len(items) > size, partitions)

    async def _batches(
        self, wanted: int, forward: bool, first: Partition | None, last: Partition | None
    ) -> AsyncGenerator[Batch, None]:
        """Partitions to read together: as many as promise a full page, then twice as many each time."""
        # Behind a place, its partition may hold little of what it promises. So its promise does not count, except where
        # one partition too many costs a request of its own.
        is_counted = first is None or self._database.is_remote
        batch: list[Partition] = []
        promised = rows_held = 0
        async with aclosing(self._plan(forward=forward, start=first)) as promises:
            async for some in promises:
                for partition, most, rows in some:
                    if last is not None and (partition > last if forward else partition < last):
                        if batch:
                            yield Batch(batch, rows_held)
                        return
                    batch.append(partition)
                    promised += most if is_counted else 0
                    is_counted = True
                    rows_held += rows
                    if promised >= wanted or (self._query.where and rows_held >= ROWS_PER_BATCH):
                        yield Batch(batch, rows_held)
                        batch, promised, rows_held, wanted = [], 0, 0, wanted * 2
        if batch:
            yield Batch(batch, rows_held)

    def _bounds(self, partition: Partition, *ends: Position | None) -> Bounds:
        """The bounds, narrowed to those of two positions that lie in a partition."""
        lying = [each if each and self._partition(each) == partition else None for each in ends]
        low, high = (tuple([each[name] for name in self._sort]) if each else None for each in lying)
        return narrowed(self._query.between, (low, high))

    def _admission(self, within: Between | None) -> Callable[[Item], bool] | None:
        """A function that returns whether an item lies within a part and passes the filter; None if all do."""
        holds = self._keep.holds if self._keep else None
        if within is None:
            return holds
        return lambda item: within.holds(self.place_of(item)) and (holds is None or holds(item))

    def place_of(self, position: Position) -> Place:
        """The place of a position in the index."""
        return tuple([position[name] for name in self._names])

    def _position(self, place: Place | None) -> Position | None:
        return dict(zip(self._names, place, strict=True)) if place else None

    def _partition(self, place: Position) -> Partition:
        return self._entity.partition_of(self._index, place)


async def passing(items: Sequence[Item], holds: Callable[[Item], bool]) -> Sequence[Item]:
    """The items that pass a test, which may take a while: an area may have many corners."""
    at: list[int] = []
    for number, item in enumerate(items):
        if number % ITEMS_PER_PIECE == 0:
            await give_way()
        if holds(item):
            at.append(number)
    return picked(items, at)


def reading_for(query: Query, keep: Keep) -> Query:
    """The query, with the attributes that the rest of its filter reads."""
    return query if query.attributes is None else replace(query, attributes=query.attributes | keep.reads)


async def items_of(database: Database, query: Query, promises: Iterable[Promise]) -> AsyncIterator[Sequence[Item]]:
    """All matching items of the partitions, a bounded number at a time.

    Raises:
        QueryTooComplex: The operation in progress may not read so many.
    """
    for batch in _batched(promises, most=ITEMS_IN_MEMORY):
        await give_way()
        await charge_rows(tested=batch.rows)
        query = replace(query, partitions=batch.partitions, limit=ITEMS_IN_MEMORY)
        async for items in database.pages(query, charged=min(batch.rows, ITEMS_IN_MEMORY)):
            yield items


async def count_of(database: Database, query: Query, promises: Sequence[Promise]) -> int:
    """The number of matching items of the partitions.

    Raises:
        QueryTooComplex: The operation in progress may not read so many. Then nothing is read.
    """
    await charge_rows(tested=sum(rows for _, _, rows in promises))
    counted = 0
    for batch in _batched(promises):
        await give_way()
        counted += await database.count(replace(query, partitions=batch.partitions))
    return counted


def _batched(promises: Iterable[Promise], *, most: int | None = None) -> Iterator[Batch]:
    """Partitions to read together, with a bounded number of rows and items. A larger partition stands alone."""
    batch: list[Partition] = []
    promised = rows_held = 0
    for partition, matches, rows in promises:
        if batch and ((most and promised + matches > most) or rows_held + rows > ROWS_PER_BATCH):
            yield Batch(batch, rows_held)
            batch, promised, rows_held = [], 0, 0
        batch.append(partition)
        promised += matches
        rows_held += rows
    if batch:
        yield Batch(batch, rows_held)
