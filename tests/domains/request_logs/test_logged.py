"""Each root field writes its log: what it records of a request that came over HTTP."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from graph.domains.request_logs.entities import LOG
from graph.store.entity import Item
from graph.store.sqlite import open_sqlite
from tests.contracts.documents import document, fields
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, status
from tests.domains.entities import ENTITIES, documented
from tests.service import running, settings
from tests.store.samples import NOON, HeldClock

TODAY = "LOG#20231114"
IN_A_WEEK = NOON // 1000 + 7 * 86_400
EVENT = '{eventId: "us1", eventTsMs: 1691025921579, mag: 5, lat: 0, lon: 0}'

PATHS = {
    "event": "/earthquakes/event",
    "events": "/earthquakes",
    "catalogueStatistics": "/earthquakes/statistics",
    "ingestStatus": "/ingest/status",
    "eventVersion": "/earthquakes/version",
    "eventVersions": "/earthquakes/versions",
    "popularFilters": "/analytics/popular-filters",
    "ingestRecent": "/ingest/recent",
    "ingestEvents": "/ingest/events",
}
"""Routes that are not the field's name: see `route_of`."""


def route_of(field: str) -> str:
    """The stable path of a root field."""
    return PATHS.get(field) or "/" + re.sub("([A-Z])", r"-\1", field).lower()


ROOTS = [(parent, name) for parent, name, _ in fields() if parent in ("Query", "Mutation")]
KINDS = {route_of(name): "INGEST" if parent == "Mutation" else "QUERY" for parent, name in ROOTS}


def logged(file: Path) -> list[Item]:
    """The items of the logs that a file holds, oldest first, those of a millisecond in the order they were written."""

    async def scanned() -> list[Item]:
        async with open_sqlite(file, ENTITIES, clock=HeldClock()) as database:
            return [documented(LOG, item) async for item in database.scan(LOG)]  # SQLite scans as was written

    return asyncio.run(scanned())


def told_by(items: Sequence[Item]) -> list[Item]:
    """What each of these logs says, but for what is the same of all of a service whose clock stands."""
    said = [dict(item) for item in items]
    for item in said:
        request_id = item.pop("requestId")
        assert UUID(request_id).version == 4
        assert (item.pop("pk"), item.pop("sk")) == (TODAY, f"{NOON}#{request_id}")
        assert (item.pop("entity"), item.pop("timestamp"), item.pop("ttl")) == ("LOG", NOON, IN_A_WEEK)
        assert item.pop("latencyMs") == 0
    return said


def logs_of(tmp_path: Path, usgs: UsgsServer, *queries: str) -> list[Item]:
    """What the logs of a service say that was asked these and has stopped."""
    file = tmp_path / "asked.db"
    with running(settings(file, usgs), clock=HeldClock()) as service:
        for query in queries:
            service.answer(query)
    return told_by(logged(file))


def test_every_root_field_has_a_route_of_its_own(tmp_path: Path, usgs: UsgsServer) -> None:
    items = logs_of(tmp_path, usgs, *[document(parent, name) for parent, name in ROOTS])

    assert {item["route"]: item["logType"] for item in items} == KINDS
    assert len(items) == len(KINDS) == len(ROOTS)  # an ingest is logged at once, and a query within a second
    assert {"error" in item for item in items if item["status"] < 400} == {False}


OF_THE_CATALOGUE: dict[str, dict[str, Any]] = {
    "events": {"pageSize": 50, "resultCount": 50, "hasNextToken": True, "bucketsScanned": 2},
    "events(first: 0)": {"pageSize": 0, "resultCount": 0, "hasNextToken": True, "bucketsScanned": 1},
    "events(first: 13)": {"pageSize": 13, "resultCount": 13, "hasNextToken": True, "bucketsScanned": 2},
    "events(last: 7)": {"pageSize": 7, "resultCount": 7, "hasNextToken": True, "bucketsScanned": 1},
    'events(filter: {startTime: "2023-08-04", endTime: "2023-08-05T00:00:00+01:00", minMagnitude: 1})': {
        "starttime": 1691107200000,
        "endtime": 1691190000000,
        "minmagnitude": 1.0,
        "pageSize": 50,
        "resultCount": 12,
        "hasNextToken": False,
        "bucketsScanned": 1,
    },
    'events(filter: {startTime: "2023-08-03T01:25:21.5781Z", endTime: "2023-08-03T01:25:21.5799Z"})': {
        "starttime": 1691025921579,
        "endtime": 1691025921579,
        "pageSize": 50,
        "resultCount": 1,
        "hasNextToken": False,
        "bucketsScanned": 1,
    },
    "events(filter: {minMagnitude: 9, maxDepth: 5})": {
        "minmagnitude": 9.0,
        "pageSize": 50,
        "resultCount": 0,
        "hasNextToken": False,
        "bucketsScanned": 0,
    },
}
FAILURES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "events(first: -1) { totalCount }": ("/earthquakes", "BAD_USER_INPUT", {"pageSize": -1}),
    'events(after: "x", filter: {minMagnitude: 4.5}) { totalCount }': (
        *("/earthquakes", "INVALID_CURSOR", {"pageSize": 50, "minmagnitude": 4.5}),
    ),
    'node(id: "x") { id }': ("/node", "BAD_USER_INPUT", {}),
    'requestLogs(after: "x") { nodes { id } }': ("/request-logs", "INVALID_CURSOR", {}),
    "popularFilters(limit: 0) { totalRequests }": ("/analytics/popular-filters", "BAD_USER_INPUT", {}),
}


