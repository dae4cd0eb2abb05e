"""Features of GeoJSON, read as a stream: from a file pulled by chunks, or a body pushed in chunks.

Memory does not grow with the input: what is held at once is a chunk, one feature of at most
`MAX_FEATURE_BYTES`, and nested at most about `MAX_DEPTH` deep. Whole numbers are read as int,
others as float; NaN and infinities are no JSON. What each feature says is not judged here: it is
a mapping as it was parsed, or an `UnreadableFeature` that takes its place and is counted like it.
"""

import hashlib
import itertools
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

import ijson  # type: ignore[import-untyped]  # ijson ships no types
import orjson

CHUNK_BYTES = 64 * 1024  # how much is read at once, and how much of a file its form is told by
MAX_FEATURE_BYTES = 1024 * 1024  # about 2,000 times what a feature of USGS takes
MAX_DEPTH = 500  # brackets open at once; a feature of USGS has 3

_PIECE_BYTES = 4 * 1024  # ijson's memory grows with the square of the depth, so the depth is checked this often
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_RECORD_SEPARATOR = b"\x1e"
_GZIP_MAGIC = b"\x1f\x8b"
_AROUND_LINES = b" \t\r\n" + _RECORD_SEPARATOR


class InvalidGeoJson(ValueError):
    """The input as a whole is not GeoJSON, or breaks off."""


@dataclass(frozen=True, slots=True)
class UnreadableFeature:
    """What stands where a feature should, and is none."""

    position: int  # from 1: the line of a file with a feature a line, else which feature of the collection
    reason: str  # completes "rejected, because it is …"


RawFeature = dict[str, Any] | UnreadableFeature


class Readable(Protocol):
    """As much of a binary stream as is needed."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""


class Fingerprinted:
    """A binary stream that counts and hashes what is read through it."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()
        self.size = 0  # bytes read so far

    def read(self, size: int, /) -> bytes:
        """Read on, at most `size` bytes."""
        data = self._stream.read(size)
        self.size += len(data)
        self._digest.update(data)
        return data

    @property
    def sha256(self) -> str:
        """The hash of what was read so far, in hexadecimal digits."""
        return self._digest.hexdigest()


def read_features(stream: Readable) -> Iterator[RawFeature]:
    """Read a file to its end: a FeatureCollection, or a feature a line, gzipped or not.

    The form is told by the content. With a feature a line, blank lines, CRLF, a byte order mark
    and the record separators of RFC 8142 are taken as they come, and a broken line harms no other.

    Raises:
        InvalidGeoJson: The file is none of these, or breaks off. Whatever was complete before
            has been yielded by then.
    """
    head, rest = _peek(iter(lambda: stream.read(CHUNK_BYTES), b""))
    if head.startswith(_GZIP_MAGIC):
        head, rest = _peek(_gunzip(itertools.chain([head], rest)))
    head = head.removeprefix(_BYTE_ORDER_MARK)
    chunks = itertools.chain([head], rest)

    separator = _RECORD_SEPARATOR if head.startswith(_RECORD_SEPARATOR) else b"\n"
    outline = _outline_of(head.lstrip(_AROUND_LINES))
    if outline.has_features or outline.type == "FeatureCollection":
        yield from _read_collection(chunks)
    elif any(map(_is_feature, head.split(separator))) or (outline.type == "Feature" and not outline.ended):
        yield from _read_lines(chunks, separator)
    else:
        raise InvalidGeoJson("This is neither a GeoJSON FeatureCollection nor a file with a GeoJSON feature a line.")


