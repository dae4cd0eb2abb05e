"""Requests for exports: answers, refusals, access, limits, logs.

Those of revised and deleted events have the versions that the graph lists with the same arguments.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import orjson
import pytest

from graph.core.times import rfc3339_of_millis
from graph.domains.earthquakes.scopes import EVENTS_READ, EVENTS_WRITE
from tests.bearers import bearer
from tests.domains.earthquakes.schema.test_revisions import store
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.entities import ENTITIES
from tests.domains.request_logs.test_logged import logged
from tests.processes import quakegraph
from tests.service import Service, running, settings
from tests.settings import Settings
from tests.store.engines import make_tables
from tests.store.samples import NOON, HeldClock

NDJSON = "/export/events.ndjson"
MEDIA_TYPES = {
    "ndjson": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8; header=present",
    "geojson": "application/geo+json",
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


def assert_headers(service: Service, name: str, media_type: str) -> None:
    """The answers to GET and HEAD say what they are."""
    for method in ("GET", "HEAD"):
        answer = service.http.request(method, f"/export/events.{name}", params={"minMagnitude": 5})
        assert answer.status_code == 200
        assert answer.headers["Content-Type"] == media_type
        assert answer.headers["Content-Disposition"] == f'attachment; filename="events.{name}"'
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-As-Of"] == "2023-11-14T22:13:20.000Z"
        assert bool(answer.content) == (method == "GET")


@pytest.mark.parametrize("name", MEDIA_TYPES)
def test_an_answer_says_what_it_is(week: Service, name: str) -> None:
    assert_headers(week, name, MEDIA_TYPES[name])


def test_a_wrong_request_is_refused_with_a_code(week: Service) -> None:
    for path, refusal in REFUSALS.items():
        answer = week.http.get(path)

        (error,) = answer.json()["errors"]
        assert (answer.status_code, error["extensions"]["code"]) == refusal, path
        assert len(error["message"]) <= 1100


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_without_pyarrow_its_formats_are_refused_with_a_code(
    week: Service, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "graph.domains.export.arrow", raising=False)
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


def test_a_caller_needs_the_scope_of_events_and_a_refusal_is_logged(tmp_path: Path, usgs: UsgsServer) -> None:
    file = tmp_path / "refused.db"
    with running(settings(file, usgs, public_read=False), clock=HeldClock()) as service:

        def refusal(path: str, headers: dict[str, str]) -> tuple[int, str]:
            answer = service.http.get(path, headers=headers)
            return answer.status_code, answer.json()["errors"][0]["extensions"]["code"]

        assert refusal(NDJSON, {"Authorization": "Bearer swordfish"}) == (401, "UNAUTHENTICATED")
        assert refusal("/export/events.csv", bearer(EVENTS_WRITE)) == (403, "FORBIDDEN")
        post = service.http.post(NDJSON)
        assert (post.status_code, set(post.headers["Allow"].split(", "))) == (405, {"GET", "HEAD"})
        assert service.http.get("/fdsnws/event/1/query", headers=bearer(EVENTS_WRITE)).status_code == 403
        assert "quakegraph_exports_total{" not in service.http.get("/metrics").text, "none was begun"
        assert service.http.get(NDJSON, headers=bearer(EVENTS_READ)).status_code == 200

    assert [(log["route"], log["status"], log.get("error")) for log in logged(file)] == [
        ("/export/events", 401, "UNAUTHENTICATED"),
        ("/export/events", 403, "FORBIDDEN"),
        ("/export/events", 405, "BAD_REQUEST"),
        ("/fdsnws/event/1/query", 403, "FORBIDDEN"),
        ("/export/events", 200, None),
    ]


def test_an_export_is_logged_and_charged_to_the_caller(tmp_path: Path, week_file: Path, usgs: UsgsServer) -> None:
    (tmp_path / "week.db").write_bytes(week_file.read_bytes())
    asked: dict[str, str | float] = {"minMagnitude": 4.5, "startTime": "2023-07-28T00:00:00Z"}
    with running(settings(tmp_path / "week.db", usgs, rate_limit=1000), clock=HeldClock()) as service:
        lines = service.http.get("/export/events.csv", params=asked).content.count(b"\n")
        service.http.get("/export/events.csv", params={"after": "unknown"})
        service.http.head("/export/events.csv")
        metrics = service.http.get("/metrics").text
        assert service.http.get(NDJSON).content.count(b"\n") == 2125  # at 2 points for 10 events
        query = "{ events(first: 600) { nodes { eventId } } }"  # some 600 points
        assert service.http.post("/graphql", json={"query": query}).status_code == 429

    logs = [log for log in logged(tmp_path / "week.db") if log["route"] == "/export/events"]
    names = ("status", "error", "resultCount", "minmagnitude")
    assert sorted((tuple(log.get(name) for name in names) for log in logs), key=orjson.dumps) == [
        (200, None, 0, None),
        (200, None, 2124, None),
        (200, None, lines - 1, 4.5),
        (400, "INVALID_CURSOR", None, None),
    ]
    assert 'quakegraph_exports_total{code="OK",format="csv"} 2.0' in metrics
    assert f'quakegraph_export_events_total{{format="csv"}} {lines - 1}.0' in metrics


URL = """query($filter: EventFilter, $orderBy: EventOrder!) {
  events(first: 1000, filter: $filter, orderBy: $orderBy) { exportUrl(format: NDJSON) nodes { eventId } }
}"""
FILTERS: list[dict[str, Any] | None] = [
    None,
    {"minMagnitude": 2.5, "startTime": "2023-07-28T00:00:00.0005+02:00", "endTime": "2023-08-01T00:00:00Z"},
    {"polygon": [{"lat": 58.9, "lon": -152.5}, {"lat": 61.4, "lon": -151.25}, {"lat": 60.9, "lon": -147.8}]},
    {"networks": ["ci", "AK"], "maxGap": 90.5, "box": {"minLat": 30, "maxLat": 70, "minLon": 170, "maxLon": -110}},
    {"place": "Pāhala, Hawaii & more"},
    {"place": "pahala", "eventIds": []},
    {
        "or": [{"minMagnitude": 4.5}, {"circle": {"lat": 61, "lon": -150, "radiusKm": 300}}],
        "not": {"statuses": ["REVIEWED"]},
    },
]
"""Those with all fields are in the tests of filters as JSON."""


def test_the_address_of_an_export_has_the_arguments_of_its_field(week: Service) -> None:
    for number, filter_ in enumerate(FILTERS):
        found = week.ask(URL, {"filter": filter_, "orderBy": ("TIME_DESC", "TIME_ASC")[number % 2]})["events"]
        lines = week.http.get(found["exportUrl"]).content.splitlines()

        exported = [orjson.loads(line)["eventId"] for line in lines[:-1]]
        assert exported[:1000] == [node["eventId"] for node in found["nodes"]], filter_
        assert len(exported) == len(found["nodes"]) or len(found["nodes"]) == 1000


def test_a_shorter_path_leads_to_the_export_with_its_parameters(week: Service) -> None:
    for query in ("", "?minMagnitude=5&types=earthquake&comments=0", "?place=P%C4%81hala%26%3D%0D%0Ax&a"):
        for method, name in (
            ("GET", "ndjson"),
            ("HEAD", "csv"),
            ("GET", "geojson"),
            ("GET", "parquet"),
            ("GET", "arrow"),
        ):
            answer = week.http.request(method, f"/events.{name}{query}")

            assert (answer.status_code, answer.content) == (308, b"")
            assert answer.headers["Location"] == f"export/events.{name}{query}"  # also below a prefix of a proxy
            assert answer.next_request is not None
            assert answer.next_request.url.raw_path.decode() == f"/export/events.{name}{query}"
    assert week.http.get("/events.csv?minMagnitude=5", follow_redirects=True).text.count("\n") > 1
    assert week.http.get("/events.xls").status_code == 404
    assert week.http.post("/events.csv").status_code == 405


COLUMNS = "eventId time mag place status updatedAt ingestedAt revision recordedAt publishedAt preferredId"
LISTED = f"""query($deleted: DeletedEvents!, $orderBy: EventOrder!, $time: DateTime) {{
  listed: LIST, first: 1000, deleted: $deleted, orderBy: $orderBy, filter: {{minMagnitude: 2}}) {{
    exportUrl(format: NDJSON)
    nodes {{ {COLUMNS} }}
  }}
}}"""
PRESENT, PAST = "events(updatedSince: $time", "eventVersions(asOf: {recorded: $time}"
DELETED = ("EXCLUDE", "INCLUDE", "ONLY")
LATER, STILL_LATER = "2023-11-14T22:13:21Z", "2023-11-14T22:13:22Z"  # a second and two after the first ingest
TIMES = (None, LATER, "2023-11-14T22:13:21.001Z", STILL_LATER)


def given(number: int, **others: Any) -> dict[str, Any]:
    """An event. Each three have the same time."""
    return {"eventId": f"us{number}", "eventTsMs": NOON - number // 3, "mag": 3, "lat": 1, "lon": 2} | others


@pytest.fixture
def revised(engine: str, tmp_path: Path, usgs: UsgsServer, request: pytest.FixtureRequest) -> Iterator[Service]:
    """A service with events of which some were revised a second later, and some were deleted after another one."""
    clock = HeldClock()
    if engine == "sqlite":
        place = settings(tmp_path / "revised.db", usgs)
    else:
        request.getfixturevalue("dynamodb_endpoint")
        place = Settings(store=f"dynamodb://{make_tables(ENTITIES)}", usgs_url=usgs.url)
    with running(place, clock=clock) as service:
        for events in (
            [given(number) for number in range(20)],
            [given(number, mag=number - 1, updatedAt="2023-08-03T12:00:00.007Z") for number in (1, 5, 6, 12)],
            [given(number, status="deleted", updatedAt="2023-08-03T12:00:00.009Z") for number in (2, 6, 7, 18)],
        ):
            assert sum(store(service, *events).values()) == len(events), "none is rejected"
            clock.now += 1000
        yield service


def exported(service: Service, **parameters: str | None) -> list[dict[str, Any]]:
    """The columns of an export that the graph lists too."""
    some = {name: value for name, value in parameters.items() if value is not None}
    return [of_columns(orjson.loads(line)) for line in service.http.get(NDJSON, params=some).content.splitlines()[:-1]]


def of_columns(record: dict[str, Any]) -> dict[str, Any]:
    times = {name: record[name] and rfc3339_of_millis(record[name]) for name in ("recordedAt", "publishedAt")}
    updated = record["updated"] and rfc3339_of_millis(record["updated"])
    return {name: ({**record, **times, "updatedAt": updated})[name] for name in COLUMNS.split()}


def test_deleted_and_updated_since_have_the_meaning_that_they_have_in_the_graph(revised: Service, engine: str) -> None:
    found: set[int] = set()
    every = [*product(*map(enumerate, (DELETED, TIMES, TIMES)))]
    for (at, deleted), (since_at, since), (as_of_at, as_of) in every[:: 1 if engine == "sqlite" else 3]:
        order = ("TIME_ASC", "TIME_DESC")[(at + since_at + as_of_at) % 2]  # each with each value
        rows = exported(revised, deleted=deleted, updatedSince=since, asOf=as_of, orderBy=order, minMagnitude="2")
        found.add(len(rows))
        if since and as_of:
            continue  # which the graph does not list
        asked = {"deleted": deleted, "time": as_of or since, "orderBy": order}
        listed = revised.ask(LISTED.replace("LIST", PAST if as_of else PRESENT), asked)["listed"]

        assert sorted(rows, key=orjson.dumps) == sorted(listed["nodes"], key=orjson.dumps)
        assert [row["time"] for row in rows] == [node["time"] for node in listed["nodes"]]
        linked = revised.http.get(listed["exportUrl"]).content.splitlines()[:-1]
        assert [of_columns(orjson.loads(line)) for line in linked] == rows

    assert found >= {0, 4, 15, 19}
    whole = exported(revised, deleted="INCLUDE")
    assert Counter(row["revision"] for row in whole) == {1: 13, 2: 6, 3: 1}
    for at, row in enumerate(whole):
        rest = exported(revised, deleted="INCLUDE", after=row["eventId"])
        assert rest == whole[at + 1 :], "an export resumes behind a deleted event, too"


@pytest.mark.parametrize("engine", ["sqlite"])
def test_the_address_of_a_list_is_of_its_whole_days_and_missing_where_no_export_is_like_it(revised: Service) -> None:
    whole_day = 'events(filter: {endTime: "2023-11-14"}) { exportUrl(format: NDJSON) totalCount }'
    listed = revised.ask(f"{{ {whole_day} }}")["events"]
    *rows, _ = revised.http.get(listed["exportUrl"]).content.splitlines()
    assert listed["totalCount"] == len(rows) == 16

    past = 'asOf: {published: "2023-11-14T22:13:21Z"}'
    for listed in ("eventVersions(asOf: {first: true})", f"eventVersions({past})", "events(orderBy: MAGNITUDE_ASC)"):
        assert revised.ask(f"{{ listed: {listed} {{ exportUrl(format: CSV) }} }}") == {"listed": {"exportUrl": None}}


@pytest.mark.parametrize("engine", ["sqlite"])
def test_the_command_takes_the_same_parameters(
    revised: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    expected = exported(revised, deleted="INCLUDE", updatedSince=LATER)
    options = ("--deleted", "INCLUDE", "--updated-since", LATER, "--store", "sqlite:///revised.db")

    done = quakegraph("export", "found.ndjson", *options)

    assert done.exit_code == 0, done.output
    lines = Path("found.ndjson").read_bytes().splitlines()[:-1]
    assert [of_columns(orjson.loads(line)) for line in lines] == expected
    assert len(expected) == 7
