"""Reads the features of GeoJSON as a stream: from a file, or from a body that arrives in chunks.

Memory does not grow with the input: at most a chunk and one feature are held at once. A feature has at most
`MAX_FEATURE_BYTES`, or `MAX_DETAIL_BYTES` if it is printed over several lines, and is nested at most `MAX_DEPTH`
deep. Whole numbers become int, others float; NaN and infinities are not JSON. The content of a feature is not checked
here: each becomes the mapping that was parsed, or an `UnreadableFeature`, which is counted like any other.
"""

import hashlib
import itertools
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Protocol

from graph.core.geojson.feature_json import RawFeature, UnreadableFeature, read_detail, read_feature
from graph.core.geojson.feature_splitter import (
    MAX_DEPTH,
    MAX_FEATURE_BYTES,
    FeatureSplitter,
    InvalidGeoJson,
    damaged,
    nested_too_deep,
)
from graph.core.geojson.json_extent import TooDeep, ValueExtent

MAX_DETAIL_BYTES = 16 * 1024 * 1024  # an event with all its products: of a great earthquake, about 1 MB
CHUNK_BYTES = 64 * 1024  # bytes that are read at once; a file's form is recognised from its first chunk

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_RECORD_SEPARATOR = b"\x1e"
_GZIP_MAGIC = b"\x1f\x8b"
_AROUND_LINES = b" \t\r\n" + _RECORD_SEPARATOR


class Readable(Protocol):
    """The part of a binary stream's interface that is needed here."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""


class Fingerprinted:
    """A binary stream that counts and hashes what is read through it."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()
        self.size = 0  # bytes read so far

    def read(self, size: int, /) -> bytes:
        """Read the next bytes, at most `size`."""
        data = self._stream.read(size)
        self.size += len(data)
        self._digest.update(data)
        return data

    @property
    def sha256(self) -> str:
        """The hash of the bytes read so far, in hexadecimal digits."""
        return self._digest.hexdigest()


def read_features(stream: Readable) -> Iterator[RawFeature]:
    """Read a file to its end: a FeatureCollection, one feature on each line, or features over several lines.

    The form is recognised from the content, gzipped or not. A file of lines may have blank lines, CRLF, a byte order
    mark and the record separators of RFC 8142. A broken line does not harm the others.

    Raises:
        InvalidGeoJson: The file has neither form, or ends too early. The features that were complete
            before are yielded first.
    """
    head, rest = _peek(iter(lambda: stream.read(CHUNK_BYTES), b""))
    if head.startswith(_GZIP_MAGIC):
        head, rest = _peek(_gunzip(itertools.chain([head], rest)))
    head = head.removeprefix(_BYTE_ORDER_MARK)
    chunks = itertools.chain([head], rest)

    separator = _RECORD_SEPARATOR if head.startswith(_RECORD_SEPARATOR) else b"\n"
    beginning = head.lstrip(_AROUND_LINES)
    outline = _outline_of(beginning)
    if outline.has_features or outline.type == "FeatureCollection":
        yield from _read_collection(chunks)
    elif any(map(_is_feature, head.split(separator))) or (outline.is_feature and separator not in beginning):
        yield from _read_lines(chunks, separator)
    elif outline.is_feature:
        yield from _read_printed(chunks)
    else:
        raise InvalidGeoJson("This is neither a GeoJSON FeatureCollection nor a file of GeoJSON features.")


def _peek(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first chunks, joined until they have `CHUNK_BYTES`, and the chunks after them."""
    head = bytearray()
    for chunk in chunks:
        head += chunk
        if len(head) >= CHUNK_BYTES:
            break
    return bytes(head), chunks


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


def _outline_of(head: bytes) -> FeatureSplitter:
    """The members of the object at the beginning of `head`, as far as they can be read."""
    outline = FeatureSplitter()
    with suppress(InvalidGeoJson):
        _read_all(outline, head)
    return outline


def _is_feature(line: bytes) -> bool:
    """Whether the line is a feature, even one that holds a number out of range."""
    outline = FeatureSplitter()
    try:
        _read_all(outline, line.strip(_AROUND_LINES))
    except InvalidGeoJson:
        return False
    return outline.ended and outline.type == "Feature"


def _read_all(outline: FeatureSplitter, text: bytes) -> None:
    for _ in outline.feed(text):
        pass


def _read_collection(chunks: Iterator[bytes]) -> Iterator[RawFeature]:
    splitter = FeatureSplitter()
    for chunk in chunks:
        yield from parsed_features(splitter, chunk)
    splitter.close()


def parsed_features(splitter: FeatureSplitter, chunk: bytes) -> Iterator[RawFeature]:
    """The features that the next chunk of a collection completes, parsed; see `FeatureSplitter.feed`."""
    for feature in splitter.feed(chunk):
        yield _read(feature, splitter.count)


def _read_lines(chunks: Iterator[bytes], separator: bytes) -> Iterator[RawFeature]:
    # A record separator precedes its record, so there is no record before the first separator.
    first = 0 if separator == _RECORD_SEPARATOR else 1
    for position, line in enumerate(_lines(chunks, separator), first):
        if (text := line and line.strip(_AROUND_LINES)) != b"":
            yield _read(text, position)


def _read(text: bytes | None, position: int) -> RawFeature:
    """The feature of this text; None stands for one that is too long."""
    if text is None:
        return UnreadableFeature(position, f"longer than {MAX_FEATURE_BYTES:,} bytes")
    return read_feature(text, position)


def _read_printed(chunks: Iterator[bytes]) -> Iterator[RawFeature]:
    """Features that are printed for people, as a page of one event is saved: one after another, over several lines."""
    extent, held, count = ValueExtent(MAX_DEPTH), bytearray(), 0
    for chunk in chunks:
        position = 0
        while position < len(chunk):
            if extent.ended:
                position += len(chunk) - position - len(chunk[position:].lstrip(_AROUND_LINES))
                if position == len(chunk):
                    break
                if chunk[position] != ord("{"):
                    raise damaged(count)
                extent.begin(chunk[position])
            start = position
            try:
                position = extent.scan(chunk, start)
            except TooDeep as error:
                raise nested_too_deep() from error
            held += chunk[start:position]
            if len(held) > MAX_DETAIL_BYTES:
                raise InvalidGeoJson(f"A feature is longer than {MAX_DETAIL_BYTES:,} bytes.")
            if extent.ended:
                count += 1
                yield read_detail(bytes(held), count)
                held.clear()
    if held:
        raise InvalidGeoJson("The JSON breaks off before its end.")


def _lines(chunks: Iterator[bytes], separator: bytes) -> Iterator[bytes | None]:
    """The lines without their separators; None for a line longer than `MAX_FEATURE_BYTES`."""
    begun = bytearray()  # the beginning of the line that goes on in the next chunk
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
