"""Times and numbers as clients write them, and what they are taken for."""

from typing import Any

import pytest

from tests.service import Service

COUNT = "query($filter: EventFilter) { events(filter: $filter, first: 0) { totalCount } }"
ONE = 1691025921579  # the only event of its millisecond, at 2023-08-03T01:25:21.579Z
INGEST = "mutation($event: EventInput!) { ingestEvents(input: {events: [$event]}) { upserted rejections { code } } }"
EVENT = {"eventId": "us1", "mag": 1, "lat": 0, "lon": 0}


def count(week: Service, **filter: Any) -> int:
    total: int = week.ask(COUNT, {"filter": filter})["events"]["totalCount"]
    return total


@pytest.mark.parametrize(
    "time",
    [
        "2023-08-01T00:00:00Z",
        "2023-08-01T00:00:00.000Z",
        "2023-08-01T00:00:00+00:00",
        "2023-08-01T05:45:00+05:45",
        "2023-07-31T17:00:00-07:00",
        "2023-08-01T00:00:00",  # without an offset, UTC is meant
        "2023-08-01T00:00",
        "2023-08-01 00:00:00Z",
        "2023-08-01",
        "20230801T000000Z",
    ],
)
def test_a_time_may_be_written_in_any_way_of_iso_8601(week: Service, time: str) -> None:
    assert count(week, startTime=time) == 380 + 293 + 241 + 13
    assert week.ask(f'{{ events(first: 0, filter: {{startTime: "{time}"}}) {{ totalCount }} }}') == {
        "events": {"totalCount": 927}
    }


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [
        ("01:25:21.579", "01:25:21.579", 1),
        ("01:25:21.578001", "01:25:21.579", 1),
        ("01:25:21.579", "01:25:21.579999", 1),
        ("01:25:21.578", "01:25:21.578999", 0),
        ("01:25:21.579001", "01:25:21.580", 0),
        ("01:25:21.580", "01:25:21.581", 0),
    ],
)
def test_a_time_within_a_millisecond_is_rounded_into_the_bounds(
    week: Service, start: str, end: str, found: int
) -> None:
    assert count(week, startTime=f"2023-08-03T{start}Z", endTime=f"2023-08-03T{end}Z") == found


def test_bounds_that_no_event_lies_between_find_none(week: Service) -> None:
    assert count(week, startTime="0001-01-01T00:00:00Z", endTime="9999-12-31T23:59:59.999999Z") == 2124
    assert count(week, startTime="0001-01-01", endTime="0001-01-01") == 0
    assert count(week, startTime="9999-12-31T23:59:59.999999Z") == 0
    bounds = {"startTime": "2023-08-03T01:25:21.5791Z", "endTime": "2023-08-03T01:25:21.5799Z"}
    assert week.codes(COUNT, {"filter": bounds}) == ["BAD_USER_INPUT"]  # no millisecond lies between
    assert week.codes(COUNT, {"filter": {"startTime": "2023-08-02", "endTime": "2023-08-01"}}) == ["BAD_USER_INPUT"]


@pytest.mark.parametrize(
    "time",
    ["", "now", "2023", "2023-13-01", "2023-02-29", "2023-08-01T24:00:01Z", "0001-01-01T00:00:00+01:00", ONE, {}],
)
def test_an_invalid_time_is_refused(week: Service, time: Any) -> None:
    assert week.codes(COUNT, {"filter": {"startTime": time}}) == ["BAD_USER_INPUT"]


@pytest.mark.parametrize("day", ["", "today", "2023-02-29", "2023-08-03T00:00:00Z", 20230803])
def test_an_invalid_day_is_refused(week: Service, day: Any) -> None:
    query = "query($day: Date) { popularFilters(day: $day) { totalRequests } }"

    assert week.codes(query, {"day": day}) == ["BAD_USER_INPUT"]


def test_a_number_of_milliseconds_is_whole_and_exact_in_json(service: Service) -> None:
    for number, code in enumerate([0, -1, 1691025921579, 1691025921579.0, -62135596800000]):
        stored = service.ask(INGEST, {"event": EVENT | {"eventId": f"us{number}", "eventTsMs": code}})
        assert stored["ingestEvents"] == {"upserted": 1, "rejections": []}
    for refused in (2**53, -(2**53), 2**63, 0.5, 1e300, "0", True, [0], None):
        assert service.codes(INGEST, {"event": EVENT | {"eventTsMs": refused}}) == ["BAD_USER_INPUT"]
    for beyond in (2**53 - 1, -(2**53) + 1):  # a number like any other, though no time of the calendar
        rejected = service.ask(INGEST, {"event": EVENT | {"eventTsMs": beyond}})
        assert rejected["ingestEvents"] == {"upserted": 0, "rejections": [{"code": "TIME_OUT_OF_RANGE"}]}


def test_times_are_in_utc_with_milliseconds(service: Service) -> None:
    times = {-62135596800000: "0001-01-01T00:00:00.000Z", -1: "1969-12-31T23:59:59.999Z", 0: "1970-01-01T00:00:00.000Z"}
    for time_ms, text in times.items():
        service.ask(INGEST, {"event": EVENT | {"eventId": f"t{time_ms}", "eventTsMs": time_ms}})
        query = f'{{ event(eventId: "t{time_ms}") {{ eventTsMs time }} }}'
        assert service.ask(query) == {"event": {"eventTsMs": time_ms, "time": text}}
