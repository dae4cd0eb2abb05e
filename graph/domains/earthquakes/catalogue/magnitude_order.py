"""The order of events by magnitude, then by time, then by event id: their positions and cursors. No I/O."""

import re
from dataclasses import dataclass

from graph.core.days import FIRST_MS, LAST_MS
from graph.core.errors import InvalidCursor
from graph.core.paging import CURSOR_VERSION, decode_cursor, encode_cursor
from graph.domains.earthquakes.model import GREATEST_MAG, LEAST_MAG, Event
from graph.store.entity import Item
from graph.store.records import Derived
from graph.store.values import InvalidItem, check_value

EVENTS_BY_MAGNITUDE = f"magnitudes{CURSOR_VERSION}"  # the connection's name and version in cursors
_CURSOR = re.compile(
    EVENTS_BY_MAGNITUDE
    + r":(?P<mag>-?[0-9][-.0-9e]{0,23}):(?P<time>0|-?[1-9][0-9]{0,14}):(?P<key>[^\x00-\x1f\x7f]{1,64})"
)

MagnitudePlace = tuple[float, int, str]
"""Magnitude, origin time in epoch milliseconds, event id."""


@dataclass(frozen=True, slots=True)
class MagnitudePosition:
    """The position of an event in the order by magnitude."""

    place: MagnitudePlace

    @property
    def cursor(self) -> str:
        """The position as opaque text, URL-safe."""
        return _cursor(*self.place)


def _cursor(mag: float, time_ms: int, key: str) -> str:
    """A cursor. An engine may return 2 for the magnitude 2.0."""
    return encode_cursor(f"{EVENTS_BY_MAGNITUDE}:{float(mag)!r}:{time_ms}:{key}")


class MagnitudeOrder:
    """Reads the cursors of a connection in the order by magnitude."""

    def place_of(self, cursor: str, argument: str) -> MagnitudePosition:
        """The position that a cursor holds.

        Raises:
            InvalidCursor: It is not a cursor of this order. The message names `argument`.
        """
        found = _CURSOR.fullmatch(decode_cursor(cursor, argument))
        if not found:
            raise InvalidCursor(argument)
        try:
            mag, time_ms = float(found["mag"]), int(found["time"])
            check_value(mag)
        except (ValueError, InvalidItem) as error:
            raise InvalidCursor(argument) from error
        position = MagnitudePosition((mag, time_ms, found["key"]))
        possible = LEAST_MAG <= mag <= GREATEST_MAG and FIRST_MS <= time_ms <= LAST_MS
        if not possible or position.cursor != cursor:
            raise InvalidCursor(argument)
        return position


def magnitude_place(item: Item) -> MagnitudePlace:
    """The place of an event in the order by magnitude. An engine may return 2 for the magnitude 2.0."""
    return float(item["mag"]), item["eventTsMs"], item["eventId"]


class EventByMagnitude(Event):
    """An event in a list by magnitude. Its item is read with the magnitude, whatever else is needed."""

    __slots__ = ()

    cursor = Derived(_cursor, "mag", "eventTsMs", "eventId")
