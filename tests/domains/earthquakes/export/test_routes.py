"""Requests for exports: answers, refusals, access, limits, logs."""

import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from graph.domains.earthquakes.scopes import EVENTS_READ, EVENTS_WRITE
from tests.bearers import bearer
from tests.domains.earthquakes.export.raw_client import asking
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.request_logs.test_logged import logged
from tests.service import Service, running, settings
from tests.store.samples import NOON, HeldClock

NDJSON = "/export/events.ndjson"
MEDIA_TYPES = {
    "ndjson": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8; header=present",
    "geojson": "application/geo+json",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.stream",
}

REFUSALS: dict[str, tuple[int, str]] = {
    "/export/events.xls": (404, "BAD_REQUEST"),
    "/export/events": (404, "BAD_REQUEST"),
    f"{NDJSON}?minMag=5": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?minMagnitude=five": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?minMagnitude=5&minMagnitude=6": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?minMagnitude=5&maxMagnitude=4": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?minMagnitude=NaN": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?orderBy=MAGNITUDE_DESC": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?filter=5": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?filter={{": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?filter={{}}&minMagnitude=5": (400, "BAD_USER_INPUT"),
    f'{NDJSON}?filter={{"minMag":5}}': (400, "BAD_USER_INPUT"),
    f"{NDJSON}?box=5": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?startTime=yesterday": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?orderBy=SIZE": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?orderBy=": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?after=us-unknown": (400, "INVALID_CURSOR"),
    f"{NDJSON}?after=": (400, "INVALID_CURSOR"),
    f"{NDJSON}?asOf=2100-01-01T00:00:00Z": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?asOf=now": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?deleted=MAYBE": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?updatedSince=lately": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?comments=yes": (400, "BAD_USER_INPUT"),
    f"{NDJSON}?{'x' * 5000}=1": (400, "BAD_USER_INPUT"),
}


@pytest.mark.parametrize("name", MEDIA_TYPES)
def test_an_answer_says_what_it_is(week: Service, name: str) -> None:
    answer = week.http.get(f"/export/events.{name}", params={"minMagnitude": 5})
    head = week.http.head(f"/export/events.{name}", params={"minMagnitude": 5})

    for each in (answer, head):
        assert each.status_code == 200
        assert each.headers["Content-Type"] == MEDIA_TYPES[name]
        assert each.headers["Content-Disposition"] == f'attachment; filename="events.{name}"'
        assert each.headers["Cache-Control"] == "no-store"
        assert each.headers["X-As-Of"] == "2023-11-14T22:13:20.000Z"
    assert answer.content
    assert not head.content


@pytest.mark.parametrize("path", REFUSALS)
def test_a_wrong_request_is_refused_with_a_code(week: Service, path: str) -> None:
    answer = week.http.get(path)

    codes = [error["extensions"]["code"] for error in answer.json()["errors"]]
    assert (answer.status_code, codes) == (REFUSALS[path][0], [REFUSALS[path][1]])
    assert all(len(error["message"]) <= 1100 for error in answer.json()["errors"])


def test_only_get_and_head_are_answered(week: Service) -> None:
    answer = week.http.post(NDJSON)

    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD"}


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_without_pyarrow_its_formats_are_refused_with_a_code(
    week: Service, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "graph.domains.earthquakes.export.arrow", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    for method in ("GET", "HEAD"):
        assert week.http.request(method, f"/export/events.{name}").status_code == 501
    assert week.http.get(f"/export/events.{name}").json()["errors"] == [
        {
            "message": f"This service cannot write {name}: ask for ndjson, csv or geojson, "
            "or install `quakegraph[arrow]` for it.",
            "extensions": {"code": "FORMAT_UNAVAILABLE"},
        }
    ]


def test_a_caller_needs_the_scope_of_events(tmp_path: Path, usgs: UsgsServer) -> None:
    with running(settings(tmp_path / "empty.db", usgs, public_read=False)) as service:

        def refusal(headers: dict[str, str]) -> tuple[int, str]:
            answer = service.http.get(NDJSON, headers=headers)
            return answer.status_code, answer.json()["errors"][0]["extensions"]["code"]

        assert refusal({"Authorization": ""}) == (401, "UNAUTHENTICATED")
        assert refusal(bearer(EVENTS_WRITE)) == (403, "FORBIDDEN")
        assert service.http.get(NDJSON, headers=bearer(EVENTS_READ)).status_code == 200


def test_events_are_charged_to_the_caller(tmp_path: Path, week_file: Path, usgs: UsgsServer) -> None:
    (tmp_path / "week.db").write_bytes(week_file.read_bytes())
    query = "{ events(first: 600) { nodes { eventId } } }"  # some 600 points
    with running(settings(tmp_path / "week.db", usgs, rate_limit=1000)) as service:
        assert service.http.get(NDJSON).content.count(b"\n") == 2125  # at 2 points for 10 events
        assert service.http.post("/graphql", json={"query": query}).status_code == 429


def test_a_caller_has_a_limited_number_of_exports_at_once(tmp_path: Path, dense_file: Path, usgs: UsgsServer) -> None:
    (tmp_path / "dense.db").write_bytes(dense_file.read_bytes())
    with running(settings(tmp_path / "dense.db", usgs, max_heavy_operations=1)) as service:
        with asking(service, NDJSON) as first:
            first.read(1)
            refused = service.http.get(NDJSON)
            first.rest()
        assert service.http.get(NDJSON).status_code == 200

    assert refused.status_code == 429
    assert [error["extensions"]["code"] for error in refused.json()["errors"]] == ["TOO_MANY_SUBSCRIPTIONS"]


def test_a_refused_export_is_logged_like_a_refused_query(tmp_path: Path, usgs: UsgsServer) -> None:
    file = tmp_path / "refused.db"
    with running(settings(file, usgs, public_read=False), clock=HeldClock()) as service:
        service.http.get(NDJSON, headers={"Authorization": "Bearer swordfish"})
        service.http.get("/export/events.csv", headers=bearer(EVENTS_WRITE))
        service.http.post(NDJSON)
        service.http.get("/fdsnws/event/1/query", headers=bearer(EVENTS_WRITE))
        metrics = service.http.get("/metrics").text

    assert [(log["route"], log["status"], log["error"]) for log in logged(file)] == [
        ("/export/events", 401, "UNAUTHENTICATED"),
        ("/export/events", 403, "FORBIDDEN"),
        ("/export/events", 405, "BAD_REQUEST"),
        ("/fdsnws/event/1/query", 403, "FORBIDDEN"),
    ]
    assert "quakegraph_exports_total{" not in metrics, "none was begun"


def test_an_export_is_logged(tmp_path: Path, week_file: Path, usgs: UsgsServer) -> None:
    (tmp_path / "week.db").write_bytes(week_file.read_bytes())
    asked: dict[str, str | float] = {"minMagnitude": 4.5, "startTime": "2023-07-28T00:00:00Z"}
    with running(settings(tmp_path / "week.db", usgs), clock=HeldClock()) as service:
        lines = service.http.get("/export/events.csv", params=asked).content.count(b"\n")
        service.http.get("/export/events.csv", params={"after": "unknown"})
        service.http.head("/export/events.csv")
        metrics = service.http.get("/metrics").text

    query = """{ requestLogs(filter: {route: "/export/events"}) {
      nodes { status error resultCount minmagnitude }
    } }"""
    with running(settings(tmp_path / "week.db", usgs), clock=HeldClock()) as service:
        logs = service.ask(query)["requestLogs"]["nodes"]

    assert sorted(logs, key=orjson.dumps) == sorted(
        [
            {"status": 200, "error": None, "resultCount": lines - 1, "minmagnitude": 4.5},
            {"status": 400, "error": "INVALID_CURSOR", "resultCount": None, "minmagnitude": None},
            {"status": 200, "error": None, "resultCount": 0, "minmagnitude": None},
        ],
        key=orjson.dumps,
    )
    assert 'quakegraph_exports_total{code="OK",format="csv"} 2.0' in metrics
    assert f'quakegraph_export_events_total{{format="csv"}} {lines - 1}.0' in metrics


URL = """query($filter: EventFilter, $format: ExportFormat!, $orderBy: EventOrder!) {
  events(first: 1000, filter: $filter, orderBy: $orderBy) { exportUrl(format: $format) nodes { eventId } }
}"""
FILTERS: list[dict[str, Any] | None] = [
    None,
    {},
    {"minMagnitude": 2.5, "startTime": "2023-07-28T00:00:00.0005+02:00", "endTime": "2023-08-01T00:00:00Z"},
    {"types": ["quarry blast", "explosion"], "maxDepth": 30},
    {"box": {"minLat": 30, "maxLat": 70, "minLon": 170, "maxLon": -110}, "minMagnitude": 1},
    {"circle": {"lat": 38.8, "lon": -122.8, "radiusKm": 55.5}},
    {"polygon": [{"lat": 58.9, "lon": -152.5}, {"lat": 61.4, "lon": -151.25}, {"lat": 60.9, "lon": -147.8}]},
    {"networks": ["ci", "NC"], "magTypes": ["ml"], "status": ["reviewed"], "maxGap": 90.5},
    {"tsunami": False, "alerts": ["green"], "minFelt": 1, "minSig": 100},
    {"place": "Pāhala, Hawaii & more"},
    {"place": "pahala", "ids": []},
    {"ids": ["nc73919986", "us6000kxp7"]},
]


@pytest.mark.parametrize("filter_", FILTERS)
@pytest.mark.parametrize("order", ["TIME_DESC", "TIME_ASC"])
def test_the_address_of_an_export_has_the_arguments_of_its_field(
    week: Service, filter_: dict[str, Any] | None, order: str
) -> None:
    found = week.ask(URL, {"filter": filter_, "format": "NDJSON", "orderBy": order})["events"]
    lines = week.http.get(found["exportUrl"]).content.splitlines()

    exported = [orjson.loads(line)["eventId"] for line in lines[:-1]]
    assert exported[:1000] == [node["eventId"] for node in found["nodes"]]
    assert len(exported) == len(found["nodes"]) or len(found["nodes"]) == 1000


def test_nearby_events_have_no_address_of_an_export(week: Service) -> None:
    nearby = "{ events(first: 1) { nodes { nearby { exportUrl(format: CSV) } } } }"

    assert week.ask(nearby)["events"]["nodes"] == [{"nearby": {"exportUrl": None}}]


def test_events_by_magnitude_have_no_address_of_an_export(week: Service) -> None:
    by_magnitude = "{ events(first: 1, orderBy: MAGNITUDE_ASC) { exportUrl(format: CSV) } }"

    assert week.ask(by_magnitude)["events"] == {"exportUrl": None}


def test_an_export_as_of_a_moment_leaves_out_what_was_stored_later(own_week: Service, clock: HeldClock) -> None:
    before = own_week.http.get(NDJSON)
    clock.now = NOON + 1
    event = {"eventId": "new", "eventTsMs": NOON - 1000, "mag": 5, "lat": 0, "lon": 0}
    mutation = "mutation($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }"
    assert own_week.ask(mutation, {"events": [event]})["ingestEvents"]["upserted"] == 1

    now = own_week.http.get(NDJSON).content
    then = own_week.http.get(NDJSON, params={"asOf": before.headers["X-As-Of"]}).content

    assert then == before.content
    assert now.count(b"\n") == then.count(b"\n") + 1


@pytest.mark.parametrize(
    "query", ["", "?minMagnitude=5&types=earthquake&comments=0", "?place=P%C4%81hala%26%3D%0D%0Ax&a"]
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("name", MEDIA_TYPES)
def test_a_shorter_path_leads_to_the_export_with_its_parameters(
    week: Service, name: str, method: str, query: str
) -> None:
    answer = week.http.request(method, f"/events.{name}{query}")

    assert (answer.status_code, answer.content) == (308, b"")
    assert answer.headers["Location"] == f"export/events.{name}{query}"  # also below a prefix of a proxy
    assert answer.next_request is not None
    assert answer.next_request.url.raw_path.decode() == f"/export/events.{name}{query}"


def test_the_export_behind_a_shorter_path_is_the_export(week: Service) -> None:
    short, export = (
        week.http.get(f"{path}?minMagnitude=5", follow_redirects=True) for path in ("/events.csv", "/export/events.csv")
    )

    assert short.content == export.content
    assert week.http.get("/events.xls").status_code == 404
    assert week.http.post("/events.csv").status_code == 405
