"""Splitting a collection into its features: at every cut the same ones, at a cost that grows with the bytes alone."""

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.geojson import json_extent
from graph.core.geojson.feature_json import GREATEST_WHOLE, LEAST_WHOLE, RawFeature, UnreadableFeature
from graph.core.geojson.feature_splitter import MAX_DEPTH, MAX_FEATURE_BYTES, FeatureSplitter, InvalidGeoJson
from graph.core.geojson.reading import parsed_features
from tests.core.geojson.test_reading import parse


def pieces(content: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


def split(chunks: Iterable[bytes]) -> list[bytes | None]:
    return drain(FeatureSplitter(), chunks)


def drain(splitter: FeatureSplitter, chunks: Iterable[bytes]) -> list[bytes | None]:
    features = [feature for chunk in chunks for feature in splitter.feed(chunk)]
    splitter.close()
    return features


# The same features as a parser of the whole finds

characters = st.characters(codec=None) | st.sampled_from('"\\[]{},:\t\ud83c\udf0b\ud800')
texts = st.text(characters, max_size=6)
out_of_range = st.sampled_from([LEAST_WHOLE - 1, GREATEST_WHOLE + 1, 2**64, 10**400])
numbers = st.integers(LEAST_WHOLE, GREATEST_WHOLE) | st.floats(allow_nan=False, allow_infinity=False) | out_of_range
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=10,
)
members = st.dictionaries(texts.filter(lambda name: name != "features"), values, max_size=3)
collections = st.builds(
    lambda before, features, after: {**before, "features": features, **after},
    members,
    st.lists(st.dictionaries(texts, values, max_size=3) | values, max_size=5),
    members,
)
layouts = st.sampled_from([{}, {"separators": (",", ":")}, {"indent": 1}])


def expected(position: int, value: Any) -> RawFeature:
    if holds_a_number_out_of_range(value):
        return UnreadableFeature(position, "unreadable: it holds a number out of range")
    return value if isinstance(value, dict) else UnreadableFeature(position, "not a JSON object")


def holds_a_number_out_of_range(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(holds_a_number_out_of_range, value.values()))
    if isinstance(value, list):
        return any(map(holds_a_number_out_of_range, value))
    return isinstance(value, int) and not LEAST_WHOLE <= value <= GREATEST_WHOLE


@given(collection=collections, layout=layouts, data=st.data())
def test_features_cut_anywhere_are_those_of_the_whole(
    collection: dict[str, Any], layout: dict[str, Any], data: st.DataObject
) -> None:
    content = json.dumps(collection, **layout).encode()
    cuts = [0, *sorted(data.draw(st.sets(st.integers(0, len(content))))), len(content)]

    features = parse(content[start:end] for start, end in pairwise(cuts))

    whole = json.loads(content)["features"]
    assert repr(features) == repr([expected(position, value) for position, value in enumerate(whole, 1)])


@given(st.lists(st.sampled_from([b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b"1", b" ", b"\xff"])), st.data())
def test_damage_is_found_alike_wherever_it_is_cut(tokens: list[bytes], data: st.DataObject) -> None:
    content = b'{"features": [' + b"".join(tokens) + b"]}"
    size = data.draw(st.integers(1, len(content)))

    def outcome(chunks: Iterable[bytes]) -> tuple[list[RawFeature], str]:
        splitter, features = FeatureSplitter(), list[RawFeature]()
        try:
            for chunk in chunks:
                features += parsed_features(splitter, chunk)
            splitter.close()
        except InvalidGeoJson as error:
            return features, str(error)
        return features, ""

    assert outcome(pieces(content, size)) == outcome([content])


def test_a_feature_is_handed_on_as_it_came() -> None:
    features = [b'{"a": "]}\\""}', b"{ ]", b'"]"', b"-1.5e400", b"[[{}]]", b"oops", b"{}", b'"\\\\"']
    content = b'{"features" : [ %b ] , "features":[{}], "feat\\u0075res": [3]}' % b" ,\n".join(features)

    for size in (1, 2, 3, 1000):
        assert split(pieces(content, size)) == [*features, b"{}", b"3"]


