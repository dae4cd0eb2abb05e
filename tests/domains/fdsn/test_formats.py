"""Each format: where real or hostile values do not fit it, what it writes instead."""

import csv
import json
import re
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st

from graph.domains.earthquakes.model import possible_id
from graph.domains.fdsn.event_types import QUAKEML_TYPES, quakeml_type
from graph.domains.fdsn.geojson import FdsnGeoJson
from graph.domains.fdsn.public_ids import AUTHORITY, event_id_of, local_part
from graph.domains.fdsn.quakeml import QuakeML, escaped
from graph.domains.fdsn.text import EventText
from graph.domains.fdsn.usgs_csv import COLUMNS, UsgsCsv
from tests.domains.earthquakes.builders import an_event

PATTERN = r"(smi|quakeml):[\w\d][\w\d\-\.\*\(\)_~']{2,}/[\w\d\-\.\*\(\)_~'][\w\d\-\.\*\(\)\+\?_~'=,;#/&amp;]*"
"""Of a `ResourceIdentifier`, in QuakeML's own schema."""

IDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=64).filter(possible_id)


@given(IDS)
def test_a_public_id_is_valid_and_gives_the_id_back(event_id: str) -> None:
    public_id = f"quakeml:quakegraph/event/{local_part(event_id)}"

    assert re.fullmatch(PATTERN, public_id, re.ASCII)
    assert event_id_of(public_id) == event_id


def test_an_authority_has_three_characters_and_no_colon() -> None:
    names = ["org.example", "quakegraph", "ab", "localhost:8000", "", "a b c"]

    assert [name for name in names if re.fullmatch(AUTHORITY, name)] == names[:2]


def test_every_word_becomes_a_type_of_quakeml() -> None:
    words = {
        "earthquake": "earthquake",
        "quarry": "quarry blast",
        "Quarry_Blast": "quarry blast",
        "icequake": "ice quake",
        "Rock Slide": "rockslide",
        "sonicboom": "sonic boom",
        "volcanic explosion": "volcanic eruption",
        **dict.fromkeys(("dragon", "", "<b>"), "other event"),
    }
    assert {word: quakeml_type(word) for word in words} == words
    assert set(words.values()) <= QUAKEML_TYPES


def test_xml_leaves_out_what_it_cannot_hold() -> None:
    assert escaped('a<b>&"c"\x00\x1b\ufffe\r\n\td😀') == "a&lt;b&gt;&amp;&quot;c&quot;&#13;\n\td😀"


QUAKEML = QuakeML("quakegraph")


def test_the_depth_is_in_metres_or_kilometres_and_may_be_missing() -> None:
    assert b"<depth><value>8410.0</value></depth>" in QUAKEML.rows([an_event(depth=8.41)])
    assert b"<depth><value>-1230.0</value></depth>" in QUAKEML.rows([an_event(depth=-1.23)])
    assert b"<depth>" not in QUAKEML.rows([an_event(depth=None)])
    assert [EventText().rows([an_event(depth=depth)]).split(b"|")[4] for depth in (None, 0)] == [b"", b"0.0"]


def test_the_status_becomes_the_mode_and_the_status_of_the_evaluation_if_it_is_known() -> None:
    for status, mode, evaluated in (
        (b"automatic", b"automatic", b"preliminary"),
        (b"reviewed", b"manual", b"reviewed"),
    ):
        written = b"<evaluationMode>%b</evaluationMode><evaluationStatus>%b</evaluationStatus>" % (mode, evaluated)
        assert QUAKEML.rows([an_event(status=status.decode())]).count(written) == 2
    assert b"evaluation" not in QUAKEML.rows([an_event(status="guessed")])


def test_a_magnitude_always_has_a_type() -> None:
    assert b"<mag><value>4.5</value></mag><type>M</type>" in QUAKEML.rows([an_event(mag_type=None)])
    assert b"<type>" + b"x" * 32 + b"</type><originID>" in QUAKEML.rows([an_event(mag_type="x" * 99)])


def test_a_deleted_event_does_not_exist() -> None:
    deleted = an_event(status="deleted", type="earthquake")

    assert b"<type>not existing</type>" in QUAKEML.rows([deleted])
    assert EventText().rows([deleted]).endswith(b"|not existing\n")


def test_a_value_of_the_text_holds_no_separator() -> None:
    line = EventText().rows([an_event("us|1", place="5 km | N\nof\x85 X\u200cY", mag_type="m|l")]).decode()

    assert line.count("\n") == 1
    assert line.count("|") == 13
    assert "5 km / N of X\u200cY" in line


def test_the_csv_quotes_what_it_must() -> None:
    event = an_event(place='5 km "N", of\nX', net="us", nst=7, updated=0)
    written = UsgsCsv().rows([event]).decode()

    (row,) = csv.reader(StringIO(written))
    named = dict(zip(COLUMNS, row, strict=True))
    assert named["place"] == '5 km "N", of\nX'
    assert (named["net"], named["nst"], named["updated"]) == ("us", "7", "1970-01-01T00:00:00.000Z")
    assert named["horizontalError"] == named["magNst"] == ""


def test_the_csv_for_a_spreadsheet_has_no_text_that_it_would_compute() -> None:
    event = an_event(place="=1+1", lat=-2, net="-us")

    for switch, expected in ((False, ("=1+1", "-2.0", "-us")), (True, ("'=1+1", "-2.0", "'-us"))):
        (row,) = csv.reader(StringIO(UsgsCsv(spreadsheet=switch).rows([event]).decode()))
        named = dict(zip(COLUMNS, row, strict=True))
        assert (named["place"], named["latitude"], named["net"]) == expected


def test_geojson_in_parts_is_one_document() -> None:
    geojson = FdsnGeoJson(url="http://x/", generated_ms=1, version="1.2.0")
    events = [an_event(f"us{number}", lat=number, lon=-number, depth=number or None) for number in range(3)]

    written = geojson.head + geojson.rows(events[:2]) + geojson.rows([]) + geojson.rows(events[2:]) + geojson.tail(3)
    read = json.loads(written)
    assert [feature["id"] for feature in read["features"]] == ["us0", "us1", "us2"]
    assert read["metadata"]["count"] == 3
    assert read["bbox"] == [-2, 0, 0, 0, 2, 2]
    assert json.loads(FdsnGeoJson(url="", generated_ms=1, version="").head + geojson.tail(0))["features"] == []
