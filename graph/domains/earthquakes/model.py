"""The record of an earthquake and the rules that make one. No I/O.

USGS data does not always fit the documented item. `checked_event` is the one place that decides
which values are clamped, cut, left out or refused.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graph.core.days import DAY_MS, FIRST_MS, datetime_of, day_bucket
from graph.core.paging import Position, cursor_at
from graph.domains.earthquakes.entities import GREATEST_MAG, LEAST_MAG, LONGEST_ID, LONGEST_PLACE, LONGEST_TEXT
from graph.store.entity import Item
from graph.store.records import Record, Stored

EVENTS = "events"  # the connection's name in cursors
CATALOGUE_ROUTE = "/earthquakes"  # the route of recorded queries of the catalogue

FUTURE_MS = 30 * DAY_MS  # a later origin time is a mistake
INT_32 = 2**31
GREATEST_DEPTH = 6371.0  # km, to the middle of the earth
LEAST_NUMBER, GREATEST_NUMBER = 1e-130, 1e126  # the range of every store, beside zero

SOURCE = "USGS"  # of an event without a source


class Event(Record):
    """One seismic event of the catalogue, as first recorded."""

    __slots__ = ()
    by_position = frozenset({"time", "identity", "position", "cursor"})

    event_id = Stored[str]("eventId")  # USGS id: network code and event code, "nc73919986"
    event_ts_ms = Stored[int]("eventTsMs")  # origin time, epoch milliseconds, negative before 1970
    mag = Stored("mag", float)  # magnitude, clamped to [-2, 10]
    place = Stored[str]("place")  # at most 512 characters
    lat = Stored("lat", float)  # degrees north
    lon = Stored("lon", float)  # degrees east
    depth = Stored[float | None]("depth", float, optional=True)  # km below sea level, never negative
    source = Stored[str]("source")  # where the record came from, "USGS"
    ingested_at = Stored[int]("ingestedAt")  # epoch milliseconds
    mag_type = Stored[str | None]("magType", optional=True)  # how the magnitude was measured, "ml", "mww"
    type = Stored[str | None]("type", optional=True)  # "earthquake", "quarry blast", …
    status = Stored[str | None]("status", optional=True)  # "automatic" or "reviewed"
    updated = Stored[int | None]("updated", optional=True)  # USGS's last change before the ingest, epoch ms
    url = Stored[str | None]("url", optional=True)  # the event's page
    tsunami = Stored[bool | None]("tsunami", bool, optional=True)  # stored as USGS gives it, 0 or 1
    felt = Stored[int | None]("felt", optional=True)  # number of felt reports
    alert = Stored[str | None]("alert", optional=True)  # PAGER level: "green", "yellow", "orange", "red"
    sig = Stored[int | None]("sig", optional=True)  # USGS's significance, 0 to about 1000
    day_bucket = Stored[str]("dayBucket")  # the UTC day of the origin time, `YYYYMMDD`

    @property
    def time(self) -> datetime:
        """The origin time, UTC."""
        return datetime_of(self.event_ts_ms)

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph."""
        return "Event", self.event_id

    @property
    def position(self) -> Position:
        """The position of the event in the catalogue."""
        return Position(EVENTS, self.event_ts_ms, self.event_id)

    @property
    def cursor(self) -> str:
        """Its position, as text."""
        return cursor_at(EVENTS, self.item["eventTsMs"], self.item["eventId"])


@dataclass(frozen=True, slots=True)
class Rejection:
    """The reason why one event of an ingest was rejected."""

    event_id: str | None  # None if it has no valid id
    code: str  # stable, such as MAGNITUDE_MISSING
    message: str  # what is wrong


