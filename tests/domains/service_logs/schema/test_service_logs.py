"""Service logs over HTTP: what `writeServiceLogs` takes is what the queries answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graph.api.relay import global_id
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import Service, running, settings
from tests.store.samples import HeldClock

TRACE, SPAN = "5b8efff7" * 4, "eee19b7e" * 2
UUID = "0198f3c2-0000-7000-8000-00000000000a"
WRITE = """mutation ($logs: [ServiceLogInput!]!) {
  writeServiceLogs(input: {logs: $logs}) { accepted skipped rejected logs { id } rejections { index code message } }
}"""
LOGS = """query ($filter: ServiceLogFilter, $first: Int, $after: String, $last: Int, $before: String) {
  serviceLogs(filter: $filter, orderBy: TIME_ASC, first: $first, after: $after, last: $last, before: $before) {
    nodes {
      id logId service type level severityNumber message loggedAt timeUnixNano metadata
      traceId spanId eventName expiresAt
    }
    edges { cursor }
    pageInfo { hasNextPage hasPreviousPage }
  }
}"""


def write(service: Service, *logs: dict[str, Any]) -> dict[str, Any]:
    payload: dict[str, Any] = service.ask(WRITE, {"logs": logs})["writeServiceLogs"]
    return payload


def logs(service: Service, **variables: Any) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = service.ask(LOGS, variables)["serviceLogs"]["nodes"]
    return nodes


def log(message: str = "paid", **others: Any) -> dict[str, Any]:
    return {"service": "checkout", "message": message, **others}


@pytest.fixture
def for_ever(tmp_path: Path, usgs: UsgsServer, clock: HeldClock) -> Iterator[Service]:
    """A service that keeps audit logs for ever."""
    with running(settings(tmp_path / "logs.db", usgs, audit_log_days=0), clock=clock) as service:
        yield service


def test_a_severity_is_served_as_its_sender_wrote_it_too(service: Service) -> None:
    record = {"timeUnixNano": "1699956000000000000", "severityText": "SEVERE", "body": {"stringValue": "no memory"}}
    body = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    assert service.http.post("/v1/logs", json=body).json() == {}

    (node,) = service.ask("{ serviceLogs { nodes { level severityNumber severityText } } }")["serviceLogs"]["nodes"]
    assert node == {"level": "ERROR", "severityNumber": 17, "severityText": "SEVERE"}


def test_a_log_comes_back_with_all_that_was_written(service: Service) -> None:
    metadata = {"user": "anna", "ms": 12.5, "tags": ["a", None, True], "nested": {"ü": {}}, "big": 2**53 - 1}
    written = log(
        *("Zahlung für „Käse“ \U0001f9c0\n",),
        type="AUDIT",
        level="WARN",
        loggedAt="2023-11-14T10:00:00.123456Z",
        logId=UUID.upper(),
        metadata=metadata,
        traceId=TRACE.upper(),
        spanId=SPAN,
    )
    payload = write(service, written)
    (node,) = logs(service)
    counts = {"accepted": 1, "skipped": 0, "rejected": 0, "rejections": []}
    assert payload == {**counts, "logs": [{"id": node.pop("id")}]}
    assert node == {
        "logId": UUID,
        "service": "checkout",
        "type": "AUDIT",
        "level": "WARN",
        "severityNumber": 13,
        "message": written["message"],
        "loggedAt": "2023-11-14T10:00:00.123Z",
        "timeUnixNano": "1699956000123456000",
        "metadata": metadata,
        "traceId": TRACE,
        "spanId": SPAN,
        "eventName": None,
        "expiresAt": "2024-02-12T10:00:00.000Z",
    }

    write(service, log())  # what it does not say has a default
    node = logs(service)[1]
    assert (node["type"], node["level"], node["severityNumber"]) == ("APPLICATION", "INFO", 9)
    assert (node["loggedAt"], node["timeUnixNano"]) == ("2023-11-14T22:13:20.000Z", "1700000000000000000")
    assert [node[name] for name in ("metadata", "traceId", "spanId", "eventName")] == [None] * 4


def test_the_payload_names_each_rejected_log_and_keeps_its_neighbours(service: Service) -> None:
    """`tests.domains.service_logs.test_checking` has the other rules."""
    times = ("1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z")
    batch = [
        log("0"),
        log("1", loggedAt=times[0]),
        log("2"),
        log("3", metadata=[1]),
        log("4", loggedAt=times[1]),
        log("0"),
    ]
    payload = write(service, *batch)

    assert (payload["accepted"], payload["skipped"], payload["rejected"]) == (3, 0, 3)
    assert [(each["index"], each["code"]) for each in payload["rejections"]] == [
        (1, "TIME_INVALID"),
        (3, "METADATA_INVALID"),
        (4, "TIME_INVALID"),
    ]
    assert [node["message"] for node in logs(service)] == ["0", "2", "0"]
    assert write(service, *batch)["skipped"] == 3


def test_logs_of_1970_are_kept_where_their_type_never_expires(for_ever: Service) -> None:
    times = ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000001Z", "1999-12-31T23:59:59.999999Z")
    payload = write(for_ever, *[log(time, type="AUDIT", loggedAt=time) for time in times])
    assert payload["accepted"] == 3

    found = logs(for_ever, filter={"types": ["AUDIT"], "startTime": times[0]})
    assert [(node["message"], node["timeUnixNano"], node["expiresAt"]) for node in found] == [
        (times[0], "0", None),
        (times[1], "1000", None),
        (times[2], "946684799999999000", None),
    ]
    assert logs(for_ever, filter={"startTime": "0001-01-01T00:00:00Z", "endTime": times[0]}) == found[:2]
    assert logs(for_ever, filter={"text": "1970", "endTime": "9999-12-31T23:59:59Z"}) == found[:2]


def test_a_thousand_logs_are_taken_and_one_more_is_refused(service: Service) -> None:
    many = [log(f"{n}") for n in range(1001)]
    assert service.codes(WRITE, {"logs": many}) == ["BAD_USER_INPUT"]
    assert logs(service) == []
    first = write(service, *many[:1000])
    assert (first["accepted"], first["logs"]) == (1000, [{"id": node["id"]} for node in logs(service, first=100)])
    again = write(service, *many[:3])
    assert (again["accepted"], again["skipped"], again["logs"]) == (0, 3, [])


def test_a_log_is_found_by_its_global_id_and_garbage_finds_none(service: Service) -> None:
    write(service, log("first"), log("second"))
    node = logs(service)[1]
    find = "query ($id: ID!) { node(id: $id) { id ... on ServiceLog { message } } }"
    slot = 1_700_000_000_000_001

    for node_id in (node["id"], global_id("ServiceLog", f"{slot}@checkout")):
        assert service.ask(find, {"id": node_id}) == {"node": {"id": node["id"], "message": "second"}}
    for key in (
        *(f"{slot + 5}@checkout", f"{slot}@cart", f"0{slot}@checkout", f"-{slot}@checkout", f"{slot}", "@", "", "1@"),
        *(f"{slot}@{'x' * 100}", f"{'9' * 17}@checkout", f"{'9' * 18}@checkout", "²@checkout", "1.5@checkout"),
    ):
        body = service.answer(find, {"id": global_id("ServiceLog", key)})
        assert body["data"] == {"node": None}, key
        assert [error["extensions"]["code"] for error in body.get("errors", [])] in ([], ["BAD_USER_INPUT"]), key


def test_a_filter_beyond_its_bounds_is_refused_and_one_by_what_nothing_has_selects_nothing(service: Service) -> None:
    for refused in (
        *({"minSeverity": number} for number in (0, 25)),
        *({"text": text} for text in ("", "x" * 257)),
        *({"traceId": ""}, {"services": ["x"] * 101}, {"metadata": [{"key": "x", "value": "y"}] * 101}),
        {"startTime": "2023-11-14T00:00:00Z", "endTime": "2023-11-13T23:59:59Z"},
    ):
        assert service.codes(LOGS, {"filter": refused}) == ["BAD_USER_INPUT"], refused

    write(service, log("1"), log("2"))
    for nothing in (
        *({"services": names} for names in ([], ["cart"], [""], ["x" * 100], ["checkout#1"], ["\x00"])),
        *({"types": []}, {"levels": []}, {"services": ["checkout"], "types": []}, {"traceId": "x"}),
        *({"metadata": [{"key": "", "value": ""}]}, {"minSeverity": 24}, {"text": "\x00"}),
    ):
        assert logs(service, filter=nothing) == [], nothing
    for twice in ({"types": ["APPLICATION"] * 2}, {"services": ["checkout"] * 2}, {"levels": ["INFO"] * 2}):
        assert [node["message"] for node in logs(service, filter=twice)] == ["1", "2"], twice


def test_a_time_range_includes_its_ends_a_day_and_a_millisecond_whole(service: Service) -> None:
    times = ("2023-11-13T23:59:59.999999Z", "2023-11-14T00:00:00Z", "2023-11-14T10:00:00.123999Z")
    write(service, *[log(time[11:], loggedAt=time) for time in times])

    def between(start: str | None, end: str | None) -> list[str]:
        found = logs(service, filter={"startTime": start, "endTime": end})
        return [node["message"] for node in found]

    first, second, third = (time[11:] for time in times)
    assert between("2023-11-14", None) == [second, third]
    assert between(None, "2023-11-13") == [first]
    assert between("2023-11-13", "2023-11-14") == [first, second, third]
    assert between("2023-11-14T10:00:00.123Z", "2023-11-14T10:00:00.123Z") == [third]
    assert between(None, "2023-11-14T10:00:00.123998Z") == [first, second]
    assert between("2023-11-13T23:59:59.999999Z", "2023-11-14T00:00:00.000000Z") == [first, second]


def test_volumes_count_by_level_type_and_service(service: Service) -> None:
    write(
        service,
        *[log(f"{n}", loggedAt=f"2023-11-14T10:0{n}:59Z", level="ERROR" if n else "DEBUG") for n in range(3)],
        log("x", service="cart", type="AUDIT", loggedAt="2023-11-14T11:00:00Z"),
    )
    volume = """query ($interval: ServiceLogInterval!, $by: ServiceLogVolumeBy!, $services: [String!], $end: DateTime) {
      serviceLogVolume(interval: $interval, by: $by, startTime: "2023-11-14T10:01:30Z", endTime: $end,
                       services: $services) {
        startsAt count level type service
      }
    }"""

    def counted(interval: str, by: str, **others: Any) -> list[tuple[str, str, int]]:
        found = service.ask(volume, {"interval": interval, "by": by, **others})["serviceLogVolume"]
        name = by.lower()
        assert {key for each in found for key, value in each.items() if value is not None} <= {
            "startsAt",
            "count",
            name,
        }
        return [(each["startsAt"][5:16], each[name], each["count"]) for each in found]

    assert counted("HOUR", "LEVEL", services=["checkout", "checkout"]) == [
        ("11-14T10:00", "DEBUG", 1),
        ("11-14T10:00", "ERROR", 2),
    ]
    assert counted("HOUR", "TYPE") == [("11-14T10:00", "APPLICATION", 3), ("11-14T11:00", "AUDIT", 1)]
    assert counted("DAY", "SERVICE") == [("11-14T00:00", "cart", 1), ("11-14T00:00", "checkout", 3)]
    assert counted("DAY", "SERVICE", services=["", "none", "x" * 100]) == []
    assert counted("HOUR", "TYPE", end="2023-11-14T10:59:59Z") == [("11-14T10:00", "APPLICATION", 3)]
    assert service.codes(volume, {"interval": "MINUTE", "by": "TYPE", "end": "2023-11-22"}) == ["BAD_USER_INPUT"]
    assert service.codes(volume, {"interval": "DAY", "by": "TYPE", "end": "2023-11-13"}) == ["BAD_USER_INPUT"]


def test_a_volume_is_by_level_of_the_last_hundred_periods_unless_asked_otherwise(service: Service) -> None:
    write(service, *[log(time, loggedAt=f"2023-11-14T{time}Z") for time in ("08:19:59", "08:20:00", "09:59:59")])

    def starts(arguments: str) -> list[tuple[str, str]]:
        found = service.ask(f"{{ serviceLogVolume({arguments}) {{ startsAt level }} }}")["serviceLogVolume"]
        return [(each["startsAt"][11:16], each["level"]) for each in found]

    assert starts('interval: MINUTE, endTime: "2023-11-14T09:59:59Z"') == [("08:20", "INFO"), ("09:59", "INFO")]
    assert starts("interval: DAY") == [("00:00", "INFO")]
    assert starts('interval: DAY, endTime: "1970-01-01"') == starts('interval: DAY, endTime: "0156-09-29"') == []
    assert starts('interval: DAY, endTime: "9999-12-31"') == []


def test_the_services_that_have_written_are_listed_by_name(service: Service, clock: HeldClock) -> None:
    write(service, log(), log(service="cart"))
    clock.now += 1000
    write(service, log("more"), log(service="api"))

    assert service.ask("{ loggingServices { name firstLogAt } }")["loggingServices"] == [
        {"name": "api", "firstLogAt": "2023-11-14T22:13:21.000Z"},
        {"name": "cart", "firstLogAt": "2023-11-14T22:13:20.000Z"},
        {"name": "checkout", "firstLogAt": "2023-11-14T22:13:20.000Z"},
    ]
