"""Reads several partitions of an index as one list, in order of the sort key.

An engine may merge some partitions itself, in one reading. Every such group, or else every partition, is read some
items at a time. What lies before the place that all of them have reached is complete, and can be put in order. Only
those that are furthest behind are read on, each more items at a time than before. So a page costs little more than its
own items, and a few of each group.

Items with equal sort keys are ordered by the rest of their primary key: the order that a store has for them in one
partition says nothing about those of another.
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from operator import itemgetter

from graph.core.paging import Position
from graph.store.between import Between, ItemsFound, Place
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Bounds, Partition, Query, narrowed
from graph.store.rows import joined, picked, values_of
from graph.store.time_walk import ITEMS_PER_PIECE, READ_AT_LEAST, Keep, passing, reading_for
from graph.work.account import charge_rows, give_way

AT_LEAST = 8  # items of a group at a time
FEW = 4  # groups; to read one of them a second time costs as much as to read a hundred items more
GROWTH = 2  # of a reading over the one before it of the same group
MOST_AT_ONCE = 1000  # items of a later reading; to test more of them would hold the event loop for long


@dataclass(slots=True)
class _PartitionGroup:
    """A group of partitions that is being read, or only one."""

    partitions: Sequence[Partition]
    at_once: int  # items of its next reading
    last: Item | None = None  # the reading goes on behind it
    more: bool = True  # whether anything may follow


class MergedPartitions:
    """The matching items of a query's partitions as one list."""

    def __init__(
        self, database: Database, query: Query, keep: Keep | None = None, *, order: Sequence[str] | None = None
    ) -> None:
        """Prepare to read.

        Args:
            query: its partitions, in any order, with bounds and filter.
            keep: the part of the filter that stores cannot test.
            order: attributes that put items in order: those of the sort key, and what tells items apart that have the
                same. By default the rest of the primary key.
        """
        self._database = database
        self._query = query if keep is None else reading_for(query, keep)
        self._keep = keep
        self._sort = query.entity.templates[query.by].sort.names
        self._names = tuple(order or dict.fromkeys((*self._sort, *query.entity.key_names)))

    def place_of(self, item: Position) -> Place:
        """The place of an item in the list."""
        return tuple([item[name] for name in self._names])

    async def read(self, size: int, within: Between, *, forward: bool) -> ItemsFound:
        """The first items of a part of the list, or with `forward=False` the last ones, in reverse."""
        query, wanted = replace(self._query, between=self._bounds(within), forward=forward), size + 1
        partitions, merged = self._query.partitions, self._database.merges
        groups = [partitions[at : at + merged] for at in range(0, len(partitions), merged)]
        at_once = self._at_once(wanted, len(groups))
        streams = [_PartitionGroup(group, at_once) for group in groups]
        found: Sequence[Item] = []
        places: list[Place] = []
        in_order: list[int] = []  # those items that nothing unread can come before
        behind = streams
        while behind:
            for items in await self._read_all(behind, query, within):
                found = joined(found, items)
                places += values_of(items, self._names)
            await give_way()
            in_order = sorted(range(len(places)), key=places.__getitem__, reverse=not forward)
            reached = [self._key(stream.last) for stream in streams if stream.more and stream.last]
            if not reached:
                break
            end = min(reached) if forward else max(reached)
            in_order = in_order[: _number_before(end, [places[at] for at in in_order], forward)]
            if len(in_order) >= wanted:
                break
            behind = [stream for stream in streams if stream.more and stream.last and self._key(stream.last) == end]
        if len(in_order) > ITEMS_PER_PIECE:
            await give_way()
        return ItemsFound(picked(found, in_order[:size]), len(in_order) > size, len(partitions))

    def _at_once(self, wanted: int, groups: int) -> int:
        """The items of each group's first reading."""
        # Of few groups, as if one of them had the whole page, with the item at the place behind which the page
        # begins, and one that shows a tie's end.
        at_once = wanted + 2 if groups <= FEW else max(ceil(GROWTH * wanted / groups), AT_LEAST)
        return max(at_once, READ_AT_LEAST // max(groups, 1)) if self._keep else at_once

    async def _read_all(
        self, streams: Sequence[_PartitionGroup], query: Query, within: Between
    ) -> list[Sequence[Item]]:
        if self._keep:
            await charge_rows(read=sum(stream.at_once for stream in streams))
        if len(streams) == 1 or not self._database.is_remote:
            return [await self._read(each, query, within) for each in streams]
        return list(await asyncio.gather(*[self._read(each, query, within) for each in streams]))

    async def _read(self, stream: _PartitionGroup, query: Query, within: Between) -> Sequence[Item]:
        """The next items of a group that are wanted."""
        await give_way()  # else a hundred readings would begin in one iteration of the loop
        some = stream.partitions
        page = await self._database.query(
            replace(query, partitions=some, merged=len(some) > 1, start=stream.last, limit=stream.at_once)
        )
        stream.at_once = min(stream.at_once * GROWTH, MOST_AT_ONCE)
        stream.more = page.last_key is not None
        stream.last = page.items[-1] if page.items else stream.last
        items = await passing(page.items, self._keep.holds) if self._keep else page.items
        if within.after is None and within.before is None:
            return items
        places = values_of(items, self._names)
        return picked(items, [at for at, place in enumerate(places) if within.holds(place)])

    def _bounds(self, within: Between) -> Bounds:
        """The bounds of the query, narrowed to a part of the list."""
        after, before, length = within.after or (), within.before or (), len(self._sort)
        return narrowed(self._query.between, (after[:length], before[:length]))

    def _key(self, item: Item) -> Place:
        """The values of the sort key."""
        return tuple([item[name] for name in self._sort])


def _number_before(end: Place, places: Sequence[Place], forward: bool) -> int:
    """How many places, in the direction of reading, come before those whose sort key is `end`."""
    key = itemgetter(slice(len(end)))
    if forward:
        return bisect_left(places, end, key=key)
    return len(places) - bisect_right(places[::-1], end, key=key)
