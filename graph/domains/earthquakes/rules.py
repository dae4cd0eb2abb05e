"""The rules that make a record of any JSON values. No I/O.

USGS data does not always fit the documented item. `event_reader` is the one place that decides
which values are clamped, cut, left out or refused. What it makes can be stored unchecked: a value is taken as
it is only within the bounds of the entity's attribute.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from graph.core.compilation import Namespace
from graph.core.days import DAY_MS, FIRST_MS, day_bucket
from graph.core.described import DescribedText, described, value
from graph.core.names import is_line
from graph.core.numbers import whole
from graph.domains.earthquakes.model import (
    DETAILS,
    GREATEST_DEPTH,
    GREATEST_MAG,
    LEAST_MAG,
    LONGEST_ID,
    LONGEST_LIST,
    SOURCE,
    Event,
    Incoming,
    SourceDeletion,
    is_deletion,
    listed,
    possible_id,
)
from graph.store.attributes import Real, Text, Whole
from graph.store.checks import usual
from graph.store.records import Stored

FUTURE_MS = 30 * DAY_MS  # a later origin time is a mistake
EXACT = 2**53 - 1  # the greatest whole number that every reader of JSON reads exactly
LEAST_NUMBER, GREATEST_NUMBER = 1e-130, 1e126  # the range of every store, beside zero

_KINDS: dict[str, Any] = {each.name: each for each in Event.declared()}
_LISTED = re.compile("(?:,[^,]+)+,")  # a list of names as USGS writes it


class EventProblem(DescribedText):
    """Why an event is rejected."""

    ID_MISSING = "ID_MISSING", "It has no id."
    ID_INVALID = "ID_INVALID", "Its id is no text, too long, of another type, or has control characters."
    TIME_INVALID = "TIME_INVALID", "Its origin time is missing, given twice, or no whole number of milliseconds."
    TIME_OUT_OF_RANGE = "TIME_OUT_OF_RANGE", "Its origin time is before the year 1, or more than 30 days ahead."
    MAGNITUDE_MISSING = "MAGNITUDE_MISSING", "It has no magnitude yet."
    MAGNITUDE_INVALID = "MAGNITUDE_INVALID", "Its magnitude is no number."
    COORDINATES_INVALID = "COORDINATES_INVALID", "Its latitude or longitude is no number of degrees."
    DEPTH_INVALID = "DEPTH_INVALID", "Its depth is no number of kilometres."
    FEATURE_UNREADABLE = "FEATURE_UNREADABLE", "It is no feature of GeoJSON, or a text of it is no valid Unicode."
    ITEM_UNREADABLE = "ITEM_UNREADABLE", "Another program has stored an item with its id that cannot be read."


@value
class EventRejection:
    """The reason why one event of an ingest was rejected."""

    event_id: str | None = described("The event's id; null if it has no valid one.")
    code: EventProblem = described("Why, as a stable code.")
    message: str = described("Why, in words.")
    index: int | None = described(  # None as long as only the event is known
        "Its place from 0: among the given events, or among the features of the answer or file.", default=None
    )


class RejectedFeature(Exception):
    """An event breaks a rule of the catalogue. Expected, and counted by the ingest."""

    def __init__(self, rejection: EventRejection) -> None:
        super().__init__(rejection.message)
        self.rejection = rejection


class EventReader(Protocol):
    """Makes an event of its values."""

    def __call__(
        self,
        event_id: Any,
        event_ts_ms: Any,
        mag: Any,
        place: Any,
        lat: Any,
        lon: Any,
        depth: Any,
        source: Any,
        ingested_at: int,
        details: Mapping[str, Any],
        /,
    ) -> Event:
        """Make an event by the catalogue's rules.

        The values may be anything in JSON. An invalid optional attribute is left out, since the event
        matters more than, for example, its `felt` count.

        Args:
            details: has the other attributes of an event, all optional; further values are ignored.

        Raises:
            RejectedFeature: The id, time, magnitude, depth or a coordinate is missing or not possible, or
                a text is not valid Unicode.
        """


def event_reader(name_of: Callable[[str], str]) -> EventReader:
    """Compile the function that makes events.

    Most values are taken as they are. Compiled code tests for that, and calls a function of this module for any other.

    Args:
        name_of: a detail's name in `Event` → its name among the `details`.
    """
    functions = (
        _checked_id,
        _checked_time,
        _magnitude,
        _coordinate,
        _depth,
        _text,
        _names,
        _coordinates,
        day_bucket,
        Event,
    )
    namespace = Namespace(**{function.__name__: function for function in functions})
    possible_time = f"event_ts_ms.__class__ is int and {FIRST_MS} <= event_ts_ms <= ingested_at + {FUTURE_MS}"
    lines = [
        f"if not (event_id.__class__ is str and 0 < len(event_id) <= {LONGEST_ID} and event_id.isprintable()):",
        "    event_id = _checked_id(event_id)",
        f"if not ({possible_time}): event_ts_ms = _checked_time(event_id, event_ts_ms, ingested_at)",
        f"if not ({usual(_KINDS['mag'], 'mag')}): mag = _magnitude(event_id, mag)",
        f"if not ({usual(_KINDS['lat'], 'lat')}): lat = _coordinate(event_id, lat, 'latitude', 90)",
        f"if not ({usual(_KINDS['lon'], 'lon')}): lon = _coordinate(event_id, lon, 'longitude', 180)",
        f"if not ({usual(_KINDS['sourceDepth'], 'depth')}): depth = _depth(event_id, depth)",
        f"if not ({_taken('place')}): place = {_cut('place')} or _coordinates(lat, lon)",
        f"if not ({_taken('source')}): source = {_cut('source')} or {SOURCE!r}",
        "item = {'eventId': event_id, 'eventTsMs': event_ts_ms, 'dayBucket': day_bucket(event_ts_ms), 'mag': mag,",
        "        'place': place, 'lat': lat, 'lon': lon, 'source': source, 'ingestedAt': ingested_at}",
        "if depth is not None: item['depth'], item['sourceDepth'] = depth if depth > 0.0 else 0.0, depth",
        "get = details.get",
    ]
    for name, detail in DETAILS.items():
        attribute, (test, made) = detail.attribute, _rule_of(detail, namespace)
        lines += [
            f"value = get({name_of(name)!r})",
            "if value is not None:",
            f"    if {test}: item[{attribute!r}] = value",
            f"    elif (value := {made}) is not None: item[{attribute!r}] = value",
        ]
    parameters = "event_id, event_ts_ms, mag, place, lat, lon, depth, source, ingested_at, details"
    return namespace.define(parameters, [*lines, "return Event(item)"])


def checked_deletion(event_id: Any, *, ids: Any = None, updated: Any = None) -> SourceDeletion:
    """Note that the source has deleted an event. The values may be anything in JSON.

    Raises:
        RejectedFeature: The id is missing or not possible.
    """
    return SourceDeletion(_checked_id(event_id), listed(_names(ids) or ""), _updated(updated))


def given_record(given: Mapping[str, Any], *, ingested_at: int) -> Incoming:
    """Read an event or a deletion as a caller gives it.

    Args:
        given: by the names of `Event`. All but the details are there; None means that it was not given. The origin
            time may be `time` instead of `event_ts_ms`, both in epoch milliseconds.

    Raises:
        RejectedFeature: As of `EventReader` and `checked_deletion`.
    """
    if is_deletion(given.get("status")):
        return checked_deletion(given["event_id"], ids=given.get("ids"), updated=given.get("updated"))
    event_ts_ms, time = given["event_ts_ms"], given.get("time")
    if (event_ts_ms is None) == (time is None):
        message = "The event needs either `eventTsMs` or `time`, and not both."
        raise _rejected(_checked_id(given["event_id"]), EventProblem.TIME_INVALID, message)
    return _read_event(
        given["event_id"],
        event_ts_ms if time is None else time,
        given["mag"],
        given["place"],
        given["lat"],
        given["lon"],
        given["depth"],
        given["source"],
        ingested_at,
        given,
    )


def _checked_id(value: Any) -> str:
    if possible_id(value):
        return str(value)
    if value is None or value == "":
        raise RejectedFeature(EventRejection(None, EventProblem.ID_MISSING, "The event has no id."))
    message = f"An event's id is text of at most {LONGEST_ID} characters, without control characters."
    raise RejectedFeature(EventRejection(None, EventProblem.ID_INVALID, message))


def _rejected(event_id: str, code: EventProblem, message: str) -> RejectedFeature:
    return RejectedFeature(EventRejection(event_id, code, message))


def _checked_time(event_id: str, value: Any, ingested_at: int) -> int:
    if (time := whole(value)) is None:
        raise _rejected(
            event_id, EventProblem.TIME_INVALID, "The time must be a whole number of milliseconds since 1970."
        )
    if not FIRST_MS <= time <= ingested_at + FUTURE_MS:
        raise _rejected(
            event_id, EventProblem.TIME_OUT_OF_RANGE, "The time must lie between the year 1 and 30 days from now."
        )
    return time


def _magnitude(event_id: str, value: Any) -> float:
    if value is None:
        message = "The event has no magnitude yet. A later ingest takes it once it has one."
        raise _rejected(event_id, EventProblem.MAGNITUDE_MISSING, message)
    if (magnitude := _number(value)) is None:
        raise _rejected(event_id, EventProblem.MAGNITUDE_INVALID, "The magnitude must be a number.")
    return min(max(magnitude, LEAST_MAG), GREATEST_MAG)


def _coordinate(event_id: str, value: Any, name: str, greatest: int) -> float:
    if (number := _number(value)) is None or not -greatest <= number <= greatest:
        message = f"The {name} must be a number from -{greatest} to {greatest} degrees."
        raise _rejected(event_id, EventProblem.COORDINATES_INVALID, message)
    return number


def _depth(event_id: str, value: Any) -> float | None:
    down = _number(value)
    if value is not None and (down is None or down > GREATEST_DEPTH):
        message = "The depth must be a number of kilometres, or be left out."
        raise _rejected(event_id, EventProblem.DEPTH_INVALID, message)
    return down


def _number(value: Any) -> float | None:
    """A finite number that a store can keep; None for anything else."""
    if value.__class__ is float or value.__class__ is int:
        size = abs(value)
        if LEAST_NUMBER <= size < GREATEST_NUMBER:
            return float(value)
        if size < LEAST_NUMBER:  # NaN is in no range
            return 0.0
    return None


def _text(event_id: str, name: str, value: Any, longest: int) -> str | None:
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
            raise _rejected(event_id, EventProblem.FEATURE_UNREADABLE, message) from None
    return text[:longest]


def _flag(value: Any) -> int | None:
    return int(value) if value in (0, 1) else None


def _names(value: Any) -> str | None:
    """Names as USGS lists them, `,nc73919986,us7000abcd,`: as many as fit."""
    if isinstance(value, str):
        if is_line(value) and len(value) <= LONGEST_LIST and _LISTED.fullmatch(value):
            return value
        value = listed(value)
    if not isinstance(value, list) or not all(isinstance(name, str) and is_line(name) for name in value):
        return None
    text = ","
    for name in value:
        if name and "," not in name and len(text) + len(name) < LONGEST_LIST:
            text += f"{name},"
    return text if len(text) > 1 else None


def _rule_of(detail: Stored[Any], namespace: Namespace) -> tuple[str, str]:
    """The source of the test whether `value` is taken as it is, and of what makes the attribute of any other."""
    match detail.kind:
        case _ if detail.convert is listed:
            return "False", "_names(value)"
        case Text(name=name):
            return _taken(name, "value"), _cut(name, "value")
        case Whole() | Real() as kind:
            bounded = _bounded(kind)
            make = _flag if detail.convert is bool else _within(bounded)
            return usual(bounded, "value"), f"{namespace.constant('make', make)}(value)"
        case kind:
            raise TypeError(f"an ingest has no rule for {kind}")


def _taken(attribute: str, variable: str = "") -> str:
    """The source of the test whether a text is taken as it is; an empty one is none."""
    return usual(Text(shortest=1, longest=_KINDS[attribute].longest), variable or attribute)


def _cut(attribute: str, variable: str = "") -> str:
    return f"_text(event_id, {attribute!r}, {variable or attribute}, {_KINDS[attribute].longest})"


def _bounded(kind: Any) -> Any:
    """The same kind of numbers, of which every reader of JSON reads each exactly."""
    least = -EXACT if kind.least is None else kind.least
    return replace(kind, least=least, greatest=EXACT if kind.greatest is None else kind.greatest)


def _within(kind: Any) -> Callable[[Any], Any]:
    """The function that makes a number within the bounds of any value."""
    number_of: Callable[[Any], float | None] = whole if isinstance(kind, Whole) else _number

    def made(value: Any) -> float | None:
        number = number_of(value)
        return number if number is not None and kind.least <= number <= kind.greatest else None

    return made


def _coordinates(lat: float, lon: float) -> str:
    """The place of an event without a place name, as `35.60°N 117.60°W`."""
    return f"{abs(lat):.2f}°{'N' if lat >= 0 else 'S'} {abs(lon):.2f}°{'E' if lon >= 0 else 'W'}"


_updated = _within(_bounded(_KINDS["updated"]))
_read_event = event_reader(lambda name: name)
