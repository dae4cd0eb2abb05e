"""Pages through several walks as one list, such as the ranges of an index that hold the values of a condition.

Every walk is read as far as the page might reach, and charged for it: a page costs as many pages as there are walks.
An item that moves to another walk while a page is read may be found in both, and is listed once.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from graph.core.paging import Page, Paging, Position
from graph.store.between import WHOLE, Between, ItemsFound, Place, page_between
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.rows import joined, picked, values_of
from graph.store.time_walk import Walk
from graph.work.account import charge_rows

T = TypeVar("T")


class Part(NamedTuple):
    """A part of the list."""

    walk: Walk
    values: Position  # what a place in its index has besides a place in the list


@dataclass(frozen=True, slots=True)
class MergedWalks:
    """The items of all parts."""

    database: Database
    parts: Sequence[Part]
    names: tuple[str, ...]  # the attributes that the list is ordered by, at least two

    async def page(self, paging: Paging, *, forward: bool, record_of: Callable[[Item], T]) -> Page[T]:
        """A page of the list, or with `forward=False` of the reversed list."""
        return await page_between(
            self.read,
            paging,
            forward=forward,
            place_of=lambda position: tuple([position[name] for name in self.names]),
            record_of=record_of,
            to_count=lambda: [reader for each in self.parts for reader in each.walk.to_count()],
        )

    async def read(self, size: int, within: Between = WHOLE, *, forward: bool) -> ItemsFound:
        """The first items of a part of the list, or with `forward=False` the last ones, in reverse."""
        await charge_rows(read=(size + 1) * max(len(self.parts) - 1, 0))
        readings = [each.walk.read(size, self._within(each, within), forward=forward) for each in self.parts]
        remote = self.database.is_remote
        read = await asyncio.gather(*readings) if remote else [await reading for reading in readings]
        if len(read) == 1:
            return read[0]
        found: Sequence[Item] = []
        for each in read:
            found = joined(found, each.items)
        places = {place: at for at, place in enumerate(values_of(found, self.names))}
        in_order = sorted(places, reverse=not forward)
        return ItemsFound(
            picked(found, [places[place] for place in in_order[:size]]),
            len(in_order) > size or any(each.more for each in read),
            sum(each.partitions for each in read),
        )

    def _within(self, part: Part, within: Between) -> Between:
        """The same part of a walk's own list."""
        return Between(self._own(part, within.after), self._own(part, within.before), within.with_ends)

    def _own(self, part: Part, place: Place | None) -> Place | None:
        return part.walk.place_of({**part.values, **dict(zip(self.names, place, strict=True))}) if place else None
