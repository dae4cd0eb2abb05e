"""Reading an index in the order of time across partitions, one of which holds each day.

The walk is what makes pages complete: it reads partition after partition until a page is
full, and it resumes by the exact key where the page before it stopped. Partitions are texts
whose order is the order of time, and a plan names those that may hold a match.

Order within equal sort keys belongs to the store, so nothing here compares keys for more
than equality. Where a reading must end before a given key, the store itself is asked which
items of that tie come first.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

from graph.core.paging import Later, Page, Paging, Position
from graph.store.conditions import Condition
from graph.store.contract import UNBOUNDED, Bounds, Item, Key, Table
from graph.store.design import Index
from graph.work.account import charge_rows, give_way

T = TypeVar("T")
StartKey = Mapping[str, Any]
"""An item, or just its keys of the table and of the index."""

READ_AT_LEAST = 200  # items at a time where a part of the filter is tested here and may drop most
ITEMS_A_PIECE = 100  # what is made of more takes long enough to be a piece of its own
ITEMS_IN_MEMORY = 500  # at a time, where all of them are wanted
ROWS_A_BATCH = 20_000  # that a store tests a filter on before other callers have their turn: some milliseconds


class Promise(NamedTuple):
    """A partition that may hold matches, and how many at most. A promise is not always kept."""

    partition: str
    most: int
    rows: int  # items that a filter may have to be tested on


Promises = Iterable[Promise]


class Batch(NamedTuple):
    """Partitions to read together."""

    partitions: list[str]
    rows: int  # that they hold


class Plan(Protocol):
    """Says which partitions to read."""

    def __call__(self, *, forward: bool, start: str | None) -> AsyncGenerator[Promises, None]:
        """The partitions in order of time, or backwards, from `start` on, itself included, some at a time."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read in one direction, and the way it was asked for."""

    items: list[Item]  # in the direction of reading
    more: bool  # whether more follow before `stop`
    partitions: int  # how many were read
    forward: bool
    start: StartKey | None


