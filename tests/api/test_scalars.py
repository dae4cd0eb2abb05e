"""Times and numbers as clients write them, and what they are taken for."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from graphql import GraphQLInputObjectType

from graph.app import schema_of
from graph.domains import DOMAINS
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import Service, running, settings
from tests.store.samples import NOON, HeldClock

COUNT = "query($filter: EventFilter) { events(filter: $filter, first: 0) { totalCount } }"
ONE = 1691025921579  # the only event of its millisecond, at 2023-08-03T01:25:21.579Z
INGEST = "mutation($event: EventInput!) { ingestEvents(input: {events: [$event]}) { upserted rejections { code } } }"
EVENT = {"eventId": "us1", "mag": 1, "lat": 0, "lon": 0}


def count(week: Service, **filter: Any) -> int:
    total: int = week.ask(COUNT, {"filter": filter})["events"]["totalCount"]
    return total


def test_a_time_may_be_written_in_any_way_of_rfc_3339_or_as_a_date(week: Service) -> None:
    """`tests.core.test_times` holds which ways these are."""
    for time in ("2023-08-01T00:00:00.000000000Z", "2023-08-01T05:45:00+05:45", "2023-08-01 00:00:00Z", "2023-08-01"):
        assert count(week, startTime=time) == 380 + 293 + 241 + 13
        assert week.ask(f'{{ events(first: 0, filter: {{startTime: "{time}"}}) {{ totalCount }} }}') == {
            "events": {"totalCount": 927}
        }


@pytest.mark.parametrize("compiled", [True, False])
def test_a_date_as_the_end_of_a_time_range_includes_that_whole_day(
    tmp_path: Path, week_file: Path, usgs: UsgsServer, compiled: bool
) -> None:
    shutil.copy(week_file, tmp_path / "week.db")
    day = '{startTime: "2023-08-02", endTime: "2023-08-02"}'
    with running(settings(tmp_path / "week.db", usgs, compiled=compiled), clock=HeldClock()) as week:
        assert count(week, startTime="2023-08-02T00:00:00Z", endTime="2023-08-02T23:59:59.999Z") == 293
        assert count(week, startTime="2023-08-02", endTime="2023-08-02") == 293
        assert week.ask(f"{{ events(first: 0, filter: {day}) {{ totalCount }} }}") == {"events": {"totalCount": 293}}
        assert count(week, startTime="2023-08-02T00:00:00Z", endTime="2023-08-02T00:00:00Z") == 0


def test_a_day_is_whole_in_every_other_time_range_too(service: Service, usgs: UsgsServer) -> None:
    today = '{startTime: "2023-11-14", endTime: "2023-11-14"}'
    service.ask(INGEST, {"event": EVENT | {"eventTsMs": NOON}})

    assert service.ask(f"{{ catalogueStatistics(filter: {today}) {{ count }} }}")["catalogueStatistics"]["count"] == 1
    logs = service.ask(f"{{ requestLogs(filter: {today}) {{ nodes {{ route }} }} }}")["requestLogs"]["nodes"]
    assert {"route": "/ingest/events"} in logs
    service.ask(f"mutation {{ ingestRecent(input: {today}) {{ fetched }} }}")
    (request,) = usgs.requests
    assert "starttime=2023-11-14T00%3A00%3A00.000Z&endtime=2023-11-14T23%3A59%3A59.999Z" in request.query


def test_every_end_of_a_time_range_says_that_it_includes_a_whole_day() -> None:
    inputs = [each for each in schema_of(DOMAINS).graphql.type_map.values() if isinstance(each, GraphQLInputObjectType)]
    ends = {
        f"{type_.name}.{name}": field.description or ""
        for type_ in inputs
        for name, field in type_.fields.items()
        if str(field.type).startswith("DateTime") and name == "endTime"
    }

    assert {"EventFilter.endTime", "IngestRecentInput.endTime"} < set(ends)
    assert [name for name, description in ends.items() if "whole day" not in description] == []


def test_a_time_within_a_millisecond_is_rounded_into_the_bounds(week: Service) -> None:
    for start, end, found in (
        ("579", "579", 1),
        ("578001", "579", 1),
        ("579", "579999", 1),
        ("578", "578999", 0),
        ("579001", "580", 0),
        ("580", "581", 0),
    ):
        at = "2023-08-03T01:25:21"
        assert count(week, startTime=f"{at}.{start}Z", endTime=f"{at}.{end}Z") == found, (start, end)


def test_bounds_that_no_event_lies_between_find_none(week: Service) -> None:
    assert count(week, startTime="0001-01-01T00:00:00Z", endTime="9999-12-31T23:59:59.999999Z") == 2124
    assert count(week, startTime="0001-01-01", endTime="0001-01-01") == 0
    assert count(week, startTime="9999-12-31T23:59:59.999999Z") == 0
    bounds = {"startTime": "2023-08-03T01:25:21.5791Z", "endTime": "2023-08-03T01:25:21.5799Z"}
    assert week.codes(COUNT, {"filter": bounds}) == ["BAD_USER_INPUT"]  # no millisecond lies between
    assert week.codes(COUNT, {"filter": {"startTime": "2023-08-02", "endTime": "2023-08-01"}}) == ["BAD_USER_INPUT"]


def test_any_other_time_is_refused_with_the_accepted_ones(week: Service) -> None:
    forms = "DateTime must be a time of RFC 3339 with an offset, such as 2023-08-03T02:52:13.180Z, or a date, such as"
    times: list[Any] = ["", "now", "2023-08-01T24:00:01Z", "0001-01-01T00:00:00+01:00", "1691020800000", ONE, {}]
    for time in times:
        (by_variable,) = week.answer(COUNT, {"filter": {"startTime": time}})["errors"]
        assert by_variable["extensions"] == {"code": "BAD_USER_INPUT"}
        assert forms in by_variable["message"]
        literal = json.dumps(time)
        (by_literal,) = week.answer(f"{{ events(filter: {{endTime: {literal}}}) {{ totalCount }} }}")["errors"]
        assert by_literal["extensions"] == {"code": "GRAPHQL_VALIDATION_FAILED"}
        assert forms in by_literal["message"]


def test_any_other_day_is_refused(week: Service) -> None:
    query = "query($day: Date) { popularFilters(day: $day) { totalRequests } }"
    days: list[Any] = ["", "today", "2023-02-29", "2023-08-03T00:00:00Z", 20230803, "20230803"]
    for day in days:
        (error,) = week.answer(query, {"day": day})["errors"]
        assert error["extensions"]["code"] == "BAD_USER_INPUT"
        assert "Date must be a date, such as 2023-08-03." in error["message"]


def test_a_number_of_milliseconds_is_whole_and_exact_in_json(service: Service) -> None:
    for number, code in enumerate([0, -1, 1691025921579, 1691025921579.0, -62135596800000]):
        stored = service.ask(INGEST, {"event": EVENT | {"eventId": f"us{number}", "eventTsMs": code}})
        assert stored["ingestEvents"] == {"upserted": 1, "rejections": []}
    for refused in (2**53, -(2**53), 2**63, 0.5, 1e300, "0", True, [0]):
        assert service.codes(INGEST, {"event": EVENT | {"eventTsMs": refused}}) == ["BAD_USER_INPUT"]
    for beyond in (2**53 - 1, -(2**53) + 1):  # a number like any other, though no time of the calendar
        rejected = service.ask(INGEST, {"event": EVENT | {"eventTsMs": beyond}})
        assert rejected["ingestEvents"] == {"upserted": 0, "rejections": [{"code": "TIME_OUT_OF_RANGE"}]}
    rejected = service.ask(INGEST, {"event": EVENT | {"eventTsMs": None}})  # which is as if it were not given
    assert rejected["ingestEvents"] == {"upserted": 0, "rejections": [{"code": "TIME_INVALID"}]}


def test_times_are_in_utc_with_milliseconds(service: Service) -> None:
    times = {-62135596800000: "0001-01-01T00:00:00.000Z", -1: "1969-12-31T23:59:59.999Z", 0: "1970-01-01T00:00:00.000Z"}
    for time_ms, text in times.items():
        service.ask(INGEST, {"event": EVENT | {"eventId": f"t{time_ms}", "eventTsMs": time_ms}})
        query = f'{{ event(eventId: "t{time_ms}") {{ eventTsMs time }} }}'
        assert service.ask(query) == {"event": {"eventTsMs": time_ms, "time": text}}
