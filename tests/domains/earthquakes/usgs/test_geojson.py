"""Reading GeoJSON as a stream: every form of a file, damage of every kind, and memory that does not grow."""

import gzip
import hashlib
import io
import itertools
import json
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.domains.earthquakes.usgs.geojson import (
    MAX_FEATURE_BYTES,
    FeatureParser,
    Fingerprinted,
    InvalidGeoJson,
    RawFeature,
    UnreadableFeature,
    read_features,
)
from tests.domains.earthquakes.usgs.usgs_server import week

FEATURES: list[dict[str, Any]] = orjson.loads(week())["features"]
LINES = [orjson.dumps(feature) for feature in FEATURES]
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read(content: bytes) -> list[RawFeature]:
    return list(read_features(io.BytesIO(content)))


def read_until_damage(content: bytes) -> tuple[list[RawFeature], str]:
    """What was yielded, and what was raised then."""
    features: list[RawFeature] = []
    with pytest.raises(InvalidGeoJson) as caught:
        features.extend(read_features(io.BytesIO(content)))
    return features, str(caught.value)


def parse(chunks: Iterable[bytes]) -> list[RawFeature]:
    parser = FeatureParser()
    for chunk in chunks:
        parser.feed(chunk)
    parser.close()
    return parser.take()


def cut(content: bytes, places: Iterable[int]) -> Iterator[bytes]:
    start = 0
    for place in [*sorted(places), len(content)]:
        yield content[start:place]
        start = place


class Dripping:
    """A stream that gives a byte at a time, as a slow pipe may."""

    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)

    def read(self, size: int, /) -> bytes:
        return self._content.read(min(size, 1))


# Forms of a file

FORMS = {
    "a collection as USGS sends it": week(),
    "a collection in one line": orjson.dumps(orjson.loads(week())),
    "a collection, printed for people": json.dumps(orjson.loads(week()), indent=2).encode(),
    "a collection with a foreign member before its features": b'{"crs": {"features": 1}, "features": [%b]}'
    % b",".join(LINES),
    "a feature a line": b"\n".join(LINES) + b"\n",
    "a feature a line, the last one unended": b"\n".join(LINES),
    "a feature a line, ended as on Windows": b"\r\n".join(LINES) + b"\r\n",
    "a feature a line, with blank lines": b"\n \n" + b"\n\n\t\n".join(LINES) + b"\n\n",
    "a text sequence of RFC 8142": b"".join(b"\x1e" + line + b"\n" for line in LINES),
    "a text sequence, printed for people": b"".join(
        b"\x1e" + json.dumps(feature, indent=2).encode() + b"\n" for feature in FEATURES
    ),
}


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize(
    "wrap",
    [
        lambda content: content,
        lambda content: BYTE_ORDER_MARK + content,
        gzip.compress,
        lambda content: gzip.compress(BYTE_ORDER_MARK + content),
        lambda content: gzip.compress(content[:777]) + gzip.compress(content[777:]) + bytes(512),
    ],
    ids=["plain", "marked", "gzipped", "marked and gzipped", "gzipped in two members and padded"],
)
def test_every_form_of_a_file_holds_the_same_features(content: bytes, wrap: Callable[[bytes], bytes]) -> None:
    assert read(wrap(content)) == FEATURES


@pytest.mark.parametrize("content", [b'{"features": [%b]}' % b",".join(LINES[:150]), b"\n".join(LINES[:150])])
@pytest.mark.parametrize("wrap", [lambda content: content, gzip.compress], ids=["plain", "gzipped"])
def test_a_stream_of_single_bytes_is_read_correctly(content: bytes, wrap: Callable[[bytes], bytes]) -> None:
    assert list(read_features(Dripping(wrap(content)))) == FEATURES[:150]


def test_one_feature_is_a_file_of_one_line() -> None:
    assert read(LINES[0]) == FEATURES[:1]


@pytest.mark.parametrize("content", [b'{"features":[]}', b'{"type": "FeatureCollection", "features": [ ]}\n'])
def test_a_collection_may_be_empty(content: bytes) -> None:
    assert read(content) == []


def test_a_long_first_line_is_recognised_by_its_beginning() -> None:
    long = {"type": "Feature", "id": "us1", "properties": {"place": "x" * 100_000}}

    assert read(orjson.dumps(long) + b"\n" + LINES[0]) == [long, FEATURES[0]]


