"""The rules that make a record: what is taken as it is, cut, clamped, left out or refused."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph.core.days import DAY_MS, FIRST_MS
from graph.core.names import is_line
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.model import DETAILS, LONGEST_TEXT, Event, SourceDeletion
from graph.domains.earthquakes.rules import EventProblem, EventRejection, RejectedFeature, given_record
from graph.domains.earthquakes.usgs.normalise import read_record
from tests.core.test_names import NAMES
from tests.domains.earthquakes.builders import NOON, checked_event

NOW = NOON + DAY_MS
RIGHT: dict[str, Any] = {
    "event_id": "us7000abcd",
    "event_ts_ms": NOON,
    "mag": 4.5,
    "place": "10 km S of Here",
    "lat": 35.6,
    "lon": -117.6,
    "depth": 8.25,
    "source": "USGS",
}
OTHERS: dict[str, Any] = {
    "mag_type": "mww",
    "type": "quarry blast",
    "status": "reviewed",
    "updated": NOON + 1,
    "url": "https://example.org/us7000abcd",
    "tsunami": True,
    "felt": 3,
    "alert": "green",
    "sig": 312,
    "net": "us",
    "code": "7000abcd",
    "ids": ["us7000abcd", "ci1"],
    "sources": ["us", "ci"],
    "types": ["dyfi", "origin"],
    "nst": 12,
    "dmin": 0.25,
    "rms": 0.5,
    "gap": 143.0,
    "cdi": 3.5,
    "mmi": 4.25,
    "title": "M 4.5 - 10 km S of Here",
    "detail": "https://example.org/us7000abcd.geojson",
}


def checked(**changes: Any) -> Event:
    return checked_event(**{**RIGHT, **changes}, ingested_at=NOW)


def refusal(**changes: Any) -> EventRejection:
    with pytest.raises(RejectedFeature) as caught:
        checked(**changes)
    assert str(caught.value) == caught.value.rejection.message
    return caught.value.rejection


def test_valid_values_are_kept_unchanged() -> None:
    made = {"ingested_at": NOW, "day_bucket": "20230803", "source_depth": 8.25, "merged_into": None}
    assert checked(**OTHERS).values() == {**RIGHT, **dict.fromkeys(DETAILS), **OTHERS, **made}
    assert checked().values() == {**RIGHT, **dict.fromkeys(DETAILS), **made}


def test_a_magnitude_is_clamped_and_a_depth_above_the_sea_is_stored_as_0() -> None:
    for value, taken in ((-2.0, -2.0), (-2.01, -2.0), (-99, -2.0), (10.0, 10.0), (1e9, 10.0), (7, 7.0), (-1.12, -1.12)):
        mag = checked(mag=value).mag
        assert (mag, type(mag)) == (taken, float)
    for depth, stored in ((-3.2, 0.0), (-0.0, 0.0), (0, 0.0), (700.5, 700.5), (None, None)):
        event = checked(depth=depth)
        assert (event.depth, event.source_depth) == (stored, depth)
        assert ("depth" in event.item, "sourceDepth" in event.item) == (depth is not None,) * 2


READ: list[tuple[str, Any, Any]] = [
    ("ids", ",us1,ci2,", ["us1", "ci2"]),
    ("ids", "us1", ["us1"]),
    ("ids", ["us\u00a01", "\u3000"], ["us\u00a01", "\u3000"]),
    ("ids", ",,", None),
    ("ids", ",a\ud800,", None),
    ("ids", 7, None),
    ("ids", [7], None),
    ("sources", [f"n{number:03}" for number in range(200)], [f"n{number:03}" for number in range(102)]),
    ("nst", -1, None),
    ("nst", 2.5, None),
    ("dmin", 0, 0.0),
    ("dmin", 180.5, None),
    ("rms", -0.1, None),
    ("gap", 360, 360.0),
    ("gap", 361, None),
    ("cdi", "3", None),
    ("mmi", 12.5, None),
    ("net", "n" * 65, "n" * 64),
]
"""Attribute, the given value, the one that is taken."""


def test_an_optional_attribute_is_read_cut_or_left_out() -> None:
    for name, value, taken in READ:
        assert getattr(checked(**{name: value}), name) == taken, (name, value)
    for value, truth in ((1, True), (0, False), (True, True), (False, False)):
        event = checked(tsunami=value)
        assert event.tsunami is truth
        assert event.item["tsunami"] is int(truth), "a number in the item"


def test_an_event_without_a_place_is_called_by_its_coordinates() -> None:
    for lat, lon, taken in (
        (35.6, -117.6, "35.60°N 117.60°W"),
        (-18.1416, 178.4417, "18.14°S 178.44°E"),
        (0, 0, "0.00°N 0.00°E"),
        (-90, -180, "90.00°S 180.00°W"),
    ):
        assert {checked(place=place, lat=lat, lon=lon).place for place in (None, "", 7, ["Here"])} == {taken}


def test_a_text_is_cut_at_a_character() -> None:
    for character in ("a", "é", "海", "\U0001f30b"):
        for name, most in (("place", 512), ("url", 1024), ("source", 1024)):
            taken = [getattr(checked(**{name: character * length}), name) for length in (most, most + 1)]
            assert taken == [character * most] * 2


def test_half_a_surrogate_pair_in_a_text_is_refused_and_not_replaced() -> None:
    for attribute in ("place", "source", "type", "status", "url", "alert", "mag_type"):
        name = "magType" if attribute == "mag_type" else attribute
        message = f"`{name}` is not valid Unicode text: it holds half a surrogate pair."
        for text in ("a\ud800", "\udc00b", "\udc00\ud800", "x" * 2000 + "\ud800"):
            assert refusal(**{attribute: text}) == EventRejection(
                "us7000abcd", EventProblem.FEATURE_UNREADABLE, message
            )


ODD_TEXTS: tuple[Any, ...] = (None, "", 7, True, [], {})
ODD_NUMBERS: tuple[Any, ...] = (None, "3", 2.5, True, 2**31, -(2**31) - 1, [])
ODD: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("mag_type", "type", "status", "url", "alert"), ODD_TEXTS),
    **dict.fromkeys(("felt", "sig"), ODD_NUMBERS),
    "updated": (None, "now", 1.5, False, 2**53, -(2**53)),
    "tsunami": (None, 2, -1, "1", [1], {}),
}


def test_an_invalid_optional_attribute_is_dropped() -> None:
    for attribute, odd in ODD.items():
        without = checked(**{**OTHERS, attribute: None})
        assert getattr(without, attribute) is None
        for value in odd:
            assert checked(**{**OTHERS, attribute: value}) == without, attribute


NO_TIME = "The time must be a whole number of milliseconds since 1970."
NO_CALENDAR = "The time must lie between the year 1 and 30 days from now."
NO_MAGNITUDE = "The magnitude must be a number."
NO_LATITUDE = "The latitude must be a number from -90 to 90 degrees."
NO_LONGITUDE = "The longitude must be a number from -180 to 180 degrees."
NO_DEPTH = "The depth must be a number of kilometres, or be left out."
MISSING = "The event has no magnitude yet. A later ingest takes it once it has one."
NOT_FINITE = (float("nan"), float("inf"), -float("inf"), 10**400, -(10**400))


WRONG: list[tuple[str, str, str, tuple[Any, ...]]] = [
    ("event_ts_ms", "TIME_INVALID", NO_TIME, (None, "0", 1.5, True, [], {})),
    ("event_ts_ms", "TIME_OUT_OF_RANGE", NO_CALENDAR, (FIRST_MS - 1, NOW + 30 * DAY_MS + 1, 10**400)),
    ("mag", "MAGNITUDE_MISSING", MISSING, (None,)),
    ("mag", "MAGNITUDE_INVALID", NO_MAGNITUDE, ("4.5", True, [], {}, *NOT_FINITE)),
    ("lat", "COORDINATES_INVALID", NO_LATITUDE, (None, "0", True, 90.01, -91, *NOT_FINITE)),
    ("lon", "COORDINATES_INVALID", NO_LONGITUDE, (None, "0", True, 180.01, -181, *NOT_FINITE)),
    ("depth", "DEPTH_INVALID", NO_DEPTH, ("8", True, [], 1e200, *NOT_FINITE)),
]
ODD_IDS: tuple[Any, ...] = ("i" * 65, "us\n1", "us\0", "us\x7f", "us\u2028", "us\ud800", 7, True, ["us1"], {})


def test_an_invalid_required_attribute_is_named_in_the_rejection() -> None:
    for attribute, code, message, odd in WRONG:
        for value in odd:
            assert refusal(**{attribute: value}) == EventRejection("us7000abcd", EventProblem(code), message)
    for missing in (None, ""):
        assert refusal(event_id=missing) == EventRejection(None, EventProblem.ID_MISSING, "The event has no id.")
    message = "An event's id is text of at most 64 characters, without control characters."
    for event_id in ODD_IDS:
        assert refusal(event_id=event_id) == EventRejection(None, EventProblem.ID_INVALID, message)


def test_ids_of_visible_characters_every_time_of_the_calendar_and_tiny_numbers_are_accepted() -> None:
    for event_id in ("a", "i" * 64, "nc73919986", "ñandú 1", "#", "EVENT#1", *NAMES):
        assert checked(event_id=event_id).event_id == event_id
    for time_ms in (FIRST_MS, -1, 0, NOW + 30 * DAY_MS):
        assert checked(event_ts_ms=time_ms).event_ts_ms == time_ms
    for attribute in ("mag", "lat", "lon", "depth"):
        for tiny in (1e-200, 5e-324, -1e-131 if attribute != "depth" else 1e-131):
            assert getattr(checked(**{attribute: tiny}), attribute) == 0.0, "too small for any store"


def test_a_whole_number_may_be_written_as_a_program_writes_a_column_with_gaps() -> None:
    event = checked(event_ts_ms=1.69e12, felt=12.0, sig=139.0, nst=34.0, tsunami=0.0, updated=1690000100000.0)

    assert event.event_ts_ms == 1_690_000_000_000
    assert (event.felt, event.sig, event.nst, event.tsunami, event.updated) == (12, 139, 34, False, 1_690_000_100_000)
    assert [name for name, value in event.item.items() if type(value) is float] == [
        "mag",
        "lat",
        "lon",
        "depth",
        "sourceDepth",
    ]


def test_a_source_deletes_an_event_by_a_status_in_any_case() -> None:
    for status in ("deleted", "DELETED", " Deleted "):
        given = {"event_id": "us1", "status": status, "ids": ",us1,us2,", "updated": 5.0}
        assert given_record(given, ingested_at=NOW) == SourceDeletion("us1", ["us1", "us2"], 5)
        feature = {"id": "us1", "properties": {"status": status, "updated": 5}}
        assert read_record(feature, ingested_at=NOW) == SourceDeletion("us1", [], 5)


numbers = st.integers() | st.integers(-200, 200) | st.floats() | st.floats(-200, 200) | st.just(10**400)
texts = st.text(st.characters(), max_size=20) | st.just("x" * 2000) | st.just("\ud800")
json = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(texts, values, max_size=3),
    max_leaves=5,
)


def assert_right(event: Event) -> None:
    """The event fulfils every rule of the documented item, and the store takes it and gives it back."""
    assert 1 <= len(event.event_id) <= 64
    assert is_line(event.event_id)
    assert FIRST_MS <= event.event_ts_ms <= event.ingested_at + 30 * DAY_MS
    assert -2 <= event.mag <= 10
    assert 1 <= len(event.place) <= 512
    assert -90 <= event.lat <= 90
    assert -180 <= event.lon <= 180
    assert event.depth is None or event.depth >= 0
    assert all(type(number) is float for number in (event.mag, event.lat, event.lon, event.depth) if number is not None)
    for text in (event.source, event.mag_type, event.type, event.status, event.url, event.alert):
        assert text is None or 1 <= len(text) <= LONGEST_TEXT
    for number in (event.felt, event.sig):
        assert number is None or (type(number) is int and -(2**31) <= number < 2**31)
    assert event.updated is None or (type(event.updated) is int and abs(event.updated) < 2**53)
    assert event.tsunami is None or type(event.tsunami) is bool
    item = event.item
    EVENT.check(item)
    assert Event(item) == event


NEARLY = st.fixed_dictionaries(
    {name: st.just(value) | json for name, value in RIGHT.items() if name != "source"},
    optional={"source": texts.filter(bool), **{name: st.just(value) | json for name, value in OTHERS.items()}},
)


CODES = {*(code for _, code, _, _ in WRONG), "ID_MISSING", "ID_INVALID", "FEATURE_UNREADABLE"}


@given(values=NEARLY)
@example(values={**RIGHT, "mag": 10**400})
@example(values={**RIGHT, "mag": 1e-200, "lat": 5e-324, "lon": -1e-300, "depth": 1e-131})
@example(values={**RIGHT, "depth": 1e200})
@example(values={**RIGHT, "place": "\ud800"})
def test_no_json_makes_a_record_that_breaks_a_rule(values: dict[str, Any]) -> None:
    try:
        outcome: Event | str = checked(**values)
    except RejectedFeature as refused:
        outcome = refused.rejection.code.value
    if isinstance(outcome, Event):
        assert_right(outcome)
    else:
        assert outcome in CODES


def test_a_record_says_its_day_and_its_time() -> None:
    event = checked(event_ts_ms=-1)
    assert (event.day_bucket, event.time.isoformat()) == ("19691231", "1969-12-31T23:59:59.999000+00:00")
