"""Pages of a list whose reader finds the first items between two places.

A place is a tuple that the list is ordered by, such as a time and an event id. It need not be that of an item.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

from graph.core.paging import Later, Page, Paging, Position
from graph.store.entity import Item
from graph.store.records import Records

T = TypeVar("T")

Place = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """The part of a list between two places, None for an end of the list."""

    after: Place | None = None  # in ascending order, whatever the direction of reading
    before: Place | None = None
    with_ends: bool = False

    def holds(self, place: Place) -> bool:
        """Whether a place lies in this part."""
        if self.after and not (place > self.after or (self.with_ends and place == self.after)):
            return False
        return not self.before or place < self.before or (self.with_ends and place == self.before)

    def among(self, value: Any) -> "Between":
        """The part of the places that begin with this value, by the rest of each place."""
        return replace(self, after=_rest(self.after, value), before=_rest(self.before, value))


WHOLE = Between()


def _rest(place: Place | None, value: Any) -> Place | None:
    return place[1:] if place and place[0] == value else None


class ItemsFound(NamedTuple):
    """What a reading in one direction found."""

    items: Sequence[Item]  # in the direction of reading
    more: bool  # whether more follow
    partitions: int  # that were read


class Read(Protocol):
    """Reads a part of a list."""

    async def __call__(self, size: int, within: Between, *, forward: bool) -> ItemsFound:
        """The first items of the part, or with `forward=False` the last ones."""


async def page_between(
    read: Read,
    paging: Paging,
    *,
    forward: bool,
    place_of: Callable[[Position], Place],
    record_of: Callable[[Item], T],
) -> Page[T]:
    """A page of a list, or with `forward=False` of the reversed list."""
    direction = forward != paging.backward
    after, before = (place_of(at) if at else None for at in (paging.after, paging.before))
    within = Between(after, before) if forward else Between(before, after)
    found = await read(paging.size, within, forward=direction)
    items = found.items
    start = before if paging.backward else after
    behind: bool | Later[bool] = False
    if start is not None:
        end = place_of(items[0]) if items else start
        beyond = Between(None, end, not items) if direction else Between(end, None, not items)
        behind = Later(partial(_anything, read, beyond, forward=not direction))
    records = Records(record_of, items)
    return Page(
        records=records[::-1] if paging.backward else records,
        partitions=found.partitions,
        backward=paging.backward,
        has_more=found.more,
        has_behind=behind,
    )


async def _anything(read: Read, within: Between, *, forward: bool) -> bool:
    return (await read(0, within, forward=forward)).more