class RejectedFeature(Exception):
    """An event breaks a rule of the catalogue. Expected, and counted by the ingest."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection.message)
        self.rejection = rejection


def checked_event(
    *,
    event_id: Any,
    event_ts_ms: Any,
    mag: Any,
    place: Any,
    lat: Any,
    lon: Any,
    depth: Any,
    source: str,
    ingested_at: int,
    mag_type: Any = None,
    type: Any = None,
    status: Any = None,
    updated: Any = None,
    url: Any = None,
    tsunami: Any = None,
    felt: Any = None,
    alert: Any = None,
    sig: Any = None,
) -> Event:
    """Make an event of these values, by the catalogue's rules.

    The values may be anything in JSON. An invalid optional attribute is left out, since the event
    matters more than, for example, its `felt` count.

    Raises:
        RejectedFeature: The id, time, magnitude, depth or a coordinate is missing or not possible, or
            a text is not valid Unicode.
    """
    event_id = _id(event_id)
    if event_ts_ms.__class__ is not int:  # neither a truth value nor 1.0
        raise _rejected(event_id, "TIME_INVALID", "The time must be a whole number of milliseconds since 1970.")
    if not FIRST_MS <= event_ts_ms <= ingested_at + FUTURE_MS:
        raise _rejected(event_id, "TIME_OUT_OF_RANGE", "The time must lie between the year 1 and 30 days from now.")
    if mag is None:
        message = "The event has no magnitude yet. A later ingest takes it once it has one."
        raise _rejected(event_id, "MAGNITUDE_MISSING", message)
    if (magnitude := _number(mag)) is None:
        raise _rejected(event_id, "MAGNITUDE_INVALID", "The magnitude must be a number.")
    if (north := _number(lat)) is None or not -90 <= north <= 90:
        message = "The latitude must be a number from -90 to 90 degrees."
        raise _rejected(event_id, "COORDINATES_INVALID", message)
    if (east := _number(lon)) is None or not -180 <= east <= 180:
        message = "The longitude must be a number from -180 to 180 degrees."
        raise _rejected(event_id, "COORDINATES_INVALID", message)
    down = _number(depth)
    if depth is not None and (down is None or down > GREATEST_DEPTH):
        message = "The depth must be a number of kilometres, or be left out."
        raise _rejected(event_id, "DEPTH_INVALID", message)
    item: Item = {
        "eventId": event_id,
        "eventTsMs": event_ts_ms,
        "dayBucket": day_bucket(event_ts_ms),
        "mag": min(max(magnitude, LEAST_MAG), GREATEST_MAG),
        "place": _text(event_id, "place", place, LONGEST_PLACE) or _coordinates(north, east),
        "lat": north,
        "lon": east,
        "source": _text(event_id, "source", source) or SOURCE,
        "ingestedAt": ingested_at,
    }
    optional: Item = {
        "depth": None if down is None else max(down, 0.0),
        "magType": _text(event_id, "magType", mag_type),
        "type": _text(event_id, "type", type),
        "status": _text(event_id, "status", status),
        "updated": updated if updated.__class__ is int and abs(updated) < 2**53 else None,
        "url": _text(event_id, "url", url),
        "tsunami": int(tsunami) if tsunami in (0, 1) else None,
        "felt": _int(felt),
        "alert": _text(event_id, "alert", alert),
        "sig": _int(sig),
    }
    for attribute, value in optional.items():
        if value is not None:
            item[attribute] = value
    return Event(item)


def possible_id(event_id: object) -> bool:
    """Whether an event may have this id."""
    return isinstance(event_id, str) and 0 < len(event_id) <= LONGEST_ID and event_id.isprintable()


def _id(value: Any) -> str:
    if possible_id(value):
        return str(value)
    if value is None or value == "":
        raise RejectedFeature(Rejection(None, "ID_MISSING", "The event has no id."))
    raise RejectedFeature(
        Rejection(
            None, "ID_INVALID", f"The id must be text of at most {LONGEST_ID} characters, none of them a control."
        )
    )


def _rejected(event_id: str, code: str, message: str) -> RejectedFeature:
    return RejectedFeature(Rejection(event_id, code, message))


def _number(value: Any) -> float | None:
    """A finite number that a store can keep; None for anything else."""
    if value.__class__ is float or value.__class__ is int:
        size = abs(value)
        if LEAST_NUMBER <= size < GREATEST_NUMBER:
            return float(value)
        if size < LEAST_NUMBER:  # NaN is in no range
            return 0.0
    return None


def _text(event_id: str, name: str, value: Any, longest: int = LONGEST_TEXT) -> str | None:
    """Text cut to a number of characters (whole code points); None for no text.

    JSON can express half a surrogate pair, which no store accepts. An event with one is rejected, since
    a replacement would not be the source's text.
    """
    if value.__class__ is not str or not value:
        return None
    text: str = value
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            message = f"`{name}` is not valid Unicode text: it holds half a surrogate pair."
            raise _rejected(event_id, "FEATURE_UNREADABLE", message) from None
    return text[:longest]


def _int(value: Any) -> int | None:
    """A number that fits the graph's 32-bit Int."""
    return value if value.__class__ is int and -INT_32 <= value < INT_32 else None


def _coordinates(lat: float, lon: float) -> str:
    """The place of an event without a place name, as `35.60°N 117.60°W`."""
    return f"{abs(lat):.2f}°{'N' if lat >= 0 else 'S'} {abs(lon):.2f}°{'E' if lon >= 0 else 'W'}"