def test_a_collection_with_a_long_head_is_recognised_by_its_type() -> None:
    content = orjson.dumps({"type": "FeatureCollection", "title": "x" * 100_000, "features": FEATURES[:2]})

    assert read(content) == FEATURES[:2]


@pytest.mark.parametrize(
    "wrap", [lambda feature: feature, lambda feature: b'{"features": [%b]}' % feature], ids=["line", "collection"]
)
def test_whole_numbers_are_ints_and_others_floats(wrap: Callable[[bytes], bytes]) -> None:
    content = wrap(b'{"type":"Feature","time":-1690934400000,"mag":2.0,"gap":1e2,"felt":null}')

    assert (
        repr(read(content)) == "[{'type': 'Feature', 'time': -1690934400000, 'mag': 2.0, 'gap': 100.0, 'felt': None}]"
    )


# Damage of a file


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"type":"Feature","id":', "not JSON: unexpected end of data"),
        (b'{"type":"Feature","mag":NaN}', "not JSON: unexpected character"),
        (b'{"type":"Feature","mag":-Infinity}', "not JSON: "),
        (b'{"type":"Feature"} {}', "not JSON: unexpected content after document"),
        (b'{"place":"\xff"}', "not JSON: str is not valid UTF-8"),
        (b"[" * 100_000, "not JSON: "),
        (b"3", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"[]", "not a JSON object"),
    ],
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_broken_line_is_rejected_alone(line: bytes, reason: str, end: bytes) -> None:
    before, broken, after = read(LINES[0] + end + end + line + end + LINES[1] + end)

    assert (before, after) == (FEATURES[0], FEATURES[1])
    assert isinstance(broken, UnreadableFeature)
    assert broken.position == 3
    assert broken.reason.startswith(reason)


def test_a_file_may_begin_with_a_broken_line() -> None:
    broken, whole = read(b"oops\n" + LINES[0])

    assert (broken, whole) == (
        UnreadableFeature(1, "not JSON: unexpected character, expected a JSON value"),
        FEATURES[0],
    )


def test_a_broken_record_of_a_text_sequence_is_rejected_alone() -> None:
    before, broken, after = read(b"\x1e" + LINES[0] + b"\n\x1e{oops\n\x1e" + LINES[1])

    assert (before, after) == (FEATURES[0], FEATURES[1])
    assert isinstance(broken, UnreadableFeature)
    assert broken.position == 2


@pytest.mark.parametrize("excess", [0, 1])
def test_a_line_of_a_mebibyte_is_read_and_a_longer_one_rejected(excess: int) -> None:
    frame = b'{"type":"Feature","place":"%b"}'
    line = frame % (b"x" * (MAX_FEATURE_BYTES - len(frame % b"") + excess))

    first, long, last = read(LINES[0] + b"\n" + line + b"\n" + LINES[1])

    assert (first, last) == (FEATURES[0], FEATURES[1])
    assert long == (UnreadableFeature(2, "longer than 1,048,576 bytes") if excess else orjson.loads(line))


def test_a_line_without_an_end_is_rejected_after_what_was_before_it() -> None:
    assert read(LINES[0] + b"\n" + b"x" * (2 * MAX_FEATURE_BYTES)) == [
        FEATURES[0],
        UnreadableFeature(2, "longer than 1,048,576 bytes"),
    ]


def test_a_feature_that_is_not_an_object_is_rejected_alone() -> None:
    assert read(b'{"features": [{"id": 1}, null, [[]], 3, "us1", {"id": 2}]}') == [
        {"id": 1},
        *(UnreadableFeature(position, "not a JSON object") for position in (2, 3, 4, 5)),
        {"id": 2},
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n",
        b"{}",
        b"[]",
        b"3",
        b"id,time,mag\nus1,2023-08-03,4.5\n",
        b"<!DOCTYPE html>\n<html></html>\n",
        b'{"features": 3}',
        b'[{"features": []}]',
        b'{"metadata": {"features": []}}',
        b'{"level":"info"}\n{"level":"info"}\n',
        b"[" * 60_000,
        bytes(range(256)) * 400,
        gzip.compress(b"", mtime=0),
        gzip.compress(gzip.compress(LINES[0])),
        json.dumps(FEATURES[0], indent=2).encode(),
    ],
)
def test_a_file_of_something_else_is_refused(content: bytes) -> None:
    assert read_until_damage(content) == (
        [],
        "This is neither a GeoJSON FeatureCollection nor a file with a GeoJSON feature a line.",
    )


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda content: content[: content.index(FEATURES[1000]["id"].encode() + b'"}')], id="broken off"),
        pytest.param(
            lambda content: content.replace(
                b'"id":"%b"}' % FEATURES[999]["id"].encode(), b'"id":"%b"} oops' % FEATURES[999]["id"].encode()
            ),
            id="no comma",
        ),
    ],
)
def test_features_before_the_damage_of_a_collection_are_read(damage: Callable[[bytes], bytes]) -> None:
    features, _ = read_until_damage(damage(week()))

    assert features == FEATURES[:1000]


