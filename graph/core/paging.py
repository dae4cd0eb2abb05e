"""Pages of a connection for access patterns: the arguments, the positions and the results."""

from asyncio import Future, ensure_future
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar, cast

from graph.core.errors import BadUserInput, InvalidCursor

T = TypeVar("T")
R = TypeVar("R")

Position = Mapping[str, Any]
"""The values that an item has of the attributes of an order: an item, or only these of its attributes."""

Total = int | str
"""The exact number of records on all pages of a list, or the reason why they are not counted."""

NOT_COUNTED = "Counting would read too much: narrow the filter, or ask for less at once."


@dataclass(frozen=True, slots=True)
class PageSizes:
    """The number of records on a page, by default and at most."""

    default: int = 50
    most: int = 1000


USUAL_SIZES = PageSizes()


@dataclass(frozen=True, slots=True)
class Paging:
    """Which page of a connection: the first records behind `after`, or the last ones before `before`."""

    size: int
    backward: bool = False
    after: Position | None = None
    before: Position | None = None

    @classmethod
    def read(
        cls,
        position_of: Callable[[Any, str], Position],
        sizes: PageSizes,
        *,
        first: int | None = None,
        after: Any = None,
        last: int | None = None,
        before: Any = None,
    ) -> Self:
        """Read Relay's four paging arguments.

        Args:
            position_of: reads a cursor, which came as the argument of that name.

        Raises:
            BadUserInput: `first` and `last` together, or a size below 0 or above the largest.
            InvalidCursor: A cursor is not one of this connection.
        """
        if first is not None and last is not None:
            raise BadUserInput("Give `first` to page forward or `last` to page backward, not both.")
        for argument, size in (("first", first), ("last", last)):
            if size is not None and not 0 <= size <= sizes.most:
                raise BadUserInput(f"`{argument}` must lie between 0 and {sizes.most}.")
        size = first if first is not None else last if last is not None else sizes.default
        return cls(
            size=size,
            backward=last is not None,
            after=position_of(after, "after") if after is not None else None,
            before=position_of(before, "before") if before is not None else None,
        )

    def of_list(self, length: int, place_of: Callable[[Position], int]) -> "Page[int]":
        """The places of a page in a list of that length; the first place is 0."""
        first = place_of(self.after) + 1 if self.after else 0
        last = min(place_of(self.before), length) if self.before else length
        begin = max(last - self.size, first) if self.backward else first
        end = last if self.backward else min(first + self.size, last)
        return Page(
            records=range(begin, end),
            partitions=1,
            backward=self.backward,
            has_more=begin > first if self.backward else end < last,
            has_behind=end < length if self.backward else begin > 0,
            total=length,
        )

    def check(self, is_there: Callable[[Position], bool]) -> None:
        """Raise `InvalidCursor` for a position that is not of this list."""
        for argument, position in (("after", self.after), ("before", self.before)):
            if position is not None and not is_there(position):
                raise InvalidCursor(argument)


@dataclass(frozen=True, kw_only=True)
class Page(Generic[T]):
    """A page of records in the connection's order, and what lies on either side of it."""

    records: Sequence[T]
    partitions: int  # the number of partitions that were read
    backward: bool  # whether it was read backward, from `before` on
    has_more: bool  # whether more records follow in the direction of reading, up to the other cursor
    has_behind: "bool | Later[bool]"  # whether records precede it in the direction of reading
    total: "Total | Later[Total]" = NOT_COUNTED

    @property
    def has_next(self) -> "bool | Later[bool]":
        """Whether records follow the page."""
        return self.has_behind if self.backward else self.has_more

    @property
    def has_previous(self) -> "bool | Later[bool]":
        """Whether records precede the page."""
        return self.has_more if self.backward else self.has_behind

    def of(self, records: Sequence[R]) -> "Page[R]":
        """The same page, of other records."""
        return replace(cast("Page[Any]", self), records=records)

    async def read_total(self) -> Total:
        """The total of the list, which may take a query."""
        return await self.total if isinstance(self.total, Later) else self.total

    def counted(self, count: Callable[[], Awaitable[Total]]) -> Self:
        """The same page with the total of its list, which is counted unless the page is known to be the whole list."""
        return self if isinstance(self.total, int) else replace(self, total=Later(count))


@dataclass(slots=True)
class Later(Generic[T]):
    """A value that takes a query to compute; it runs only when awaited, and once however often it is awaited."""

    compute: Callable[[], Awaitable[T]]
    _computing: Future[T] | None = field(default=None, init=False)

    def __await__(self) -> Generator[Any, None, T]:
        if self._computing is None:
            self._computing = ensure_future(self.compute())
        return self._computing.__await__()
