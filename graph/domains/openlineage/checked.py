"""Checks values of JSON, each with its place, so that a refusal says what to mend.

Without its names, an event tells nothing, so it is refused if one of them is wrong. A detail that cannot be read is
left out instead, or repaired where its meaning is beyond doubt, and the answer says so: the end of a run must not be
lost for the form of a time.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from operator import methodcaller
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

from graph.core.errors import BadUserInput
from graph.core.names import is_line
from graph.core.numbers import whole
from graph.core.times import InvalidTime, WholeDay, as_rfc3339, parse_time

LONGEST_TEXT = 1024  # characters of any text that is kept
MOST_OBJECTS = 1000  # of a list; a run uses and generates no more in one report

Warn = Callable[[str], None]
"""Is told what was left out or repaired."""

T = TypeVar("T")


class InvalidEvent(BadUserInput):
    """The event breaks the JSON Schema of OpenLineage, or a limit of this service."""

    code, status = "INVALID_EVENT", 422


class Checked:
    """An object of JSON, and its place in the event."""

    def __init__(self, value: Any, place: str, warn: Warn) -> None:
        if not isinstance(value, dict):
            raise InvalidEvent(f"`{place}` must be an object.")
        self._value = value
        self._place = place
        self._warn = warn

    def detail(self, read: Callable[["Checked"], T]) -> T | None:
        """What a function reads of the object; None if it cannot be read, with a warning."""
        try:
            return read(self)
        except InvalidEvent as error:
            self._warn(f"{error} It is left out.")
            return None

    def refuse(self, name: str, rule: str) -> InvalidEvent:
        """The error for a member."""
        return InvalidEvent(f"`{self._at(name)}` {rule}.")

    def __contains__(self, name: str) -> bool:
        return self._value.get(name) is not None

    def text(self, name: str) -> str:
        """A member that is a line of text."""
        value = self._value.get(name)
        if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_TEXT or not is_line(value):
            raise self.refuse(name, f"must be a text of 1 to {LONGEST_TEXT:,} characters, without control characters")
        return value

    def optional_text(self, name: str) -> str | None:
        """Likewise, or None."""
        return self.text(name) if name in self else None

    def uri(self, name: str) -> str:
        """A member that is a URI."""
        text = self.text(name)
        try:
            is_uri = bool(urlsplit(text).scheme)
        except ValueError:
            is_uri = False
        if not is_uri:
            raise self.refuse(name, "must be a URI")
        return text

    def time(self, name: str) -> datetime:
        """A member that is a date-time."""
        given = self.text(name)
        for text in (given, as_rfc3339(given)):
            try:
                time = parse_time(text)
            except InvalidTime:
                continue
            if isinstance(time, WholeDay):
                break
            if text != given:
                self._warn(f"`{self._at(name)}` is taken as {text}.")
            return time
        raise self.refuse(name, "must be a time of RFC 3339 with an offset, such as 2024-01-01T03:00:00Z")

    def uuid(self, name: str) -> str:
        """A member that is a UUID."""
        text = self.text(name).lower()
        try:
            if str(UUID(text)) == text:
                return text
        except ValueError:
            pass
        raise self.refuse(name, "must be a UUID, such as 0190c6a0-5c4e-7000-8000-000000000001")

    def size(self, name: str) -> int | None:
        """A member that is a number of bytes, or None."""
        if name not in self:
            return None
        size = whole(self._value[name])
        if size is None or not 0 <= size < 2**63:
            raise self.refuse(name, "must be a whole number of bytes")
        return size

    def object(self, name: str) -> "Checked":
        """A member that is an object."""
        return Checked(self._value.get(name), self._at(name), self._warn)

    def optional_object(self, name: str) -> "Checked":
        """Likewise; an empty one for none."""
        return self.object(name) if name in self else Checked({}, self._at(name), self._warn)

    def objects(self, name: str) -> Iterator["Checked"]:
        """The objects of a member that is a list, without elements that are none; none if there is no list."""
        value = self._value.get(name)
        if value is not None and not isinstance(value, list):
            self._warn(f"{self.refuse(name, 'must be a list')} It is left out.")
            value = None
        if value is not None and len(value) > MOST_OBJECTS:
            raise self.refuse(name, f"may have at most {MOST_OBJECTS:,} elements, and has {len(value):,}")
        for at, each in enumerate(value or ()):
            place = f"{name}[{at}]"
            if isinstance(each, dict):
                yield Checked(each, self._at(place), self._warn)
            else:
                self._warn(f"{self.refuse(place, 'must be an object')} It is left out.")

    def facets(self, name: str = "facets") -> Mapping[str, "Checked"]:
        """The facets of an object by name, without those that are deleted or no object."""
        if (given := self.detail(lambda checked: checked.optional_object(name))) is None:
            return {}
        facets = {each: given.detail(methodcaller("object", each)) for each in given._value}
        return {each: facet for each, facet in facets.items() if facet and facet._value.get("_deleted") is not True}

    def _at(self, name: str) -> str:
        return f"{self._place}.{name[:64]}"
