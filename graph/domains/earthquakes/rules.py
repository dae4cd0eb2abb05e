"""The rules that make a record of any JSON values. No I/O.

USGS data does not always fit the documented item. `checked_event` is the one place that decides
which values are clamped, cut, left out or refused.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from graph.core.days import DAY_MS, FIRST_MS, day_bucket
from graph.domains.earthquakes.entities import EVENT, GREATEST_MAG, LEAST_MAG, LONGEST_ID, LONGEST_LIST
from graph.domains.earthquakes.model import DELETED, SOURCE, Event, Incoming, SourceDeletion, listed, possible_id
from graph.store.attributes import Text
from graph.store.entity import Item

LONGEST_OF = {each.name: each.longest for each in EVENT.attributes if isinstance(each, Text)}  # characters

FUTURE_MS = 30 * DAY_MS  # a later origin time is a mistake
INT_32 = 2**31
GREATEST_DEPTH = 6371.0  # km, to the middle of the earth
LEAST_NUMBER, GREATEST_NUMBER = 1e-130, 1e126  # the range of every store, beside zero

GREATEST_DISTANCE = 180.0  # degrees
GREATEST_RMS = 1e6  # seconds, far beyond any
GREATEST_INTENSITY = 12.0  # of the Mercalli scale


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
    **details: Any,
) -> Event:
    """Make an event of these values, by the catalogue's rules.

    The values may be anything in JSON. An invalid optional attribute is left out, since the event
    matters more than, for example, its `felt` count.

    Args:
        details: the other attributes of an event, all optional, by their names in `Event`.

    Raises:
        RejectedFeature: The id, time, magnitude, depth or a coordinate is missing or not possible, or
            a text is not valid Unicode.
    """
    event_id = _checked_id(event_id)
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
        "place": _text(event_id, "place", place) or _coordinates(north, east),
        "lat": north,
        "lon": east,
        "source": _text(event_id, "source", source) or SOURCE,
        "ingestedAt": ingested_at,
    }
    if down is not None:
        item["depth"], item["sourceDepth"] = max(down, 0.0), down
    for name, given in details.items():
        if given is not None:
            attribute, valid = DETAILS[name]
            value = _text(event_id, attribute, given) if valid is None else valid(given)
            if value is not None:
                item[attribute] = value
    return Event(item)


def checked_deletion(event_id: Any, *, ids: Any = None, updated: Any = None) -> SourceDeletion:
    """Note that the source has deleted an event. The values may be anything in JSON.

    Raises:
        RejectedFeature: The id is missing or not possible.
    """
    return SourceDeletion(_checked_id(event_id), listed(_names(ids) or ""), _millis(updated))


def given_record(values: Mapping[str, Any], *, ingested_at: int) -> Incoming:
    """Read the arguments of `checked_event`, or those of a deletion, as a caller gives them.

    Raises:
        RejectedFeature: As these.
    """
    if values.get("status") == DELETED:
        return checked_deletion(values["event_id"], ids=values.get("ids"), updated=values.get("updated"))
    return checked_event(**values, ingested_at=ingested_at)


def _checked_id(value: Any) -> str:
    if possible_id(value):
        return str(value)
    if value is None or value == "":
        raise RejectedFeature(Rejection(None, "ID_MISSING", "The event has no id."))
    message = f"The id must be text of at most {LONGEST_ID} characters, none of them a control."
    raise RejectedFeature(Rejection(None, "ID_INVALID", message))


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


def _text(event_id: str, name: str, value: Any) -> str | None:
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
    return text[: LONGEST_OF[name]]


def _int(value: Any) -> int | None:
    """A number that fits the graph's 32-bit Int."""
    return value if value.__class__ is int and -INT_32 <= value < INT_32 else None


def _count(value: Any) -> int | None:
    number = _int(value)
    return number if number is not None and number >= 0 else None


def _millis(value: Any) -> int | None:
    return value if value.__class__ is int and abs(value) < 2**53 else None


def _flag(value: Any) -> int | None:
    return int(value) if value in (0, 1) else None


def _real(greatest: float) -> Callable[[Any], float | None]:
    """Numbers from 0 to a greatest one."""

    def real(value: Any) -> float | None:
        number = _number(value)
        return number if number is not None and 0 <= number <= greatest else None

    return real


def _names(value: Any) -> str | None:
    """Names as USGS lists them, `,nc73919986,us7000abcd,`: as many as fit."""
    names = listed(value) if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) and name.isprintable() for name in names):
        return None
    text = ","
    for name in names:
        if name and "," not in name and len(text) + len(name) < LONGEST_LIST:
            text += f"{name},"
    return text if len(text) > 1 else None


DETAILS: dict[str, tuple[str, Callable[[Any], Any] | None]] = {
    "mag_type": ("magType", None),
    "type": ("type", None),
    "status": ("status", None),
    "updated": ("updated", _millis),
    "url": ("url", None),
    "tsunami": ("tsunami", _flag),
    "felt": ("felt", _int),
    "alert": ("alert", None),
    "sig": ("sig", _int),
    "net": ("net", None),
    "code": ("code", None),
    "ids": ("ids", _names),
    "sources": ("sources", _names),
    "types": ("types", _names),
    "nst": ("nst", _count),
    "dmin": ("dmin", _real(GREATEST_DISTANCE)),
    "rms": ("rms", _real(GREATEST_RMS)),
    "gap": ("gap", _real(360.0)),
    "cdi": ("cdi", _real(GREATEST_INTENSITY)),
    "mmi": ("mmi", _real(GREATEST_INTENSITY)),
    "title": ("title", None),
    "detail": ("detail", None),
}
"""Name of an optional attribute in `Event` → its name in the item, and a function for valid values; None for a text."""


def _coordinates(lat: float, lon: float) -> str:
    """The place of an event without a place name, as `35.60°N 117.60°W`."""
    return f"{abs(lat):.2f}°{'N' if lat >= 0 else 'S'} {abs(lon):.2f}°{'E' if lon >= 0 else 'W'}"
