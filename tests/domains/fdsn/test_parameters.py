"""Reading a query string: whatever comes, it is a query or a refusal."""

from typing import Any
from urllib.parse import urlencode

from hypothesis import given
from hypothesis import strategies as st

from graph.core.errors import BadUserInput
from graph.domains.fdsn.parameters import PARAMETERS, read_parameters
from graph.domains.fdsn.query import FdsnQuery
from graph.store.conditions import values_of
from graph.store.values import check_value
from tests.domains.earthquakes.builders import an_event, at

NAMES = [name for parameter in PARAMETERS for name in (parameter.name, *parameter.aliases)]
PLAUSIBLE = st.one_of(
    st.floats().map(repr),
    st.integers(-400, 400).map(str),
    st.datetimes().map(lambda time: time.isoformat()),
    st.sampled_from([option for parameter in PARAMETERS for option in parameter.reader.options]),
    st.sampled_from(["true", "False", "earthquake", "quarry_blast,explosion", "us7000abcd,x", "2023-08-03"]),
    st.text(max_size=20),
)


@given(st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), PLAUSIBLE, max_size=6))
def test_parameters_make_a_query_that_stores_can_answer_or_are_refused(given: dict[str, str]) -> None:
    try:
        query = FdsnQuery.of(read_parameters(urlencode(given, errors="replace").encode()))
    except BadUserInput:
        return
    selection = query.selection
    for value in values_of(selection.condition):
        check_value(value)
    selection.admits(an_event().item)


@given(st.binary(max_size=60))
def test_bytes_are_read_or_refused(query_string: bytes) -> None:
    try:
        read_parameters(query_string)
    except BadUserInput:
        return


def test_an_area_that_has_the_180th_meridian_has_its_events_however_they_are_written() -> None:
    for area, is_there in (
        *(("minlongitude=170", True), ("maxlongitude=-170", True), ("minlongitude=170&maxlongitude=180", True)),
        *(("minlongitude=-180&maxlongitude=-170", True), ("minlongitude=180&maxlongitude=190", True)),
        *(("minlongitude=-190&maxlongitude=-180", True), ("minlongitude=180&maxlongitude=180", True)),
        *(("latitude=0&longitude=180&maxradius=0", True), ("latitude=0&longitude=-180&maxradiuskm=0", True)),
        *(("latitude=0&longitude=180&minradius=0.1", False), ("minlongitude=-179.9&maxlongitude=179.9", False)),
    ):
        selection = FdsnQuery.of(read_parameters(area.encode())).selection
        for lon in (180.0, -180.0):
            assert selection.admits(an_event(lat=0.0, lon=lon).item) is is_there, (area, lon)


def test_a_time_is_utc_and_rounded_towards_the_inside() -> None:
    for text, starts, ends in (
        ("2023-08-03", "2023-08-03T00:00:00.000", "2023-08-03T00:00:00.000"),
        ("2023-08-03T02:52:13", "2023-08-03T02:52:13.000", "2023-08-03T02:52:13.000"),
        ("2023-08-03T02:52:13Z", "2023-08-03T02:52:13.000", "2023-08-03T02:52:13.000"),
        ("2023-08-03T02:52:13.1", "2023-08-03T02:52:13.100", "2023-08-03T02:52:13.100"),
        ("2023-08-03T02:52:13.180999", "2023-08-03T02:52:13.181", "2023-08-03T02:52:13.180"),
        ("2023-08-03T02:52:13+02:00", "2023-08-03T00:52:13.000", "2023-08-03T00:52:13.000"),
        ("1906-04-18T13:12:21.5", "1906-04-18T13:12:21.500", "1906-04-18T13:12:21.500"),
    ):
        read: Any = read_parameters(urlencode({"start": text, "end": text}).encode())

        assert (read["starttime"], read["endtime"]) == (at(starts), at(ends))
