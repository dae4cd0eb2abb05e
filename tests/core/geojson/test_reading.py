"""Reading GeoJSON as a stream: every form of a file, damage of every kind, and memory that does not grow."""

import gzip
import io
import json
from collections.abc import Callable, Iterable
from typing import Any

import orjson
import pytest

from graph.core.geojson.feature_json import RawFeature, UnreadableFeature
from graph.core.geojson.feature_splitter import MAX_FEATURE_BYTES, FeatureSplitter, InvalidGeoJson
from graph.core.geojson.reading import MAX_DETAIL_BYTES, parsed_features, read_features
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
    splitter = FeatureSplitter()
    features = [feature for chunk in chunks for feature in parsed_features(splitter, chunk)]
    splitter.close()
    return features


class Dripping:
    """A stream that gives a byte at a time, as a slow pipe may."""

    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)

    def read(self, size: int, /) -> bytes:
        return self._content.read(min(size, 1))


# Forms of a file

SOME = FEATURES[:50]
SOME_LINES = LINES[:50]
COLLECTION = b'{"type": "FeatureCollection", "features": [%b]}' % b",".join(SOME_LINES)
LINE_A_FEATURE = b"\n".join(SOME_LINES)

FORMS = {
    "a collection in one line": COLLECTION,
    "a collection, printed for people": json.dumps(orjson.loads(COLLECTION), indent=2).encode(),
    "a collection with a foreign member before its features": b'{"crs": {"features": 1}, ' + COLLECTION[1:],
    "a feature a line": LINE_A_FEATURE + b"\n",
    "a feature a line, the last one unended": LINE_A_FEATURE,
    "a feature a line, ended as on Windows": b"\r\n".join(SOME_LINES) + b"\r\n",
    "a feature a line, with blank lines": b"\n \n" + b"\n\n\t\n".join(SOME_LINES) + b"\n\n",
    "features printed for people, one after another": b"\n".join(json.dumps(each, indent=2).encode() for each in SOME),
    "a text sequence of RFC 8142": b"".join(b"\x1e" + line + b"\n" for line in SOME_LINES),
    "a text sequence, printed for people": b"".join(
        b"\x1e" + json.dumps(feature, indent=2).encode() + b"\n" for feature in SOME
    ),
}
WRAPS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda content: content,
    "marked": lambda content: BYTE_ORDER_MARK + content,
    "gzipped": gzip.compress,
    "marked and gzipped": lambda content: gzip.compress(BYTE_ORDER_MARK + content),
    "gzipped in two members and padded": lambda content: (
        gzip.compress(content[:777]) + gzip.compress(content[777:]) + bytes(512)
    ),
}


@pytest.mark.parametrize("wrap", WRAPS)
def test_every_form_of_a_file_holds_the_same_features(wrap: str) -> None:
    for name, content in FORMS.items():
        wrapped = WRAPS[wrap](content)
        assert read(wrapped) == SOME, name
        assert list(read_features(Dripping(wrapped))) == SOME, name


def test_a_file_may_be_long_or_short_or_empty_and_so_may_its_beginning() -> None:
    long = {"type": "Feature", "id": "us1", "properties": {"place": "x" * 100_000}}
    titled = {"type": "FeatureCollection", "title": "x" * 100_000, "features": FEATURES[:2]}

    assert read(week()) == FEATURES
    assert read(LINES[0]) == FEATURES[:1]
    assert read(b'{"features":[]}') == read(b'{"type": "FeatureCollection", "features": [ ]}\n') == []
    assert read(orjson.dumps(long) + b"\n" + LINES[0]) == [long, FEATURES[0]]
    assert read(orjson.dumps(titled)) == FEATURES[:2]


# Damage of a file


BROKEN_LINES = {
    b'{"type":"Feature","id":': "not JSON: unexpected end of data",
    b'{"type":"Feature","mag":NaN}': "not JSON: unexpected character",
    b'{"type":"Feature","mag":-Infinity}': "not JSON: ",
    b'{"type":"Feature"} {}': "not JSON: unexpected content after document",
    b'{"place":"\xff"}': "not JSON: str is not valid UTF-8",
    b"[" * 100_000: "not JSON: ",
    b"3": "not a JSON object",
    b"null": "not a JSON object",
    b"[]": "not a JSON object",
}


def test_a_broken_line_or_record_is_rejected_alone() -> None:
    for line, reason in BROKEN_LINES.items():
        for content, position in (
            (LINES[0] + b"\n\n" + line + b"\n" + LINES[1] + b"\n", 3),
            (LINES[0] + b"\r\n\r\n" + line + b"\r\n" + LINES[1] + b"\r\n", 3),
            (b"\x1e" + LINES[0] + b"\n\x1e" + line + b"\n\x1e" + LINES[1], 2),
        ):
            before, broken, after = read(content)

            assert (before, after) == (FEATURES[0], FEATURES[1])
            assert isinstance(broken, UnreadableFeature)
            assert broken.position == position
            assert broken.reason.startswith(reason)
    assert read(b"oops\n" + LINES[0]) == [
        UnreadableFeature(1, "not JSON: unexpected character, expected a JSON value"),
        FEATURES[0],
    ]


def test_a_line_of_a_mebibyte_is_read_and_a_longer_one_rejected_even_without_an_end() -> None:
    frame = b'{"type":"Feature","place":"%b"}'
    line = frame % (b"x" * (MAX_FEATURE_BYTES - len(frame % b"")))
    too_long = UnreadableFeature(2, "longer than 1,048,576 bytes")

    assert read(LINES[0] + b"\n" + line + b"\n" + LINES[1]) == [FEATURES[0], orjson.loads(line), FEATURES[1]]
    assert read(LINES[0] + b"\n" + line[:-1] + b" }\n" + LINES[1]) == [FEATURES[0], too_long, FEATURES[1]]
    assert read(LINES[0] + b"\n" + b"x" * (2 * MAX_FEATURE_BYTES)) == [FEATURES[0], too_long]


