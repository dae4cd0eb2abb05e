"""Pages of a list whose reader finds the first items between two places.

A place is a tuple that the list is ordered by, such as a time and an event id. It need not be that of an item.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

from graph.core.errors import QueryTooComplex
from graph.core.paging import NOT_COUNTED, Later, Page, Paging, Position, Total
from graph.store.entity import Item
from graph.store.records import Records
from graph.work.account import charge_rows, reading_at_most

T = TypeVar("T")

Place = tuple[Any, ...]

MOST_COUNTED = 10_000  # items of a list, where no counter has their number
MOST_READ = 2 * MOST_COUNTED  # rows, to count them: a filter is charged besides
FIRST_COUNTED = 100  # so many are paid with the price of a total
COUNTED_AT_ONCE = 1000
TOO_MANY = f"There are more than {MOST_COUNTED:,}: narrow the filter."


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


class Reader(NamedTuple):
    """A list, or a part of one, that is counted."""

    read: Read
    place_of: Callable[[Position], Place]


async def page_between(
    read: Read,
    paging: Paging,
    *,
    forward: bool,
    place_of: Callable[[Position], Place],
    record_of: Callable[[Item], T],
    to_count: Callable[[], Sequence[Reader]] | None = None,
) -> Page[T]:
    """A page of a list, or with `forward=False` of the reversed list. Its total is counted when it is awaited.

    Args:
        to_count: makes readers of the items' places alone, whose numbers are added up; by default `read` counts.
    """
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
    is_whole = not (found.more or after or before)
    return Page(
        records=records[::-1] if paging.backward else records,
        partitions=found.partitions,
        backward=paging.backward,
        has_more=found.more,
        has_behind=behind,
        total=len(items) if is_whole else Later(partial(_count, to_count or (lambda: [Reader(read, place_of)]))),
    )


async def _count(to_count: Callable[[], Sequence[Reader]]) -> Total:
    """The number of items of a list. What it reads is bounded, and charged to the operation in progress."""
    counted = 0
    try:
        with reading_at_most(MOST_READ):
            for read, place_of in to_count():
                found, within = ItemsFound((), True, 0), WHOLE
                while found.more:
                    if counted > MOST_COUNTED:
                        return TOO_MANY
                    size = COUNTED_AT_ONCE if counted else FIRST_COUNTED
                    await charge_rows(read=size if counted else 0)
                    found = await read(size, within, forward=True)
                    counted += len(found.items)
                    if found.more:
                        within = Between(place_of(found.items[-1]))
    except QueryTooComplex:
        return NOT_COUNTED
    return counted


async def _anything(read: Read, within: Between, *, forward: bool) -> bool:
    return (await read(0, within, forward=forward)).more
