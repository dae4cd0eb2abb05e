"""Splits a FeatureCollection, which arrives in chunks cut anywhere, into the bytes of its features.

Only the collection itself is checked here: its members, and the commas between the features. Features
are yielded unparsed, so a damaged or over-long feature does not harm the others. Memory does not grow with the input:
at most one feature or one other member is kept, of at most `MAX_FEATURE_BYTES`.
"""

import re
from collections.abc import Iterator
from enum import Enum, auto

from graph.core.geojson.feature_json import read_member
from graph.core.geojson.json_extent import QUOTE, TooDeep, ValueExtent

MAX_FEATURE_BYTES = 1024 * 1024  # about 2,000 times the size of a USGS feature
MAX_DEPTH = 500  # brackets open at once in one value; a feature of USGS has 3

_skip_space = re.compile(rb"[ \t\r\n]*+").match


class InvalidGeoJson(ValueError):
    """The input as a whole is not GeoJSON, or ends too early."""


class _Expected(Enum):
    """What may come next."""

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


_P = _Expected
_PUNCTUATION: dict[_Expected, dict[int, _Expected]] = {
    _P.COLLECTION: {ord("{"): _P.FIRST_NAME},
    _P.FIRST_NAME: {ord("}"): _P.END},
    _P.COLON: {ord(":"): _P.MEMBER},
    _P.AFTER_MEMBER: {ord(","): _P.NAME, ord("}"): _P.END},
    _P.FIRST_FEATURE: {ord("]"): _P.AFTER_MEMBER},
    _P.AFTER_FEATURE: {ord(","): _P.FEATURE, ord("]"): _P.AFTER_MEMBER},
}
_ANY_VALUE = frozenset(range(256)) - frozenset(b",:]}")
_FIRST_BYTES: dict[_Expected, frozenset[int]] = {  # of a value
    _P.FIRST_NAME: frozenset({QUOTE}),
    _P.NAME: frozenset({QUOTE}),
    _P.MEMBER: _ANY_VALUE,
    _P.FIRST_FEATURE: _ANY_VALUE,
    _P.FEATURE: _ANY_VALUE,
}
_FEATURES = frozenset({_P.FIRST_FEATURE, _P.FEATURE})
_NO_BYTES: frozenset[int] = frozenset()
_NO_PUNCTUATION: dict[int, _Expected] = {}


class FeatureSplitter:
    """Splits one FeatureCollection."""

    def __init__(self) -> None:
        self.type: str | None = None  # the member `type` of the collection, if that is text
        self.has_features = False  # the member `features` is an array
        self.count = 0  # features so far
        self._expected = _Expected.COLLECTION
        self._name: object = None  # of the member whose value comes next
        self._extent = ValueExtent(MAX_DEPTH)
        self._held = bytearray()  # the beginning of the value that goes on in the next chunk
        self._between = 0  # bytes since the last feature ended

    @property
    def ended(self) -> bool:
        """Whether the collection's closing bracket was read."""
        return self._expected is _Expected.END

    @property
    def is_feature(self) -> bool:
        """Whether it is no collection but a feature, by its type or, before that was read, by a member."""
        return self.type == "Feature" or (self.type is None and self._name in ("geometry", "properties"))

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """Take the next chunk, and yield each feature that it completes; None for one that is too long.

        Raises:
            InvalidGeoJson: The input so far is not the beginning of a collection, or exceeds a limit. No
                chunk can be fed after that.
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
                raise nested_too_deep() from error
            if (value := self._complete(chunk, start, position)) is None:
                continue
            if self._expected in _FEATURES:
                self._expected = _Expected.AFTER_FEATURE
                self._between = 0
                self.count += 1
                yield value if len(value) <= MAX_FEATURE_BYTES else None
            else:
                self._take_member(value)

    def close(self) -> None:
        """Check that the collection is complete.

        Raises:
            InvalidGeoJson: It is not.
        """
        if not self.ended:
            raise InvalidGeoJson("The JSON breaks off before its end.")
        if not self.has_features:
            raise InvalidGeoJson("This is JSON, but no GeoJSON FeatureCollection: it has no array `features`.")

    def _punctuation(self, chunk: bytes, start: int) -> int:
        """Skip white space and the punctuation after it, or begin a value. Returns the next position."""
        position = _skip_space(chunk, start).end()  # type: ignore[union-attr]  # it matches everywhere
        if position < len(chunk):
            byte = chunk[position]
            if (following := self._following(byte)) is not None:
                self._expected = following
                position += 1
            elif byte in _FIRST_BYTES.get(self._expected, _NO_BYTES):
                self._extent.begin(byte)
            else:
                raise damaged(self.count)
        self._count_between(position - start)
        return position

    def _following(self, byte: int) -> _Expected | None:
        """What may come after this byte if it is punctuation here, else None."""
        if self._expected is _Expected.MEMBER and self._name == "features" and byte == ord("["):
            self.has_features = True
            return _Expected.FIRST_FEATURE
        return _PUNCTUATION.get(self._expected, _NO_PUNCTUATION).get(byte)

    def _complete(self, chunk: bytes, start: int, end: int) -> bytes | None:
        """The value that ends there. If it goes on in the next chunk, keep its beginning and return None.

        Of a feature that is too long, only the beginning and one byte too many are kept.
        """
        if self._expected not in _FEATURES and len(self._held) + end - start > MAX_FEATURE_BYTES:
            raise _too_long()
        end = min(end, start + MAX_FEATURE_BYTES + 1 - len(self._held))
        if self._extent.ended and not self._held:
            return chunk[start:end]
        self._held += chunk[start:end]
        if not self._extent.ended:
            return None
        value = bytes(self._held)
        self._held.clear()
        return value

    def _take_member(self, text: bytes) -> None:
        """Take the name or the value of a member of the collection."""
        self._count_between(len(text))
        try:
            value = read_member(text)
        except ValueError as error:
            raise damaged(self.count) from error
        if self._expected is not _Expected.MEMBER:
            self._name, self._expected = value, _Expected.COLON
            return
        if self._name == "type" and isinstance(value, str):
            self.type = value
        self._expected = _Expected.AFTER_MEMBER

    def _count_between(self, size: int) -> None:
        self._between += size
        if self._between > MAX_FEATURE_BYTES:
            raise _too_long()


def damaged(count: int) -> InvalidGeoJson:
    """The error for what is not JSON after so many features."""
    return InvalidGeoJson(f"The JSON is damaged: nothing can be read past {count:,} features.")


def nested_too_deep() -> InvalidGeoJson:
    """The error for more than `MAX_DEPTH` open brackets."""
    return InvalidGeoJson(f"The JSON is nested more than {MAX_DEPTH} deep.")


def _too_long() -> InvalidGeoJson:
    return InvalidGeoJson(f"What stands between two features is longer than {MAX_FEATURE_BYTES:,} bytes.")
