"""Reads an index in the order of time across partitions, one for each day.

The walk makes pages complete: it reads partition after partition until a page is full, and
resumes at the exact position where the page before stopped. The order of partitions is the order
of time. A plan names the partitions that may hold a match.

Items with equal sort keys are in the order of the query, which the store may choose. So keys are only
compared for equality here. If a reading must end before a given position, a query finds the items of
that tie that come first.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

from graph.core.paging import Later, Page, Paging, Position
from graph.store.between import ItemsFound, page_of
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Bounds, Partition, Prefix, Query, lies_within, narrowed
from graph.store.rows import filtered, joined
from graph.work.account import charge_rows, give_way

T = TypeVar("T")

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


class Keep(NamedTuple):
    """The part of a filter that stores cannot test."""

    holds: Callable[[Item], bool]
    reads: frozenset[str]  # the attributes that it reads
    learn: Callable[[Sequence[Item]], Awaitable[None]] | None = None  # reads what it needs to know of some items


def keep_all(keeps: Sequence[Keep]) -> Keep | None:
    """All of the parts as one; None without any. Only one that is alone may have to learn something."""
    if len(keeps) < 2:
        return keeps[0] if keeps else None
    tests = tuple(keep.holds for keep in keeps)
    reads = frozenset[str]().union(*(keep.reads for keep in keeps))
    return Keep(lambda item: all(holds(item) for holds in tests), reads)


class Walk:
    """The items of an index that match a filter, in order of time."""

    def __init__(self, database: Database, query: Query, plan: WalkPlan, keep: Keep | None = None) -> None:
        """Prepare a walk.

        Args:
            query: the entity, the index, its bounds, the filter and the needed attributes.
            plan: the partitions.
            keep: the part of the filter that stores cannot test.
        """
        self._database = database
        self._query = query if keep is None else reading_for(query, keep)
        self._plan = plan
        self._keep = keep
        self._entity = query.entity
        self._index = query.by
        self._sort = query.entity.templates[query.by].sort.names

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
        after, before = (place_of(at) if at and place_of else at for at in (paging.after, paging.before))
        start, stop = (before, after) if paging.backward else (after, before)
        forward = forward != paging.backward
        found = await self.read(paging.size, forward=forward, start=start, stop=stop)
        behind = Later(partial(self._behind, start, found.items, forward=not forward)) if start else False
        return page_of(found, paging, record_of, behind)

    async def read(
        self, size: int, *, forward: bool, start: Position | None = None, stop: Position | None = None
    ) -> ItemsFound:
        """Read at most `size` items after `start` and before `stop`, if they are given."""
        await give_way()
        wanted = size + 1  # one item more shows exactly whether more follow
        admitted = await self._admission(stop, forward)
        items: Sequence[Item] = []
        partitions = 0
        query, last = self._query, self._partition(stop) if stop else None
        async with aclosing(self._batches(wanted, forward, start, stop)) as batches:
            async for batch, rows in batches:
                if query.where:
                    await charge_rows(tested=rows)
                behind = start if start and self._partition(start) == batch[0] else None
                while batch and len(items) < wanted:
                    rest = wanted - len(items)
                    if self._keep:
                        rest = rest if self._keep.learn else max(rest, READ_AT_LEAST)
                        await charge_rows(read=rest)
                    # The partition of `stop` is the last one, and the only one that `stop` bounds.
                    some = batch[:-1] if batch[-1] == last and len(batch) > 1 else batch
                    between = self._until(stop, forward) if some == [last] else query.between
                    page = await self._database.query(
                        replace(query, partitions=some, between=between, forward=forward, start=behind, limit=rest)
                    )
                    await self._learn(page.items)
                    items = joined(items, filtered(page.items, admitted) if admitted else page.items)
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

    async def _behind(self, start: Position, items: Sequence[Item], *, forward: bool) -> bool:
        """Whether anything matches behind the items of a page, where they begin, in this direction."""
        if items:
            return await self._anything(forward, items[0])
        return await self._holds(start) or await self._anything(forward, start)

    async def _anything(self, forward: bool, start: Position) -> bool:
        return (await self.read(0, forward=forward, start=start)).more

    async def _holds(self, place: Position) -> bool:
        """Whether the item with exactly this key exists and matches."""
        at = self._at(place)
        if not lies_within(at, self._query.between):
            return False
        tie = await self._database.query(replace(self._query, partitions=[self._partition(place)], between=(at, at)))
        await self._learn(tie.items)
        key, keep = self._entity.key_of(place), self._keep
        return any(self._entity.key_of(item) == key and (not keep or keep.holds(item)) for item in tie.items)

    async def _learn(self, items: Sequence[Item]) -> None:
        if self._keep and self._keep.learn:
            await self._keep.learn(items)

    async def _batches(
        self, wanted: int, forward: bool, start: Position | None, stop: Position | None
    ) -> AsyncGenerator[Batch, None]:
        """Partitions to read together: as many as promise a full page, then twice as many each time."""
        last = self._partition(stop) if stop else None
        # Behind `start`, its partition may hold little of what it promises. So its promise does not count, except where
        # one partition too many costs a request of its own.
        is_counted = start is None or self._database.is_remote
        batch: list[Partition] = []
        promised = rows_held = 0
        async with aclosing(self._plan(forward=forward, start=self._partition(start) if start else None)) as promises:
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

    def _until(self, stop: Position | None, forward: bool) -> Bounds:
        """The bounds, narrowed to the position of `stop`."""
        between = self._query.between
        if stop is None:
            return between
        at = self._at(stop)
        return narrowed(between, (None, at) if forward else (at, None))

    async def _admission(self, stop: Position | None, forward: bool) -> Callable[[Item], bool] | None:
        """A function that returns whether an item comes before `stop` and passes the filter; None if all do."""
        holds = self._keep.holds if self._keep else None
        if stop is None:
            return holds
        at, at_of, last, partition_of = self._at(stop), self._at, self._partition(stop), self._partition
        key_of = self._entity.key_of
        tie = Query(
            entity=self._entity,
            index=self._query.index,
            partitions=[self._partition(stop)],
            between=(at, at),
            forward=not forward,
            start=stop,
            attributes=frozenset(),
            orders_ties=self._query.orders_ties,
        )
        before = {key_of(item) for item in (await self._database.query(tie)).items}

        def admitted(item: Item) -> bool:
            # Of the items that tie with `stop`, only those that come before it.
            is_before = at_of(item) != at or partition_of(item) != last or key_of(item) in before
            return is_before and (holds is None or holds(item))

        return admitted

    def _at(self, place: Position) -> Prefix:
        """The values of the sort key."""
        return tuple([place[name] for name in self._sort])

    def _partition(self, place: Position) -> Partition:
        return self._entity.partition_of(self._index, place)


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
