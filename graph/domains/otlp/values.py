"""The values of attributes and bodies, as they are stored. Both formats of OTLP are read into these."""

import json
import math
from collections.abc import Mapping, Set, Sized

import orjson

from graph.domains.service_logs.checking import MOST_METADATA_NAMES
from graph.domains.service_logs.model import InvalidLog, LogProblem
from graph.observability.logs import escaped
from graph.store.values import LEAST_MAGNITUDE, MAGNITUDE_END

MOST_NAMED = 10  # unknown members of a request
LONGEST_SHOWN = 64  # characters of their names
MOST_LEVELS = 16  # of lists and mappings within a value
MOST_ELEMENTS = 10_000  # of all lists and mappings of a record; more would not fit into a log

Plain = str | bool | int | float | list["Plain"] | dict[str, "Plain"] | None
"""A value of JSON. Bytes are base64 text."""


class Unreadable(InvalidLog):
    """Why a part of a request, or all of it, cannot be read."""


class WrongType(Unreadable):
    """A member of JSON has a wrong type. Around records, the whole request is refused for it."""


class Nesting:
    """Bounds the lists and mappings of one record."""

    __slots__ = ("_left", "_levels", "unknown")

    def __init__(self, unknown: "UnknownNames | None" = None) -> None:
        self._left = MOST_ELEMENTS
        self._levels = 0
        self.unknown = unknown or UnknownNames()

    def enter(self, elements: int) -> None:
        """Begin a list or mapping with so many elements.

        Raises:
            Unreadable: It is too deep inside others, or there are too many elements.
        """
        self._left -= elements
        self._levels += 1
        if self._levels > MOST_LEVELS:
            raise Unreadable(f"A value has more than {MOST_LEVELS} levels of lists and mappings.")
        if self._left < 0:
            raise Unreadable(f"The lists and mappings have more than {MOST_ELEMENTS:,} elements.")

    def leave(self) -> None:
        """End the list or mapping that was begun last."""
        self._levels -= 1


class UnknownNames:
    """The members of a request in JSON that OTLP does not have. It ignores them, and a sender must learn of that."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}

    def check(self, given: Mapping[str, object], known: Set[str], what: str) -> None:
        """Note the unknown members of an object."""
        if given.keys() <= known:
            return
        for name in given.keys() - known:
            if len(self._names) < MOST_NAMED:
                self._names[f"`{escaped(name[:LONGEST_SHOWN])}` of {what}"] = None

    @property
    def warning(self) -> str:
        """What was ignored; empty for nothing."""
        return f"ignored, since OTLP does not have it: {', '.join(sorted(self._names))}" if self._names else ""


def check_attributes(given: Sized) -> None:
    """Raise `Unreadable` for more attributes than a log may have, before any of them is read."""
    if len(given) > MOST_METADATA_NAMES:
        raise Unreadable(f"There must be at most {MOST_METADATA_NAMES} attributes.", LogProblem.METADATA_INVALID)


def storable_number(number: float) -> float | str:
    """A number, or its text if the store cannot hold it. NaN and infinities are spelt as in JSON of protobuf."""
    if LEAST_MAGNITUDE <= abs(number) < MAGNITUDE_END or number == 0:
        return number
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return repr(number)


def message_of(body: Plain, event_name: str) -> str:
    """The message of a log: a text as it is, anything else as JSON. Without a body, the event's name."""
    if isinstance(body, str):
        return body
    if body is None:
        return event_name
    try:
        return orjson.dumps(body).decode()
    except orjson.JSONEncodeError:  # half a surrogate pair, which is replaced when the log is checked
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"))
