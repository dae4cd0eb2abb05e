"""Cursors of every order hold a position, and nothing else will do. Their text is the same for ever."""

import re
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import FIRST_MS, LAST_MS
from graph.core.errors import InvalidCursor
from graph.core.paging import Position
from graph.domains.data_files.entities import BY_APPLICABLE_DATE
from graph.domains.earthquakes.catalogue.by_magnitude import BY_MAGNITUDE
from graph.domains.earthquakes.model import BY_TIME
from graph.domains.earthquakes.revisions.model import REVISIONS
from graph.domains.payloads.versions import VERSIONS
from graph.domains.request_logs.model import BY_TIME as REQUEST_LOGS
from graph.domains.service_logs.entities import BY_TIME as SERVICE_LOGS
from graph.domains.sightings.iso import iso_of
from graph.domains.sightings.model import BY_TIME as SIGHTINGS
from graph.store.ordering import Order

times = st.integers(FIRST_MS, LAST_MS)
keys = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=64)
names = st.text("abc#-. é", min_size=1, max_size=9)
POSITIONS: list[tuple[Order, dict[str, st.SearchStrategy[Any]]]] = [
    (BY_TIME, {"eventTsMs": times, "eventId": keys}),
    (BY_MAGNITUDE, {"mag": st.floats(-2, 10), "eventTsMs": times, "eventId": keys}),
    (REVISIONS, {"revision": st.integers(1, 10**6), "eventId": keys}),
    (VERSIONS, {"number": st.integers(1, 10**12), "payloadId": names, "at": st.integers(0, 1000)}),
    (REQUEST_LOGS, {"timestamp": times, "requestId": keys}),
    (SERVICE_LOGS, {"timestamp": st.integers(0, 10**10).map(float), "service_name": names}),
    (SIGHTINGS, {"reportedAt": st.integers(0, 10**10 - 1).map(iso_of), "sightingId": keys}),
]
positions = st.sampled_from(POSITIONS).flatmap(lambda each: st.tuples(st.just(each[0]), st.fixed_dictionaries(each[1])))


def encoded(text: str) -> str:
    """A text as cursors are written."""
    return urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).rstrip(b"=").decode()


@given(position=positions)
def test_a_cursor_decodes_to_its_position_in_its_own_connection_alone(position: tuple[Order, Position]) -> None:
    order, place = position
    cursor = order.cursor_of(place)
    assert re.fullmatch(r"[A-Za-z0-9_-]+", cursor)
    assert order.place_of(cursor, "after") == place
    for other, _ in POSITIONS:
        if other is not order:
            with pytest.raises(InvalidCursor):
                other.place_of(cursor, "after")


def test_a_cursor_is_the_same_text_for_ever() -> None:
    """Clients keep cursors, so another release must still take them."""
    listed = {"applicable-date": "2023-08-03", "file-name": "a.nc", "identifier": "DATA"}
    for order, position, text in (
        (BY_TIME, {"eventTsMs": 1_691_064_000_000, "eventId": "us7000abcd"}, "events1:1691064000000:us7000abcd"),
        (BY_TIME, {"eventTsMs": -1, "eventId": "é"}, "events1:-1:é"),
        (BY_MAGNITUDE, {"mag": 1e-05, "eventTsMs": 0, "eventId": "us:1:ä"}, "magnitudes1:1e-05:0:us:1:ä"),
        (BY_MAGNITUDE, {"mag": 2, "eventTsMs": 0, "eventId": "us1"}, "magnitudes1:2.0:0:us1"),
        (REVISIONS, {"revision": 2, "eventId": "us1"}, "revisions1:2:us1"),
        (VERSIONS, {"number": 5, "payloadId": "a-b", "at": 3}, "payloadversions1:5:a-b:3"),
        (REQUEST_LOGS, {"timestamp": 7, "requestId": "a"}, "logs1:7:a"),
        (SIGHTINGS, {"reportedAt": "2023-08-03T12:00:00Z", "sightingId": "a"}, "sightings1:1691064000000:a"),
        (SERVICE_LOGS, {"timestamp": 2, "service_name": "a"}, 'servicelogs1:timestamp:["a",2.0]'),
        (BY_APPLICABLE_DATE, listed, 'datafiles1:identifier:["2023-08-03","DATA","a.nc"]'),
    ):
        assert order.cursor_of(position) == encoded(text), text


@given(text=st.text() | st.binary().map(lambda raw: urlsafe_b64encode(raw).decode()) | positions.map(str))
def test_any_other_text_is_no_cursor(text: str) -> None:
    for order, _ in POSITIONS:
        with pytest.raises(InvalidCursor):
            order.place_of(text, "after")


@given(position=positions, data=st.data())
def test_a_changed_cursor_is_another_cursor_or_invalid(position: tuple[Order, Position], data: st.DataObject) -> None:
    order, cursor = position[0], position[0].cursor_of(position[1])
    place = data.draw(st.integers(0, len(cursor)))
    changed = (
        cursor[:place]
        + data.draw(st.text("AZaz09-_+/=. \n%é", max_size=2))
        + cursor[place + data.draw(st.integers(0, 1)) :]
    )
    try:
        found = order.place_of(changed, "after")
    except InvalidCursor:
        assert changed != cursor
    else:
        assert order.cursor_of(found) == changed


IMPOSSIBLE = {
    BY_TIME: (
        *("", "\0", "1:0:us1", "Events1:0:us1", "logs1:0:us1", "events:0:us1", "events1:0", "events1:0:"),
        *("events1::us1", "events2:0:us1", "events01:0:us1", "events１:0:us1", "events1:00:us1", "events1:-0:us1"),
        *("events1:+1:us1", "events1:1.0:us1", "events1: 1:us1", "events1:1e3:us1", "events1:0:us\n1"),
        *(f"events1:{LAST_MS + 1}:us1", f"events1:{FIRST_MS - 1}:us1", "events1:0:\ud800", "events1:0:us\x7f"),
        *("events1:" + "9" * 5000 + ":us1", "events" + "1" * 5000 + ":0:us1", "events1:0:" + "i" * 65),
    ),
    BY_MAGNITUDE: (
        *("magnitudes1:4.50:0:us1", "magnitudes1:4:0:us1", "magnitudes1:4.5:00:us1", "magnitudes1:4.5:0:"),
        *("magnitudes1:4.5:0:a\n", "magnitudes1:4.5.6:0:us1", "magnitudes1:nan:0:us1", "magnitudes1:5e-324:0:us1"),
        *("magnitudes1:10.1:0:us1", "magnitudes1:-2.1:0:us1", "magnitudes2:4.5:0:us1"),
    ),
    SIGHTINGS: (
        *("sightings1:", "sightings1:5000", "sightings1:5000:", "sightings1:5000:a\n", "sightings1:5001:a"),
        *("sightings1:-1000:a", f"sightings1:{LAST_MS + 1}:a", "sightings2:5000:a", "sightings1:5000:" + "a" * 65),
    ),
    VERSIONS: ("payloadversions1:0:a:1", "payloadversions1:1::1", "payloadversions1:1:a:01", "payloadversions1:1:a:-1"),
    SERVICE_LOGS: ('servicelogs1:timestamp:["a",2]', 'servicelogs1:timestamp:["",2.0]', "servicelogs1:timestamp:5"),
}


def test_a_well_formed_cursor_with_impossible_values_is_refused() -> None:
    for order, texts in IMPOSSIBLE.items():
        for text in texts:
            with pytest.raises(InvalidCursor, match="`before`"):
                order.place_of(encoded(text), "before")