@dataclass(frozen=True, slots=True)
class Walk:
    """The items of an index that match a filter, in order of time."""

    table: Table
    index: Index
    plan: Plan
    between: Bounds  # of the sort key
    where: Condition | None = None
    keep: Callable[[Item], bool] | None = None  # the part of the filter that no store can test

    async def page(
        self,
        paging: Paging,
        *,
        forward: bool,
        key_of: Callable[[Position], StartKey],
        record_of: Callable[[Item], T],
    ) -> Page[T]:
        """The page of a connection that runs in order of time, or against it where not `forward`."""
        after = key_of(paging.after) if paging.after else None
        before = key_of(paging.before) if paging.before else None
        start, stop = (before, after) if paging.backward else (after, before)
        reading = await self.read(paging.size, forward=forward != paging.backward, start=start, stop=stop)
        records = list(map(record_of, reading.items))
        return Page(
            records=records[::-1] if paging.backward else records,
            partitions=reading.partitions,
            backward=paging.backward,
            has_more=reading.more,
            has_behind=Later(partial(self.behind, reading)) if reading.start else False,
        )

    async def read(
        self, size: int, *, forward: bool, start: StartKey | None = None, stop: StartKey | None = None
    ) -> Reading:
        """At most `size` items behind the key `start` and before the key `stop`, as far as they are given."""
        await give_way()
        wanted = size + 1  # one more than asked tells exactly whether more follow
        taken = await self._taken(stop, forward)
        items: list[Item] = []
        partitions = 0
        async with aclosing(self._batches(wanted, forward, start, stop)) as batches:
            async for batch, rows in batches:
                if self.where:
                    await charge_rows(tested=rows)
                behind = start if start and start[self.index.partition_key.name] == batch[0] else None
                while batch and len(items) < wanted:
                    rest = wanted - len(items)
                    if self.keep:
                        rest = max(rest, READ_AT_LEAST)
                        await charge_rows(read=rest)
                    page = await self.table.query_many(
                        self.index,
                        batch,
                        between=self._until(stop, forward),
                        forward=forward,
                        start=behind,
                        limit=rest,
                        where=self.where,
                    )
                    items += filter(taken, page.items) if taken else page.items
                    partitions += page.partitions
                    behind = page.last_key
                    batch = batch[batch.index(behind[self.index.partition_key.name]) :] if behind else []
                    if batch and len(items) < wanted:
                        partitions -= 1  # the one that is read on counts once
                        await give_way()
                if len(items) >= wanted:
                    break
                await give_way()
        if len(items) > ITEMS_A_PIECE:
            await give_way()
        return Reading(items[:size], len(items) > size, partitions, forward, start)

    async def behind(self, reading: Reading) -> bool:
        """Whether anything matches on the side that the reading came from."""
        if reading.start is None:
            return False
        if reading.items:
            return await self._anything(not reading.forward, reading.items[0])
        return await self._holds(reading.start) or await self._anything(not reading.forward, reading.start)

    async def _anything(self, forward: bool, start: StartKey | None) -> bool:
        return bool((await self.read(0, forward=forward, start=start)).more)

    async def _holds(self, key: StartKey) -> bool:
        """Whether the item with this very key exists and matches."""
        at: Any = key[self.index.sort_key.name]
        low, high = self.between
        if (low is not None and at < low) or (high is not None and at > high):
            return False
        tie = await self.table.query(self.index, key[self.index.partition_key.name], between=(at, at), where=self.where)
        return any(self._key(item) == self._key(key) and (not self.keep or self.keep(item)) for item in tie.items)

    async def _batches(
        self, wanted: int, forward: bool, start: StartKey | None, stop: StartKey | None
    ) -> AsyncGenerator[Batch, None]:
        """Partitions to read together: as many as promise the page, then twice that, since promises fail."""
        name = self.index.partition_key.name
        batch: list[str] = []
        promised = held = 0
        async with aclosing(self.plan(forward=forward, start=start[name] if start else None)) as promises:
            async for some in promises:
                for partition, most, rows in some:
                    if stop and (partition > stop[name] if forward else partition < stop[name]):
                        if batch:
                            yield Batch(batch, held)
                        return
                    batch.append(partition)
                    promised += most
                    held += rows
                    if promised >= wanted or (self.where and held >= ROWS_A_BATCH):
                        yield Batch(batch, held)
                        batch, promised, held, wanted = [], 0, 0, wanted * 2
        if batch:
            yield Batch(batch, held)

    def _until(self, stop: StartKey | None, forward: bool) -> Bounds:
        """The bounds, narrowed to the sort key of `stop`."""
        low: Any
        high: Any
        low, high = self.between
        if stop is None:
            return low, high
        at = stop[self.index.sort_key.name]
        if forward:
            return low, at if high is None else min(high, at)
        return at if low is None else max(low, at), high

    async def _taken(self, stop: StartKey | None, forward: bool) -> Callable[[Item], bool] | None:
        """Tells which of the items that are read are before `stop` and pass the filter; None where all are."""
        if stop is None:
            return self.keep
        partition, at = stop[self.index.partition_key.name], stop[self.index.sort_key.name]
        page = await self.table.query(self.index, partition, between=(at, at), forward=not forward, start=stop)
        before = {self._key(item) for item in page.items}

        def taken(item: Item) -> bool:
            # Of `stop` and its tie, those that come before it.
            admitted = item[self.index.sort_key.name] != at or self._key(item) in before
            return admitted and (self.keep is None or self.keep(item))

        return taken

    def _key(self, item: StartKey) -> Key:
        return item[self.table.design.partition_key.name], item[self.table.design.sort_key.name]


async def items_of(
    table: Table,
    index: Index,
    promises: Iterable[Promise],
    *,
    between: Bounds = UNBOUNDED,
    where: Condition | None = None,
) -> AsyncIterator[list[Item]]:
    """All items of partitions that match, a bounded number at a time.

    Raises:
        QueryTooComplex: The operation in progress may not read so many.
    """
    for batch in _batched(promises, most=ITEMS_IN_MEMORY):
        await give_way()
        await charge_rows(tested=batch.rows)
        partitions: Sequence[str] = batch.partitions
        start: StartKey | None = None
        while partitions:
            await charge_rows(read=min(batch.rows, ITEMS_IN_MEMORY))
            page = await table.query_many(
                index, partitions, between=between, start=start, limit=ITEMS_IN_MEMORY, where=where
            )
            yield page.items
            await give_way()
            start = page.last_key
            partitions = partitions[partitions.index(start[index.partition_key.name]) :] if start else ()


async def count_of(
    table: Table, index: Index, promises: Sequence[Promise], *, between: Bounds, where: Condition | None
) -> int:
    """How many items of partitions match.

    Raises:
        QueryTooComplex: The operation in progress may not read so many. Then nothing is read.
    """
    await charge_rows(tested=sum(promise.rows for promise in promises))
    counted = 0
    for batch in _batched(promises):
        await give_way()
        counted += await table.count(index, batch.partitions, between=between, where=where)
    return counted


def _batched(promises: Iterable[Promise], *, most: int | None = None) -> Iterator[Batch]:
    """Partitions to read together: with so many rows that a store is soon done, and so many items. Or single ones."""
    batch: list[str] = []
    promised = held = 0
    for partition, matches, rows in promises:
        if batch and ((most and promised + matches > most) or held + rows > ROWS_A_BATCH):
            yield Batch(batch, held)
            batch, promised, held = [], 0, 0
        batch.append(partition)
        promised += matches
        held += rows
    if batch:
        yield Batch(batch, held)