SOMETHING_ELSE = [
    *(b"", b" \n", b"{}", b"[]", b"3"),
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
]


def test_a_file_of_something_else_is_refused() -> None:
    message = "This is neither a GeoJSON FeatureCollection nor a file of GeoJSON features."
    for content in SOMETHING_ELSE:
        assert read_until_damage(content) == ([], message)


@pytest.mark.parametrize("sort_keys", [False, True])
def test_the_page_of_an_event_is_read_without_its_products_however_long_it_is(sort_keys: bool) -> None:
    feature = FEATURES[0]
    products = {"shakemap": [{"contents": {"x": "y" * 2 * MAX_FEATURE_BYTES}}]}
    page = {**feature, "properties": {**feature["properties"], "products": products}}

    assert read(json.dumps(page, indent=2, sort_keys=sort_keys).encode()) == [feature]


def test_what_is_printed_for_people_is_read_up_to_its_damage() -> None:
    page = json.dumps(FEATURES[0], indent=2).encode()
    deep = b'{\n"type": "Feature", "x": ' + b"[" * 501
    long = b'{\n"type": "Feature", "x": "' + b"x" * MAX_DETAIL_BYTES

    assert read_until_damage(page + page[:-5]) == (FEATURES[:1], "The JSON breaks off before its end.")
    for behind in (b",", b"]", b"3", b'"', b"\0"):
        message = "The JSON is damaged: nothing can be read past 1 features."
        assert read_until_damage(page + behind + page) == (FEATURES[:1], message)
    assert read_until_damage(page + deep) == (FEATURES[:1], "The JSON is nested more than 500 deep.")
    assert read_until_damage(page + long) == (FEATURES[:1], "A feature is longer than 16,777,216 bytes.")
    reason = "not JSON: trailing comma is not allowed"
    assert read(page + b'{\n"id": 1,\n}\n' + page) == [FEATURES[0], UnreadableFeature(2, reason), FEATURES[0]]


def test_a_collection_says_how_it_is_damaged() -> None:
    whole, features = b'{"features": [{"id": 1}, {"id": 2}', [{"id": 1}, {"id": 2}]
    damaged = "The JSON is damaged: nothing can be read past 2 features."
    none = "This is JSON, but no GeoJSON FeatureCollection: it has no array `features`."

    assert read_until_damage(whole) == (features, "The JSON breaks off before its end.")
    assert read_until_damage(whole + b"oops") == (features, damaged)
    assert read_until_damage(whole + b"]} {}") == (features, damaged)
    assert read_until_damage(b'{"type": "FeatureCollection", "features": 3}') == ([], none)


def test_a_gzip_file_that_breaks_off_or_is_damaged_is_refused_after_what_was_complete() -> None:
    for content in (week(), b"\n".join(LINES)):
        zipped = gzip.compress(content)
        features, message = read_until_damage(zipped[: len(zipped) // 2])
        assert message == "The file is gzipped, and breaks off before its end."
        assert len(features) > 900
        assert features == FEATURES[: len(features)]

    checked = bytearray(gzip.compress(LINE_A_FEATURE + b"\n"))
    checked[-8] ^= 1
    features, message = read_until_damage(bytes(checked))
    assert message == "The file is gzipped, and the compressed data is damaged."
    assert features == FEATURES[: len(features)]


# Pushed in chunks

SMALL = orjson.dumps({"type": "FeatureCollection", "metadata": {"place": "Ōfunato"}, "features": FEATURES[:3]})


NO_COLLECTIONS = [
    *(b"", b"<html></html>", b"{}", b"[]", b"null", b'{"features": 3}', b'{"features": {}}'),
    *(b'{"features": {"item": {"id": 1}}}', b'{"features.item": {"id": 1}}'),
    *(b'{"metadata": {"features": []}}', b'[{"features": []}]'),
    *(b'{"features": [{"id": 1},]}', b'{"features": [,{"id": 1}]}'),
    *(b'{"features": [{"id": 1} {"id": 2}]}', b'{"features": [{"id": 1}:{"id": 2}]}'),
    *(b'{"features": [{"id": 1}}}', b'{"features": [{"id": 1}]]'),
    *(b'{"features": [], "a": NaN}', b'{"features": [], "a": oops}', b'{"features": [], "a": {]}'),
    *(b'{"features": [], "a": "\xff"}', b'{"features": [], "a": 1, }', b'{"features": [], 1: 2}'),
    *(b'{"features": [] "a": 2}', b'{"a" 1, "features": []}', b'{"a": , "features": []}'),
]


def test_a_body_is_one_whole_collection_and_white_space() -> None:
    """Wherever it is cut into chunks, the outcome is the same: see the splitter of features."""
    behind = (b"x", b"{}", b"]", b"\0", b" 1")
    for content in (
        *NO_COLLECTIONS,
        *(SMALL[:length] for length in range(len(SMALL))),
        *(SMALL + each for each in behind),
    ):
        with pytest.raises(InvalidGeoJson):
            parse([content])
    assert parse([SMALL, b" \r\n", b"\t "]) == FEATURES[:3]


def test_each_feature_comes_with_the_chunk_that_completes_it() -> None:
    splitter = FeatureSplitter()
    assert [*parsed_features(splitter, b'{"features": [{"id": 1}, nu')] == [{"id": 1}]
    assert [*parsed_features(splitter, b'll, {"id"')] == [UnreadableFeature(2, "not a JSON object")]
    assert [*parsed_features(splitter, b": 3}]}")] == [{"id": 3}]
    splitter.close()
