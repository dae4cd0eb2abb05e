"""The features of a FeatureCollection as bytes, split from JSON that arrives in chunks, cut anywhere.

Only the outside is checked here: the members of the collection and the commas between the features. A
feature is handed on unread, so damage inside one costs no other. Memory does not grow with the input:
what is kept is one feature, or one other member, of at most `MAX_FEATURE_BYTES`.
"""

import re
from collections.abc import Iterator
from enum import Enum, auto

from graph.domains.earthquakes.usgs.feature_json import read_member
from graph.domains.earthquakes.usgs.json_extent import QUOTE, TooDeep, ValueExtent

MAX_FEATURE_BYTES = 1024 * 1024  # about 2,000 times the size of a USGS feature
MAX_DEPTH = 500  # brackets open at once in one value; a feature of USGS has 3

_skip_space = re.compile(rb"[ \t\r\n]*+").match


class InvalidGeoJson(ValueError):
    """The input as a whole is not GeoJSON, or breaks off."""


class _Place(Enum):
    """What comes next."""

    COLLECTION = auto()
    FIRST_NAME = auto()
    NAME = auto()
    COLON = auto()
    MEMBER = auto()
    AFTER_MEMBER = auto()
    FIRST_FEATURE = auto()
    FEATURE = auto()
    AFTER_FEATURE = auto()
    END = auto()


_P = _Place
_PUNCTUATION: dict[_Place, dict[int, _Place]] = {
    _P.COLLECTION: {ord("{"): _P.FIRST_NAME},
    _P.FIRST_NAME: {ord("}"): _P.END},
    _P.COLON: {ord(":"): _P.MEMBER},
    _P.AFTER_MEMBER: {ord(","): _P.NAME, ord("}"): _P.END},
    _P.FIRST_FEATURE: {ord("]"): _P.AFTER_MEMBER},
    _P.AFTER_FEATURE: {ord(","): _P.FEATURE, ord("]"): _P.AFTER_MEMBER},
}
_ANY_VALUE = frozenset(range(256)) - frozenset(b",:]}")
_FIRST_BYTES: dict[_Place, frozenset[int]] = {  # of a value
    _P.FIRST_NAME: frozenset({QUOTE}),
    _P.NAME: frozenset({QUOTE}),
    _P.MEMBER: _ANY_VALUE,
    _P.FIRST_FEATURE: _ANY_VALUE,
    _P.FEATURE: _ANY_VALUE,
}
_FEATURES = frozenset({_P.FIRST_FEATURE, _P.FEATURE})
_NONE: frozenset[int] = frozenset()
_NOTHING: dict[int, _Place] = {}


class FeatureSplitter:
    """Splits one FeatureCollection."""

    def __init__(self) -> None:
        self.type: str | None = None  # the member `type` of the collection, if that is text
        self.has_features = False  # the member `features` is an array
        self.count = 0  # features so far
        self._place = _Place.COLLECTION
        self._name: object = None  # of the member whose value comes next
        self._extent = ValueExtent(MAX_DEPTH)
        self._held = bytearray()  # the value that the last chunk broke off in
        self._between = 0  # bytes since the last feature ended

    @property
    def ended(self) -> bool:
        """Whether the closing bracket of the collection has come."""
        return self._place is _Place.END

    @property
    def scanned(self) -> int:
        """Bytes of values scanned so far, counted again where they were scanned again."""
        return self._extent.scanned

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Split on, and yield each feature that this chunk completes.

        Raises:
            InvalidGeoJson: What came so far is no beginning of a collection, or exceeds a limit. No chunk
                can be fed after that.
        """
        position = 0
        while position < len(chunk):
            if self._extent.ended:
                position = self._punctuation(chunk, position)
                continue
            start = position
            try:
                position = self._extent.scan(chunk, start)
            except TooDeep as error:
                raise InvalidGeoJson(f"The JSON is nested more than {MAX_DEPTH} deep.") from error
            if (value := self._complete(chunk, start, position)) is None:
                continue
            if self._place in _FEATURES:
                self._place = _Place.AFTER_FEATURE
                self._between = 0
                self.count += 1
                yield value
            else:
                self._take_member(value)

    def close(self) -> None:
        """Check that nothing is missing.

        Raises:
            InvalidGeoJson: The input is not all of a collection.
        """
        if not self.ended:
            raise InvalidGeoJson("The JSON breaks off before its end.")
        if not self.has_features:
            raise InvalidGeoJson("This is JSON, but no GeoJSON FeatureCollection: it has no array `features`.")

    def _punctuation(self, chunk: bytes, start: int) -> int:
        """Take white space, and the byte behind it unless that begins a value; the position to go on at."""
        position = _skip_space(chunk, start).end()  # type: ignore[union-attr]  # it matches everywhere
        if position < len(chunk):
            byte = chunk[position]
            if (following := self._following(byte)) is not None:
                self._place = following
                position += 1
            elif byte in _FIRST_BYTES.get(self._place, _NONE):
                self._extent.begin(byte)
            else:
                raise self._damage()
        self._count_between(position - start)
        return position

    def _following(self, byte: int) -> _Place | None:
        """What comes after that byte if it is punctuation here."""
        if self._place is _Place.MEMBER and self._name == "features" and byte == ord("["):
            self.has_features = True
            return _Place.FIRST_FEATURE
        return _PUNCTUATION.get(self._place, _NOTHING).get(byte)

    def _complete(self, chunk: bytes, start: int, end: int) -> bytes | None:
        """The value that ends there, or None, and what came of it is kept, if it goes on in the next chunk."""
        if len(self._held) + end - start > MAX_FEATURE_BYTES:
            raise _too_long()
        if self._extent.ended and not self._held:
            return chunk[start:end]
        self._held += chunk[start:end]
        if not self._extent.ended:
            return None
        value = bytes(self._held)
        self._held.clear()
        return value

    def _take_member(self, text: bytes) -> None:
        """Take the name or the value of a member of the collection that is no feature."""
        self._count_between(len(text))
        try:
            value = read_member(text)
        except ValueError as error:
            raise self._damage() from error
        if self._place is not _Place.MEMBER:
            self._name, self._place = value, _Place.COLON
            return
        if self._name == "type" and isinstance(value, str):
            self.type = value
        self._place = _Place.AFTER_MEMBER

    def _count_between(self, size: int) -> None:
        self._between += size
        if self._between > MAX_FEATURE_BYTES:
            raise _too_long()

    def _damage(self) -> InvalidGeoJson:
        return InvalidGeoJson(f"The JSON is damaged: nothing can be read past {self.count:,} features.")


def _too_long() -> InvalidGeoJson:
    return InvalidGeoJson(f"A feature, or what stands between two, is longer than {MAX_FEATURE_BYTES:,} bytes.")