def test_a_feature_that_is_too_long_is_unreadable_and_ends_nothing() -> None:
    for size in (65_536, 5_000_000):
        for length in (MAX_FEATURE_BYTES, 3 * MAX_FEATURE_BYTES):
            content = b'{"features": [{}, {"a": "%b"}, {"b": 1}]}' % (b"x" * length)
            assert parse(pieces(content, size)) == [{}, UnreadableFeature(2, "longer than 1,048,576 bytes"), {"b": 1}]


def test_a_feature_may_be_as_deep_and_as_long_as_the_limits() -> None:
    deep, long = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, b'"%b"' % (b"x" * (MAX_FEATURE_BYTES - 2))

    for size in (65_536, 5_000_000):
        assert split(pieces(b'{"features": [%b, {}, %b]}' % (deep, long), size)) == [deep, b"{}", long]
    with pytest.raises(InvalidGeoJson, match=r"The JSON is nested more than 500 deep\."):
        split([b'{"features": [[%b]]}' % deep])


def test_the_text_between_two_features_is_bounded() -> None:
    for between in (b" " * 1000, b'"a": 1, ' * 100, b'"a": "%b", ' % (b"x" * 1000)):
        content = b'{"features": [{}], ' + between * (1 + MAX_FEATURE_BYTES // len(between)) + b'"features": []}'

        with pytest.raises(InvalidGeoJson, match=r"is longer than 1,048,576 bytes\."):
            split(pieces(content, 65_536))


# Work

LONG = 20_000
HOSTILE = {
    "backslashes": b'{"a": "' + b"\\" * LONG + b'"}',
    "quotes": b'{"a": ' + b'"' * LONG + b"}",
    "escaped quotes": b'{"a": "' + b'\\"' * (LONG // 2) + b'"}',
    "texts": b'{"a": [' + b'"a",' * (LONG // 4) + b'"a"]}',
    "brackets": b'{"a": [' + b"[]," * (LONG // 3) + b"[]]}",
    "brackets as deep as allowed": b'{"a": [' + (b"[" * 400 + b"]" * 400) * (LONG // 800) + b"]}",
    "brackets in a text": b'{"a": "' + b"[" * LONG + b'"}',
    "digits": b'{"a": ' + b"1" * LONG + b"}",
    "a number alone": b"1" * LONG,
    "a word alone": b"x" * LONG,
    "a text alone": b'"' + b"\\u0020" * (LONG // 6) + b'"',
    "small features": b",".join([b"{}"] * (LONG // 3)),
    "white space": b"{}" + b" " * LONG,
}


@pytest.fixture
def scanned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes that each match of a pattern looks at. Before a text that is cut, it looks for its end in vain."""
    looked_at = list[int]()

    def counting(name: str, match: Any) -> Any:
        def skip(chunk: bytes, start: int) -> Any:
            matched = match(chunk, start)
            end = matched.end()
            in_vain = name == "_skip_to_bracket" and chunk[end : end + 1] == b'"'
            looked_at.append((len(chunk) if in_vain else end) - start)
            return matched

        return skip

    for name in ("_skip_text", "_skip_to_bracket", "_skip_scalar"):
        monkeypatch.setattr(json_extent, name, counting(name, getattr(json_extent, name)))
    return looked_at


@pytest.mark.parametrize("size", [1, 2, 4096, 65_536])
def test_no_byte_is_scanned_more_than_twice(size: int, scanned: list[int]) -> None:
    for name, features in HOSTILE.items():
        content = b'{"features": [' + features + b"]}"
        splitter = FeatureSplitter()

        drain(splitter, pieces(content, size))

        assert splitter.count >= 1, name
        assert sum(scanned) <= 2 * len(content), name
        scanned.clear()
    for opening in (b"[", b'{"a":', b'[["', b'["\\'):  # and no end
        content = b'{"features": [' + opening * (LONG // len(opening))
        splitter = FeatureSplitter()

        with pytest.raises(InvalidGeoJson):
            drain(splitter, pieces(content, size))

        assert sum(scanned) <= 2 * len(content), opening
        scanned.clear()
