"""Pages of a connection for access patterns: the arguments, the positions and the results.

A position is the place of a record in the order of a connection: `Position` is a time and a key, and
`graph.store.ordering` has the positions of any index. A cursor holds a position as text, which a client
passes back unchanged. It holds nothing secret.
"""

import re
from base64 import urlsafe_b64decode
from binascii import b2a_base64
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from graph.core.days import FIRST_MS, LAST_MS
from graph.core.errors import BadUserInput, InvalidCursor

T = TypeVar("T")
P = TypeVar("P")

CURSOR_VERSION = 1
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_CURSOR = re.compile(
    r"(?P<connection>[a-z]+)(?P<version>[0-9]{1,4}):(?P<time>0|-?[1-9][0-9]{0,14}):(?P<key>[^\x00-\x1f\x7f]{1,64})"
)


def encoded(position: bytes) -> str:
    """The text of a position as a cursor, URL-safe."""
    return b2a_base64(position, newline=False).translate(_URL_SAFE, b"=").decode()


def encode_cursor(text: str) -> str:
    """The text of a position as a cursor, URL-safe."""
    return encoded(text.encode())


def decode_cursor(cursor: str, argument: str) -> str:
    """The text that a cursor holds.

    Raises:
        InvalidCursor: It holds none. The message names `argument`.
    """
    try:
        return urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)).decode()
    except ValueError as error:
        raise InvalidCursor(argument) from error


def cursors_of(connection: str) -> Callable[[int, str], str]:
    """The function that makes the cursor of a time and a key, without a `Position`, since each edge has a cursor."""
    begin = f"{connection}{CURSOR_VERSION}"

    def cursor(time_ms: int, key: str) -> str:
        text = f"{begin}:{time_ms}:{key}"
        return b2a_base64(text.encode(), newline=False).translate(_URL_SAFE, b"=").decode()

    return cursor


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a record in a connection."""

    connection: str  # lower-case name; a cursor of another connection is refused
    time_ms: int  # epoch milliseconds
    key: str  # tells records of the same millisecond apart, at most 64 characters

    @property
    def place(self) -> tuple[int, str]:
        """What positions of a connection are ordered by."""
        return self.time_ms, self.key

    @property
    def cursor(self) -> str:
        """The position as opaque text, URL-safe."""
        return cursors_of(self.connection)(self.time_ms, self.key)

    @classmethod
    def of_cursor(cls, connection: str, cursor: str, argument: str) -> "Position":
        """The position that `cursor` holds.

        Raises:
            InvalidCursor: It is not a cursor of this connection. The message names `argument`.
        """
        found = _CURSOR.fullmatch(decode_cursor(cursor, argument))
        if not found or found["connection"] != connection or int(found["version"]) != CURSOR_VERSION:
            raise InvalidCursor(argument)
        position = cls(connection, int(found["time"]), found["key"])
        if not FIRST_MS <= position.time_ms <= LAST_MS or position.cursor != cursor:
            raise InvalidCursor(argument)
        return position


@dataclass(frozen=True, slots=True)
class TimeOrder:
    """The order of a connection whose cursors hold a time and a key."""

    name: str  # of the connection, in its cursors

    def place_of(self, cursor: str, argument: str) -> Position:
        """The position that a cursor holds; InvalidCursor for any other text."""
        return Position.of_cursor(self.name, cursor, argument)


@dataclass(frozen=True, slots=True)
class PageSizes:
    """The number of records on a page, by default and at most."""

    default: int = 50
    most: int = 1000


@dataclass(frozen=True, slots=True)
class Paging(Generic[P]):
    """Which page of a connection: the first records behind `after`, or the last ones before `before`."""

    size: int
    backward: bool = False
    after: P | None = None
    before: P | None = None

    @classmethod
    def of(
        cls,
        connection: str,
        sizes: PageSizes,
        *,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> "Paging[Position]":
        """Read Relay's four paging arguments, where the connection is ordered by time.

        Raises: As `read`.
        """

        order = TimeOrder(connection)
        return Paging[Position].read(order.place_of, sizes, first=first, after=after, last=last, before=before)

    @classmethod
    def read(
        cls,
        position_of: Callable[[Any, str], P],
        sizes: PageSizes,
        *,
        first: int | None = None,
        after: Any = None,
        last: int | None = None,
        before: Any = None,
    ) -> "Paging[P]":
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


@dataclass(frozen=True, kw_only=True)
class Page(Generic[T]):
    """A page of records in the connection's order, and what lies on either side of it."""

    records: Sequence[T]
    partitions: int  # the number of partitions that were read
    backward: bool  # whether it was read backward, from `before` on
    has_more: bool  # whether more records follow in the direction of reading, up to the other cursor
    has_behind: "bool | Later[bool]"  # whether records precede it in the direction of reading

    @property
    def has_next(self) -> "bool | Later[bool]":
        """Whether records follow the page."""
        return self.has_behind if self.backward else self.has_more

    @property
    def has_previous(self) -> "bool | Later[bool]":
        """Whether records precede the page."""
        return self.has_more if self.backward else self.has_behind


@dataclass(frozen=True, slots=True)
class Later(Generic[T]):
    """A value that takes a query to compute; it runs only when awaited."""

    compute: Callable[[], Awaitable[T]]

    def __await__(self) -> Generator[Any, None, T]:
        return self.compute().__await__()