def test_a_collection_says_how_it_is_damaged() -> None:
    whole = b'{"features": [{"id": 1}, {"id": 2}'

    assert read_until_damage(whole) == ([{"id": 1}, {"id": 2}], "The JSON breaks off before its end.")
    assert read_until_damage(whole + b"oops") == (
        [{"id": 1}, {"id": 2}],
        "The JSON is damaged: nothing can be read past 2 features.",
    )
    assert read_until_damage(whole + b"]} {}") == (
        [{"id": 1}, {"id": 2}],
        "The JSON is damaged: nothing can be read past 2 features.",
    )
    assert read_until_damage(b'{"type": "FeatureCollection", "features": 3}') == (
        [],
        "This is JSON, but no GeoJSON FeatureCollection: it has no array `features`.",
    )


@pytest.mark.parametrize("content", [week(), FORMS["a feature a line"]], ids=["collection", "lines"])
def test_a_gzip_file_that_breaks_off_is_refused_after_what_was_complete(content: bytes) -> None:
    zipped = gzip.compress(content)

    features, message = read_until_damage(zipped[: len(zipped) // 2])

    assert message == "The file is gzipped, and breaks off before its end."
    assert len(features) > 900
    assert features == FEATURES[: len(features)]


def test_a_gzip_file_whose_checksum_is_wrong_is_refused_after_its_features() -> None:
    zipped = bytearray(gzip.compress(FORMS["a feature a line, the last one unended"] + b"\n"))
    zipped[-8] ^= 1

    features, message = read_until_damage(bytes(zipped))

    assert message == "The file is gzipped, and the compressed data is damaged."
    assert features == FEATURES[: len(features)]


# Bounds


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"a":['])
def test_json_nested_without_end_is_refused(opening: bytes) -> None:
    features, message = read_until_damage(b'{"features": [{"id": 1}, ' + opening * 60_000)

    assert message == "The JSON is nested more than 500 deep."
    assert features == [{"id": 1}]


def test_brackets_in_text_are_not_counted() -> None:
    feature = {"type": "Feature", "properties": {"place": "[" * 5}}

    assert len(read(orjson.dumps({"features": [feature] * 10_000}))) == 10_000


@pytest.mark.parametrize("beginning", [b'{"features": [{"a": "', b'{"features": [], "a": "', b'{"features": [{"a": ['])
def test_a_feature_without_an_end_is_refused(beginning: bytes) -> None:
    _, message = read_until_damage(beginning + b"1," * MAX_FEATURE_BYTES)

    assert message == "A feature, or what stands between two, is longer than 1,048,576 bytes."


LONG_LINE = orjson.dumps(FEATURES[0] | {"title": "x" * 10_000})


class Repeated:
    """A stream of 20 MB that is nowhere held as a whole: a beginning, a part over and over, and an end."""

    def __init__(self, beginning: bytes, part: bytes, end: bytes) -> None:
        self._parts = itertools.chain([beginning], itertools.repeat(part, 20_000_000 // len(part)), [end])
        self._held = b""

    def read(self, size: int, /) -> bytes:
        while len(self._held) < size and (part := next(self._parts, None)) is not None:
            self._held += part
        data, self._held = self._held[:size], self._held[size:]
        return data


@pytest.mark.parametrize(
    ("beginning", "part", "end", "count"),
    [
        pytest.param(b"", LONG_LINE + b"\n", b"", 20_000_000 // (len(LONG_LINE) + 1), id="lines"),
        pytest.param(
            b'{"features": [',
            LONG_LINE + b",",
            LINES[0] + b"]}",
            20_000_000 // (len(LONG_LINE) + 1) + 1,
            id="collection",
        ),
        pytest.param(LINES[0] + b"\n", b"x" * 1000, b"\n" + LINES[0], 3, id="one line too long"),
        pytest.param(LINES[0] + b"\n", b" " * 999 + b"\n", b"", 1, id="blank lines"),
    ],
)
def test_memory_does_not_grow_with_a_file(beginning: bytes, part: bytes, end: bytes, count: int) -> None:
    with bounded_memory():
        assert sum(1 for _ in read_features(Repeated(beginning, part, end))) == count


def test_memory_does_not_grow_with_what_a_file_unzips_to() -> None:
    zipped = gzip.compress(LINES[0] + b"\n" + bytes(20_000_000))

    with bounded_memory():
        assert read(zipped) == [FEATURES[0], UnreadableFeature(2, "longer than 1,048,576 bytes")]


@contextmanager
def bounded_memory() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


# Fingerprint


def test_a_fingerprint_is_of_the_raw_file_and_grows_with_reading() -> None:
    zipped = gzip.compress(week(), mtime=0)
    stream = Fingerprinted(io.BytesIO(zipped))
    features = read_features(stream)

    assert stream.size == 0
    next(features)
    assert 0 < stream.size < len(zipped)
    assert len(list(features)) == 2123
    assert stream.size == len(zipped)
    assert stream.sha256 == hashlib.sha256(zipped).hexdigest()


# Pushed in chunks

SMALL = orjson.dumps({"type": "FeatureCollection", "metadata": {"place": "Ōfunato"}, "features": FEATURES[:3]})


@given(st.sets(st.integers(0, len(SMALL))))
def test_a_body_may_be_cut_anywhere(places: set[int]) -> None:
    assert parse(cut(SMALL, places)) == FEATURES[:3]


@given(st.integers(0, len(SMALL) - 1), st.sets(st.integers(0, len(SMALL))))
def test_a_body_that_lacks_its_end_is_refused_wherever_it_is_cut(length: int, places: set[int]) -> None:
    with pytest.raises(InvalidGeoJson):
        parse(cut(SMALL[:length], (place for place in places if place <= length)))


@given(st.sets(st.integers(0, 40)), st.sampled_from([b"x", b"{}", b"]", b"\0", b" 1"]))
def test_a_body_with_bytes_after_its_end_is_refused(places: set[int], behind: bytes) -> None:
    content = b'{"features": [{"id": 1}, {"id": 2}]}'

    with pytest.raises(InvalidGeoJson):
        parse(cut(content + behind, (place for place in places if place <= len(content))))


def test_a_body_may_end_in_white_space() -> None:
    assert parse([SMALL, b" \r\n", b"\t "]) == FEATURES[:3]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html></html>",
        b"{}",
        b"[]",
        b"null",
        b'{"features": 3}',
        b'{"features": {}}',
        b'{"features": {"item": {"id": 1}}}',
        b'{"features.item": {"id": 1}}',
        b'{"metadata": {"features": []}}',
        b'[{"features": []}]',
        b'{"features": [{"id": 1},]}',
        b'{"features": [,{"id": 1}]}',
        b'{"features": [{"id": 1} {"id": 2}]}',
        b'{"features": [{"id": 1}:{"id": 2}]}',
        b'{"features": [{"id": 1}}}',
        b'{"features": [{"id": 1}]]',
        b'{"features": [], "a": NaN}',
        b'{"features": [], "a": oops}',
        b'{"features": [], "a": {]}',
        b'{"features": [], "a": "\xff"}',
        b'{"features": [], "a": 1, }',
        b'{"features": [], 1: 2}',
        b'{"features": [] "a": 2}',
        b'{"a" 1, "features": []}',
        b'{"a": , "features": []}',
    ],
)
def test_a_body_of_something_else_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidGeoJson):
        parse([content])


def test_each_complete_feature_is_taken_once() -> None:
    parser = FeatureParser()
    parser.feed(b'{"features": [{"id": 1}, nu')
    assert parser.take() == [{"id": 1}]
    parser.feed(b'll, {"id"')
    assert parser.take() == [UnreadableFeature(2, "not a JSON object")]
    parser.feed(b": 3}]}")
    parser.close()
    assert parser.take() == [{"id": 3}]
    assert parser.take() == []