def _peek(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first `CHUNK_BYTES` or somewhat more, however they are cut, and the chunks behind them."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= CHUNK_BYTES:
            break
    return head, chunks


def _gunzip(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The content of a gzip file, of one or several members, in chunks of bounded size."""
    inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        for chunk in chunks:
            while chunk:
                if inflate.eof:  # another member follows, or zeros that pad the file
                    if not (chunk := chunk.lstrip(b"\0")):
                        break
                    inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
                yield inflate.decompress(chunk, CHUNK_BYTES)
                chunk = inflate.unused_data if inflate.eof else inflate.unconsumed_tail
        yield inflate.flush()
    except zlib.error as error:
        raise InvalidGeoJson("The file is gzipped, and the compressed data is damaged.") from error
    if not inflate.eof:
        raise InvalidGeoJson("The file is gzipped, and breaks off before its end.")


class _Outline:
    """What a JSON value says of itself on its top level: takes the events of ijson's basic parser."""

    def __init__(self) -> None:
        self.type: str | None = None  # of its member `type`, where that is text
        self.has_features = False  # its member `features` is an array
        self.ended = False
        self._depth = 0
        self._member: str | None = None  # whose value comes next, on the top level

    def send(self, parsed: tuple[str, Any]) -> None:
        """Take the next event."""
        event, value = parsed
        if event.startswith("end_"):
            self._depth -= 1
            self.ended = self._depth == 0
        elif event.startswith("start_"):
            if self._depth == 1 and self._member == "features" and event == "start_array":
                self.has_features = True
            self._depth += 1
        elif event == "map_key" and self._depth == 1:
            self._member = value
        elif event == "string" and self._depth == 1 and self._member == "type":
            self.type = value


def _outline_of(head: bytes) -> _Outline:
    """The outline of the value that `head` begins with, as far as that is readable."""
    outline = _Outline()
    with suppress(ijson.JSONError):
        ijson.basic_parse_coro(outline).send(head)
    return outline


def _is_feature(line: bytes) -> bool:
    try:
        value = orjson.loads(line.strip(_AROUND_LINES))
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict) and value.get("type") == "Feature"


def _read_collection(chunks: Iterator[bytes]) -> Iterator[RawFeature]:
    parser = FeatureParser()
    for chunk in chunks:
        try:
            parser.feed(chunk)
        except InvalidGeoJson:
            yield from parser.take()
            raise
        yield from parser.take()
    parser.close()


def _read_lines(chunks: Iterator[bytes], separator: bytes) -> Iterator[RawFeature]:
    # A record separator stands before its record, so what is before the first one is no record.
    first = 0 if separator == _RECORD_SEPARATOR else 1
    for position, line in enumerate(_lines(chunks, separator), first):
        if line is None:
            yield UnreadableFeature(position, f"longer than {MAX_FEATURE_BYTES:,} bytes")
        elif text := line.strip(_AROUND_LINES):
            try:
                feature = orjson.loads(text)
            except orjson.JSONDecodeError as error:
                yield UnreadableFeature(position, f"not JSON: {error.msg}")
            else:
                yield feature if type(feature) is dict else UnreadableFeature(position, "not a JSON object")


def _lines(chunks: Iterator[bytes], separator: bytes) -> Iterator[bytes | None]:
    """The lines without their separators; None in place of one longer than `MAX_FEATURE_BYTES`."""
    begun = bytearray()  # the line that the last chunk broke off in
    too_long = False
    for chunk in chunks:
        end, *lines = chunk.split(separator)
        if not too_long:
            begun += end
            too_long = len(begun) > MAX_FEATURE_BYTES
        if lines:
            yield None if too_long else bytes(begun)
            yield from lines[:-1]
            begun, too_long = bytearray(lines[-1]), False
    yield None if too_long else bytes(begun)


class FeatureParser:
    """Reads a FeatureCollection that arrives in chunks, cut anywhere."""

    def __init__(self) -> None:
        self._outline = _Outline()
        self._outline_parser = ijson.basic_parse_coro(self._outline)
        self._values = ijson.sendable_list()
        self._value_parser = ijson.items_coro(self._values, "features.item", use_float=True)
        self._taken = 0
        self._pending_bytes = 0  # since a feature was completed
        self._open_brackets = 0  # likewise; those inside of text are counted too, which are few and mostly paired

    def feed(self, chunk: bytes) -> None:
        """Parse on.

        Raises:
            InvalidGeoJson: What came so far is no beginning of JSON, or holds a feature past the
                bounds. The features before it can still be taken.
        """
        for start in range(0, len(chunk), _PIECE_BYTES):
            self._feed_piece(chunk[start : start + _PIECE_BYTES])

    def _feed_piece(self, piece: bytes) -> None:
        self._pending_bytes += len(piece)
        self._open_brackets += sum(map(piece.count, (b"{", b"["))) - sum(map(piece.count, (b"}", b"]")))
        if self._pending_bytes > MAX_FEATURE_BYTES:
            raise InvalidGeoJson(f"A feature, or what stands between two, is longer than {MAX_FEATURE_BYTES:,} bytes.")
        if self._open_brackets > MAX_DEPTH:
            raise InvalidGeoJson(f"The JSON is nested more than {MAX_DEPTH} deep.")

        complete = len(self._values)
        try:
            self._value_parser.send(piece)
            if not self._outline.has_features:
                self._outline_parser.send(piece)
        except ijson.JSONError as error:
            read = self._taken + len(self._values)
            raise InvalidGeoJson(f"The JSON is damaged: nothing can be read past {read:,} features.") from error
        if len(self._values) > complete:
            self._pending_bytes = self._open_brackets = 0

    def take(self) -> list[RawFeature]:
        """The features completed since they were last taken, in order."""
        features: list[RawFeature] = [
            value if isinstance(value, dict) else UnreadableFeature(position, "not a JSON object")
            for position, value in enumerate(self._values, self._taken + 1)
        ]
        self._taken += len(features)
        self._values.clear()
        return features

    def close(self) -> None:
        """Say that nothing more comes.

        Raises:
            InvalidGeoJson: What came is not all of a JSON value, or has no array `features`.
        """
        try:
            self._value_parser.close()
        except ijson.JSONError as error:
            raise InvalidGeoJson("The JSON breaks off before its end.") from error
        if not self._outline.has_features:
            raise InvalidGeoJson("This is JSON, but no GeoJSON FeatureCollection: it has no array `features`.")
