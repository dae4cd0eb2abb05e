"""Numbers that no parser takes: each rejects the feature that holds it, and no other, wherever it stands."""

import io
from collections.abc import Callable

import pytest

from graph.domains.earthquakes.usgs.geojson import (
    CHUNK_BYTES,
    FeatureParser,
    RawFeature,
    UnreadableFeature,
    read_features,
)
from graph.domains.earthquakes.usgs.requests import RecentEvents
from tests.domains.earthquakes.ingest.ingests import Station, counts, events_in
from tests.domains.earthquakes.usgs.usgs_server import body

NUMBERS = {
    "5,000 digits": b"1" * 5000,
    "minus 5,000 digits": b"-" + b"1" * 5000,
    "5,000 digits and a fraction": b"1" * 5000 + b".5",
    "300 digits": b"1" * 300,
    "2^63": b"9223372036854775808",
    "2^64": b"18446744073709551616",
    "-2^63-1": b"-9223372036854775809",
    "1e400": b"1e400",
    "-1e400": b"-1e400",
}
# Where `@` stands for the number.
PLACES = {
    "id": b'{"type":"Feature","id":@,"properties":{"mag":1,"time":0},"geometry":{"coordinates":[1,2,3]}}',
    "coordinates": b'{"type":"Feature","id":"x","properties":{"mag":1,"time":0},"geometry":{"coordinates":[1,2,@]}}',
    "property": b'{"type":"Feature","id":"x","properties":{"mag":1,"time":@},"geometry":{"coordinates":[1,2,3]}}',
    "nested": b'{"type":"Feature","id":"x","properties":{"a":' + b"[" * 50 + b"@" + b"]" * 50 + b"}}",
    "member that is not read": b'{"type":"Feature","id":"x","a":{"b":@},"properties":{"mag":1,"time":0},'
    b'"geometry":{"coordinates":[1,2,3]}}',
}
WHOLE = b'{"type":"Feature","id":"%b","properties":{"mag":1,"time":0},"geometry":{"coordinates":[1,2,3]}}'
OUT_OF_RANGE = "unreadable: it holds a number out of range"

numbers = pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS.keys())


@pytest.fixture(params=list(PLACES.values()), ids=list(PLACES))
def place(request: pytest.FixtureRequest) -> bytes:
    """A feature in which a number is still to be put."""
    found: bytes = request.param
    return found


def read(content: bytes) -> list[RawFeature]:
    return list(read_features(io.BytesIO(content)))


def ids(features: list[RawFeature]) -> list[object]:
    return [feature if isinstance(feature, UnreadableFeature) else feature["id"] for feature in features]


def collection(*features: bytes) -> bytes:
    return b'{"type":"FeatureCollection","features":[%b]}' % b",".join(features)


def lines(*features: bytes) -> bytes:
    return b"\n".join(features)


def sequence(*features: bytes) -> bytes:
    return b"".join(b"\x1e" + feature + b"\n" for feature in features)


@numbers
@pytest.mark.parametrize("form", [collection, lines, sequence])
def test_a_number_out_of_range_rejects_its_feature_alone(
    number: bytes, place: bytes, form: Callable[..., bytes]
) -> None:
    feature = place.replace(b"@", number)

    features = read(form(WHOLE % b"before", feature, WHOLE % b"after"))

    assert ids(features) == ["before", UnreadableFeature(2, OUT_OF_RANGE), "after"]


@numbers
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_number_out_of_range_may_be_cut_anywhere(number: bytes, place: bytes, size: int) -> None:
    content = collection(WHOLE % b"before", place.replace(b"@", number), number, WHOLE % b"after")
    parser = FeatureParser()

    for start in range(0, len(content), size):
        parser.feed(content[start : start + size])
    parser.close()

    unreadable = [UnreadableFeature(position, OUT_OF_RANGE) for position in (2, 3)]
    assert ids(parser.take()) == ["before", *unreadable, "after"]


@numbers
def test_digits_in_a_text_are_text(number: bytes) -> None:
    features = read(collection(b'{"id": "%b", "a\\"%b": {"b": "\\\\%b"}}' % (number, number, number)))

    text = number.decode()
    assert features == [{"id": text, f'a"{text}': {"b": f"\\{text}"}}]


@numbers
@pytest.mark.parametrize(
    "foreign",
    [
        b'{"a": @, "features": [%b]}',
        b'{"features": [%b], "a": @}',
        b'{"a": {"b": [1, @, "\\ud800"]}, "features": [%b], "c": [@]}',
    ],
)
def test_a_number_out_of_range_beside_the_features_does_no_harm(number: bytes, foreign: bytes) -> None:
    content = foreign.replace(b"@", number) % b",".join([WHOLE % b"one", WHOLE % b"two"])

    assert ids(read(content)) == ["one", "two"]


@numbers
@pytest.mark.parametrize("form", [lines, sequence])
def test_a_files_form_is_recognised_even_if_its_first_features_are_rejected(
    number: bytes, form: Callable[..., bytes]
) -> None:
    bad = PLACES["id"].replace(b"@", number)
    many = 2 * CHUNK_BYTES // len(bad)

    features = ids(read(form(*[bad] * many, WHOLE % b"after")))

    assert features == [*(UnreadableFeature(position, OUT_OF_RANGE) for position in range(1, many + 1)), "after"]


@pytest.mark.parametrize("number", [b"9223372036854775807", b"-9223372036854775808", b"1e308", b"0." + b"1" * 5000])
@pytest.mark.parametrize("form", [collection, lines])
def test_a_number_within_the_range_is_read_as_it_is(number: bytes, form: Callable[..., bytes]) -> None:
    expected = float(number) if b"." in number or b"e" in number else int(number)

    assert read(form(b'{"type":"Feature","id":%b}' % number)) == [{"type": "Feature", "id": expected}]


@pytest.mark.parametrize("value", [b"NaN", b"-Infinity", b"1.", b"01", b'"\xff"', b'"\\x"', b'"\n"', b"oops", b"{]"])
def test_a_damaged_feature_of_a_collection_is_rejected_alone(value: bytes) -> None:
    features = ids(read(collection(WHOLE % b"before", b'{"id":%b}' % value, WHOLE % b"after")))

    before, damaged, after = features
    assert (before, after) == ("before", "after")
    assert isinstance(damaged, UnreadableFeature)
    assert damaged.position == 2
    assert damaged.reason.startswith("not JSON: ")


@pytest.mark.parametrize("place_", PLACES.values(), ids=PLACES.keys())
async def test_usgs_loses_one_feature_to_each_number_out_of_range(station: Station, place_: bytes) -> None:
    bad = [place_.replace(b"@", number) for number in NUMBERS.values()]
    station.usgs.answer_next(body(collection(WHOLE % b"before", *bad, WHOLE % b"after")))

    report = await station.ingest.recent(RecentEvents())

    assert counts(report) == (len(bad) + 2, 2, 0, len(bad))
    assert [rejection.code for rejection in report.rejections] == ["FEATURE_UNREADABLE"] * len(bad)
    assert report.rejections[0].message == "Feature 2 is unreadable: it holds a number out of range."
    assert (report.retries, set(await events_in(station.database))) == (0, {"before", "after"})
