"""Values that no store takes: each rejects the feature that holds it, and no other, wherever it stands."""

import json

from graph.core.geojson.feature_json import RawFeature, UnreadableFeature
from graph.core.geojson.reading import CHUNK_BYTES
from graph.domains.earthquakes.usgs.requests import RecentEvents
from tests.core.geojson.test_reading import read
from tests.domains.earthquakes.ingest.ingests import a_feature, a_station, events_in
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, body

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

BAD = [place.replace(b"@", number) for place in PLACES.values() for number in NUMBERS.values()]
"""A feature for each number in each place."""
MIXED = [feature for at, bad in enumerate(BAD) for feature in (WHOLE % b"%d" % at, bad)]
READ = [
    each for at in range(len(BAD)) for each in (str(at), UnreadableFeature(2 * at + 2, OUT_OF_RANGE))
]  # ids of these, and what is wrong


def ids(features: list[RawFeature]) -> list[object]:
    return [feature if isinstance(feature, UnreadableFeature) else feature["id"] for feature in features]


def collection(*features: bytes) -> bytes:
    return b'{"type":"FeatureCollection","features":[%b]}' % b",".join(features)


def lines(*features: bytes) -> bytes:
    return b"\n".join(features)


def sequence(*features: bytes) -> bytes:
    return b"".join(b"\x1e" + feature + b"\n" for feature in features)


def test_a_number_out_of_range_rejects_its_feature_alone() -> None:
    for form in (collection, lines, sequence):
        assert ids(read(form(*MIXED))) == READ


def test_digits_in_a_text_and_numbers_beside_the_features_do_no_harm() -> None:
    for number in NUMBERS.values():
        text = number.decode()
        features = read(collection(b'{"id": "%b", "a\\"%b": {"b": "\\\\%b"}}' % (number, number, number)))
        assert features == [{"id": text, f'a"{text}': {"b": f"\\{text}"}}]
        for foreign in (
            b'{"a": @, "features": [%b]}',
            b'{"features": [%b], "a": @}',
            b'{"a": {"b": [1, @, "\\ud800"]}, "features": [%b], "c": [@]}',
        ):
            content = foreign.replace(b"@", number) % b",".join([WHOLE % b"one", WHOLE % b"two"])
            assert ids(read(content)) == ["one", "two"]


def test_a_files_form_is_recognised_even_if_its_first_features_are_rejected() -> None:
    for form in (lines, sequence):
        bad = PLACES["id"].replace(b"@", NUMBERS["5,000 digits"])
        many = 2 * CHUNK_BYTES // len(bad)

        features = ids(read(form(*[bad] * many, WHOLE % b"after")))

        assert features == [*(UnreadableFeature(position, OUT_OF_RANGE) for position in range(1, many + 1)), "after"]


def test_a_number_within_the_range_is_read_as_it_is_a_whole_one_as_an_int_and_another_as_a_float() -> None:
    for number in (b"9223372036854775807", b"-9223372036854775808", b"2.0", b"1e2", b"1e308", b"0." + b"1" * 5000):
        expected = float(number) if b"." in number or b"e" in number else int(number)
        for form in (collection, lines):
            (found,) = read(form(b'{"type":"Feature","id":%b}' % number))
            assert repr(found) == repr({"type": "Feature", "id": expected})


def test_a_damaged_feature_of_a_collection_is_rejected_alone() -> None:
    for value in (b"NaN", b"-Infinity", b"1.", b"01", b'"\xff"', b'"\\x"', b'"\n"', b"oops", b"{]"):
        before, damaged, after = ids(read(collection(WHOLE % b"before", b'{"id":%b}' % value, WHOLE % b"after")))

        assert (before, after) == ("before", "after")
        assert isinstance(damaged, UnreadableFeature)
        assert damaged.position == 2
        assert damaged.reason.startswith("not JSON: ")


async def test_half_a_surrogate_pair_rejects_its_event_and_is_not_replaced(usgs: UsgsServer) -> None:
    texts = ("a\ud800", "\udc00a", "\udc00\ud800", "\ud800A")
    features = [
        *(a_feature(text) for text in texts),
        *(a_feature(f"us{at}", **{name: texts[at]}) for at, name in enumerate(("place", "net", "title", "detail"))),
        a_feature("us-tz", tz=texts[0]),  # which is not stored
        a_feature("us-whole", place="\U0001f30b"),
    ]
    async with a_station("sqlite", usgs) as station:
        station.usgs.answer_next(body(json.dumps({"type": "FeatureCollection", "features": features}).encode()))

        report = await station.ingest.recent(RecentEvents())

        assert [(each.event_id, each.code.value) for each in report.rejections] == [
            *[(None, "ID_INVALID")] * 4,
            *((f"us{at}", "FEATURE_UNREADABLE") for at in range(4)),
        ]
        assert report.rejections[5].message == "`net` is not valid Unicode text: it holds half a surrogate pair."
        stored = await events_in(station.database)
        assert {event_id: item["place"] for event_id, item in stored.items()} == {
            "us-tz": "10 km S of Here",
            "us-whole": "\U0001f30b",
        }
