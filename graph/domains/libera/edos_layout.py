"""Reads binary records of EDOS by a layout: the parts of a record in their order, all numbers big-endian."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

EPOCH = datetime(1958, 1, 1, tzinfo=UTC)  # of CCSDS times
DAY_MS = 86_400_000
LEAP_SECOND_MS = 1000


class BrokenRecord(ValueError):
    """Why a record is not read."""


class LayoutSource:
    """The bytes of a record, read from the first to the last."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    def take(self, size: int, name: str) -> bytes:
        """The next bytes; BrokenRecord if there are too few."""
        if self.position + size > len(self._data):
            raise BrokenRecord(f"It ends at byte {len(self._data):,}, inside of `{name}`.")
        self.position += size
        return self._data[self.position - size : self.position]

    def end(self) -> None:
        """BrokenRecord unless everything is read."""
        if rest := len(self._data) - self.position:
            raise BrokenRecord(f"It has {rest:,} bytes behind its end at byte {self.position:,}.")


class LayoutPart(Protocol):
    """A part of a layout."""

    def read(self, source: LayoutSource) -> dict[str, Any]:
        """The part's values by their names; BrokenRecord if it is impossible."""


def read(layout: Sequence[LayoutPart], source: LayoutSource) -> dict[str, Any]:
    """The values of all parts; BrokenRecord if one of them is impossible."""
    return {name: value for part in layout for name, value in part.read(source).items()}


@dataclass(frozen=True, slots=True)
class Spare:
    """Bytes that must be zero."""

    size: int

    def read(self, source: LayoutSource) -> dict[str, Any]:
        """Nothing."""
        start = source.position
        if any(source.take(self.size, "spare")):
            raise BrokenRecord(f"The spare bytes from byte {start:,} must be 0.")
        return {}


@dataclass(frozen=True, slots=True)
class Number:
    """A number without sign."""

    name: str
    size: int
    least: int = 0
    greatest: int | None = None

    def read(self, source: LayoutSource) -> dict[str, Any]:
        """The number."""
        number = int.from_bytes(source.take(self.size, self.name), "big")
        if number < self.least or (self.greatest is not None and number > self.greatest):
            raise BrokenRecord(f"`{self.name}` is {number:,}.")
        return {self.name: number}


@dataclass(frozen=True, slots=True)
class Bits:
    """Numbers of some bits each, from the most significant ones. One without a name is spare, and is not looked at."""

    size: int
    widths: Mapping[str, int]

    def read(self, source: LayoutSource) -> dict[str, Any]:
        """The numbers."""
        names = [name for name in self.widths if name]
        number = int.from_bytes(source.take(self.size, " and ".join(names)), "big")
        values, left = {}, 8 * self.size
        for name, width in self.widths.items():
            left -= width
            values[name] = (number >> left) % (1 << width)
        return {name: values[name] for name in names}


@dataclass(frozen=True, slots=True)
class Flag:
    """A byte whose last bit is true or false."""

    name: str

    def read(self, source: LayoutSource) -> dict[str, Any]:
        """The flag."""
        (byte,) = source.take(1, self.name)
        if byte > 1:
            raise BrokenRecord(f"`{self.name}` is {byte}, and not 0 or 1.")
        return {self.name: bool(byte)}


@dataclass(frozen=True, slots=True)
class Characters:
    """Visible ASCII characters."""

    name: str
    size: int

    def read(self, source: LayoutSource) -> dict[str, Any]:
        """The text."""
        text = source.take(self.size, self.name).decode("latin-1")
        if not (text.isascii() and text.isprintable()):
            raise BrokenRecord(f"`{self.name}` is no text: {text!r}.")
        return {self.name: text}


@dataclass(frozen=True, slots=True)
class Raw:
    """Eight bytes in a form of the sender, as hexadecimal digits."""

    name: str

    def read(self, source: LayoutSource) -> dict[str, Any]:
        """The digits."""
        return {self.name: source.take(8, self.name).hex()}


@dataclass(frozen=True, slots=True)
class Time:
    """A CCSDS day segmented time: days since 1958, milliseconds of the day and microseconds, UTC."""

    name: str

    def read(self, source: LayoutSource) -> dict[str, Any]:
        """The time. A leap second is taken for the second before, since Python has none."""
        field = source.take(8, self.name)
        days, milliseconds, microseconds = (int.from_bytes(each, "big") for each in (field[:2], field[2:6], field[6:]))
        if milliseconds >= DAY_MS + LEAP_SECOND_MS or microseconds >= 1000:
            raise BrokenRecord(f"`{self.name}` is an impossible time, {field.hex()}.")
        if milliseconds >= DAY_MS:
            milliseconds -= LEAP_SECOND_MS
        return {self.name: EPOCH + timedelta(days, milliseconds=milliseconds, microseconds=microseconds)}


@dataclass(frozen=True, slots=True)
class Many:
    """A number of equal parts, and the parts."""

    name: str
    count: Number
    layout: Sequence[LayoutPart]
    padded: bool = False  # whether there is one part of zeros where the number is 0

    def read(self, source: LayoutSource) -> dict[str, Any]:
        """The number under its own name, and the values of each part."""
        number = self.count.read(source)[self.count.name]
        parts = [read(self.layout, source) for _ in range(number)]
        if self.padded and not number:
            read(self.layout, source)
        return {self.count.name: number, self.name: parts}