def test_a_query_logs_its_filter_its_page_and_the_code_of_a_failure(
    tmp_path: Path, week_file: Path, usgs: UsgsServer
) -> None:
    (tmp_path / "asked.db").write_bytes(week_file.read_bytes())
    queries = [f"{field} {{ nodes {{ id }} }}" for field in OF_THE_CATALOGUE]
    items = logs_of(tmp_path, usgs, *(f"{{ {query} }}" for query in (*queries, *FAILURES)))

    assert items[-len(queries) - len(FAILURES) :] == [
        *[
            {"logType": "QUERY", "route": "/earthquakes", "status": 200, **attributes}
            for attributes in OF_THE_CATALOGUE.values()
        ],
        *[
            {"logType": "QUERY", "route": route, "status": 400, "error": code, **attributes}
            for route, code, attributes in FAILURES.values()
        ],
    ]


def test_an_ingest_is_logged_before_it_is_answered(tmp_path: Path, usgs: UsgsServer) -> None:
    """What its log says is tested with the ingest."""
    file = tmp_path / "asked.db"
    with running(settings(file, usgs), clock=HeldClock()) as service:
        query = "mutation { ingestRecent(input: {limit: 3}) { requestId upstreamSize upstreamHash } }"
        payload = service.ask(query)["ingestRecent"]
        (recent,) = logged(file)
        service.ask(f"mutation {{ ingestEvents(input: {{events: [{EVENT}, {EVENT}]}}) {{ fetched }} }}")
        given = logged(file)[1:]
        usgs.answer_next(status(404))
        service.answer("mutation { ingestRecent { fetched } }")
        refused = logged(file)[2:]

    assert recent == {**recent, **payload, "route": "/ingest/recent", "status": 200, "fetched": 3}
    assert [(log["route"], log["status"], log["upserted"], log["skipped"]) for log in given] == [
        ("/ingest/events", 200, 1, 1)
    ]
    assert [(log["route"], log["status"], log["error"]) for log in refused] == [
        ("/ingest/recent", 502, "INVALID_UPSTREAM_RESPONSE")
    ]


def test_each_alias_has_a_log_and_a_subscription_as_it_begins_but_no_operation_without_a_root_field(
    tmp_path: Path, usgs: UsgsServer
) -> None:
    file = tmp_path / "asked.db"
    aliases = '{ one: event(eventId: "us1") { id } two: event(eventId: "us2") { id } }'
    live = {"query": "subscription { events(filter: {minMagnitude: 2}) { dropped } }"}
    with running(settings(file, usgs)) as service:
        for query in ("{ __typename }", "{ __schema { types { name } } }", '{ __type(name: "Event") { name } }'):
            service.ask(query)
        service.ask(aliases)
        with service.http.stream("POST", "/graphql", json=live, headers={"Accept": "text/event-stream"}) as response:
            next(response.iter_raw())

    one, two, begun = sorted(logged(file), key=lambda item: item["route"])
    assert [item["route"] for item in (one, two)] == ["/earthquakes/event"] * 2
    names = ("logType", "route", "status", "minmagnitude")
    assert [begun[name] for name in names] == ["QUERY", "/earthquakes/live", 200, 2]


def test_logs_are_filtered_through_the_graph(tmp_path: Path, usgs: UsgsServer) -> None:
    """Those of a service that has stopped, read through the next one on the same file."""
    found = ('{ node(id: "MTpFdmVudDp1czE") { id } }', "{ events { totalCount } }")
    failed = ('{ deliveries(endpointId: "x") { nodes { id } } }', '{ node(id: "x") { id } }')
    logs_of(tmp_path, usgs, *found, "mutation { ingestEvents(input: {events: []}) { fetched } }", *failed)
    query = "query ($filter: RequestLogFilter) { requestLogs(filter: $filter) { nodes { route } } }"
    later = HeldClock()
    later.now += 1000  # so that its own logs can be left out
    with running(settings(tmp_path / "asked.db", usgs), clock=later) as service:

        def routes(**given: Any) -> list[str]:
            given = {"endTime": "2023-11-14T22:13:20Z", **given}
            return sorted(node["route"] for node in service.ask(query, {"filter": given})["requestLogs"]["nodes"])

        assert routes(logTypes=["INGEST"]) == ["/ingest/events"]
        assert routes(routes=["/node"]) == ["/node", "/node"]
        assert routes(logTypes=["QUERY"], minStatus=400) == ["/deliveries", "/node"]
        assert routes(routes=["/node"], minStatus=401) == []
        assert len(routes(startTime="2023-11-14T22:13:20Z")) == 5
        assert routes(endTime="2023-11-14T22:13:19.999Z") == []
