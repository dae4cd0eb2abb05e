"""The attributes of an entity: their names, types, units and bounds.

Each kind checks its values. SQLite keeps text, numbers and truth values in typed columns, and a
`JsonDocument`, which is a list or a mapping, as JSON.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Any, ClassVar

from graph.store.values import (
    InvalidItem,
    bytes_at_most,
    check_number,
    check_number_of_values,
    check_text,
    value_bytes,
    written_bytes,
)

PLAIN = "[-.0-9A-Z_a-z]*"  # a pattern, with its characters in order
LEAST_PLAIN = "-"
CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
UTC_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|\+00:00)"  # a pattern


class Filled:
    """The value of an attribute that an item lacks, computed from others. It is known only where the item is read."""

    def __init__(self, compute: Callable[..., Any], *attributes: str, values: Sequence[Any] = ()) -> None:
        """Name the attributes in the order in which `compute` takes them.

        Args:
            values: all that the only attribute can be. With them, the result can be compared in filters, too.
        """
        self.compute = compute
        self.attributes = attributes
        self.values = values


IN_INDEX = Filled(lambda: None)
"""The value is taken from the key of an index that names the attribute. What the primary key names always is."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of any kind. A record names it, see `records.stored`; that of an entity alone has its name."""

    python_type: ClassVar[type[Any]]  # of its values
    classes: ClassVar[frozenset[type]]  # of the values that an engine reads
    letters: ClassVar[tuple[str, ...]]  # of its types in DynamoDB

    name: str = ""
    _: KW_ONLY
    unit: str = ""  # for people: "epoch ms", "km"
    optional: bool = False  # an item may lack it
    in_key_alone: bool = False  # DynamoDB keeps it only in a key, not as an attribute of its own
    # What it is in an item of another program, which lacks it: a value, or `Filled`. None if there is no such value.
    absent: Any = None

    def check(self, value: Any) -> None:
        """Raise `InvalidItem` unless the attribute can have the value."""
        raise NotImplementedError

    def check_class(self, value: Any) -> None:
        """Raise `InvalidItem` unless a value that was read is of the attribute's type, whatever its bounds are."""
        if value.__class__ not in self.classes:
            raise InvalidItem(f"`{self.name}` cannot be a {type(value).__name__}")

    def text(self, value: Any) -> str:
        """The value as text for a key."""
        raise InvalidItem(f"`{self.name}` cannot be part of a key")

    def of_text(self, text: str) -> Any:
        """The value of a text that comes from a key."""
        raise InvalidItem(f"`{self.name}` cannot be part of a key")

    def keeps_order_before(self, literal: str) -> bool:
        """Whether text keys in which this text follows the value are in the order of values."""
        return False

    def _refuse(self, wanted: str) -> InvalidItem:
        return InvalidItem(f"`{self.name}` must be {wanted}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Attribute):
    """A text that is valid Unicode."""

    python_type: ClassVar[type[str]] = str
    classes: ClassVar[frozenset[type]] = frozenset({str})
    letters: ClassVar[tuple[str, ...]] = ("S",)

    shortest: int = 0  # characters
    longest: int | None = None  # characters
    plain: bool = False  # only ASCII letters, digits, `_`, `.` and `-`
    in_cursor: bool = False  # no control characters, which a cursor cannot have

    @property
    def has_one_length(self) -> bool:
        """Whether all its values have the same number of characters."""
        return self.shortest == self.longest

    def check(self, value: Any) -> None:
        if not isinstance(value, str):
            raise self._refuse("a text")
        if self.longest is not None and len(value) > self.longest:
            raise self._refuse(f"a text of at most {self.longest} characters")
        if len(value) < self.shortest:
            raise self._refuse(f"a text of at least {self.shortest} characters")
        if self.plain and not re.fullmatch(PLAIN, value):
            raise self._refuse("a text of ASCII letters, digits, `_`, `.` and `-`")
        if self.in_cursor and CONTROLS.search(value):
            raise self._refuse("a text without control characters")
        check_text(value)

    def text(self, value: Any) -> str:
        if not isinstance(value, str):
            raise self._refuse("a text")
        return value

    def of_text(self, text: str) -> str:
        return text

    def keeps_order_before(self, literal: str) -> bool:
        # Of two plain texts, a shorter one that the longer begins with is followed by the literal.
        return self.has_one_length or (self.plain and literal[0] < LEAST_PLAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class UtcTime(Text):
    """A time in UTC as programs write it: ISO 8601 with `Z` or `+00:00`, and up to nine digits of a second's fraction.

    Texts have the order of times, but for times within the same second that are written in different ways.
    """

    shortest: int = len("2023-08-03T02:52:13Z")
    longest: int | None = len("2023-08-03T02:52:13.180123456+00:00")

    def check(self, value: Any) -> None:
        Text.check(self, value)
        if not re.fullmatch(UTC_TIME, value, re.ASCII):
            raise self._refuse("a time in UTC, such as 2023-08-03T02:52:13.180Z")
        try:
            datetime.fromisoformat(value)
        except ValueError as error:
            raise self._refuse("a time of the calendar") from error

    def keeps_order_before(self, literal: str) -> bool:
        return True  # none of its values is the beginning of another one


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Attribute):
    """A whole number of at most 64 bits."""

    python_type: ClassVar[type[int]] = int
    classes: ClassVar[frozenset[type]] = frozenset({int, float})
    letters: ClassVar[tuple[str, ...]] = ("N",)

    least: int | None = None
    greatest: int | None = None
    # In a text key, the number is padded with zeros to so many digits, so that keys have the order of
    # numbers. Without it, each engine has an order of its own.
    digits: int | None = None

    @property
    def may_exceed_digits(self) -> bool:
        """Whether its bounds allow a number that has no text of so many digits."""
        if self.digits is None:
            return False
        return self.least is None or self.greatest is None or not 0 <= self.least <= self.greatest < 10**self.digits

    def check(self, value: Any) -> None:
        if value.__class__ is not int and (isinstance(value, bool) or not isinstance(value, int)):
            raise self._refuse("a whole number")
        _check_bounds(self, value, self.least, self.greatest)
        check_number(value)

    def text(self, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._refuse("a whole number")
        if self.digits is None:
            return str(value)
        if not 0 <= value < 10**self.digits:
            raise self._refuse(f"a number of at most {self.digits} digits")
        return f"{value:0{self.digits}}"

    def of_text(self, text: str) -> int:
        if not text.removeprefix("-").isdecimal():
            raise self._refuse("a whole number")
        return int(text)

    def keeps_order_before(self, literal: str) -> bool:
        return self.digits is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Real(Attribute):
    """A number that a 64-bit double holds exactly. A store returns it as float."""

    python_type: ClassVar[type[float]] = float
    classes: ClassVar[frozenset[type]] = frozenset({int, float})
    letters: ClassVar[tuple[str, ...]] = ("N",)

    least: float | None = None
    greatest: float | None = None

    def check(self, value: Any) -> None:
        if value.__class__ is not float and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise self._refuse("a number")
        _check_bounds(self, value, self.least, self.greatest)
        check_number(value)
        if float(value) != value:
            raise self._refuse("a number that a double holds exactly")

    def text(self, value: Any) -> str:
        return str(value)

    def of_text(self, text: str) -> float:
        return float(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth(Attribute):
    """True or false."""

    python_type: ClassVar[type[bool]] = bool
    classes: ClassVar[frozenset[type]] = frozenset({bool})
    letters: ClassVar[tuple[str, ...]] = ("BOOL",)

    def check(self, value: Any) -> None:
        if not isinstance(value, bool):
            raise self._refuse("true or false")


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonDocument(Attribute):
    """A list or a mapping of attribute values."""

    python_type: ClassVar[type[Any]] = object
    classes: ClassVar[frozenset[type]] = frozenset({list, dict})
    letters: ClassVar[tuple[str, ...]] = ("M", "L")

    largest: int | None = None  # bytes

    def check(self, value: Any) -> None:
        is_one = type(value) is dict or isinstance(value, tuple(self.classes))  # the first test is much faster
        if not is_one:
            raise self._refuse("a mapping" if list not in self.classes else "a list or a mapping")
        largest = self.largest
        if largest is not None:
            check_number_of_values(value)
        most = bytes_at_most(value)
        if largest is None or most <= largest or written_bytes(value) <= largest:
            return
        if (size := value_bytes(value)) > largest:
            raise InvalidItem(f"`{self.name}` has {size} bytes, but may have at most {largest}")


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonMapping(JsonDocument):
    """A mapping of texts to attribute values."""

    classes: ClassVar[frozenset[type]] = frozenset({dict})
    letters: ClassVar[tuple[str, ...]] = ("M",)


def _check_bounds(attribute: Attribute, value: float, least: float | None, greatest: float | None) -> None:
    if (least is not None and value < least) or (greatest is not None and value > greatest):
        low = "" if least is None else f" from {least}"
        high = "" if greatest is None else f" to {greatest}"
        raise InvalidItem(f"`{attribute.name}` must lie{low}{high}")
