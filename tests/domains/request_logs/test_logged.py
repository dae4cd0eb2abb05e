"""Each root field writes its log: what it records of a request that came over HTTP."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from graphql import build_schema

from graph.domains.request_logs.entities import LOG
from graph.store.entity import Item
from graph.store.sqlite import open_sqlite
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, status, week_features
from tests.domains.entities import ENTITIES, documented
from tests.schemas import printed
from tests.service import running, settings
from tests.store.samples import NOON, HeldClock

TODAY = "LOG#20231114"
IN_A_WEEK = NOON // 1000 + 7 * 86_400
EVENT = '{eventId: "us1", eventTsMs: 1691025921579, mag: 5, lat: 0, lon: 0}'
NOTHING = "00000000-0000-7000-8000-000000000000"

ROUTES = {
    "node": ('query { node(id: "MTpFdmVudDp1czE") { id } }', "/node"),
    "nodes": ("query { nodes(ids: []) { id } }", "/nodes"),
    "event": ('query { event(eventId: "us1") { id } }', "/earthquakes/event"),
    "events": ("query { events { totalCount } }", "/earthquakes"),
    "catalogueStatistics": ("query { catalogueStatistics { count } }", "/earthquakes/statistics"),
    "ingestStatus": ("query { ingestStatus { failures } }", "/ingest/status"),
    "requestLogs": ("query { requestLogs { nodes { id } } }", "/request-logs"),
    "popularFilters": ("query { popularFilters { totalRequests } }", "/analytics/popular-filters"),
    "serviceLogs": ("query { serviceLogs { nodes { id } } }", "/service-logs"),
    "loggingServices": ("query { loggingServices { name } }", "/logging-services"),
    "logVolume": (
        'query { logVolume(interval: DAY, by: TYPE, startTime: "2023-11-14") { count } }',
        "/log-volume",
    ),
    "triggerEvents": ("query { triggerEvents { nodes { id } } }", "/trigger-events"),
    "triggerEndpoints": ("query { triggerEndpoints { nodes { id } } }", "/trigger-endpoints"),
    "deliveries": ("query { deliveries(endpointId: 0) { nodes { id } } }", "/deliveries"),
    "watches": ("query { watches { nodes { id } } }", "/watches"),
    "triggerEventTypes": ("query { triggerEventTypes { name } }", "/trigger-event-types"),
    "sightings": ("query { sightings { nodes { id } } }", "/sightings"),
    "sighting": (f'query {{ sighting(id: "{NOTHING}") {{ id }} }}', "/sighting"),
    "sightingCategories": ("query { sightingCategories }", "/sighting-categories"),
    "trending": ("query { trending { count } }", "/trending"),
    "areas": ("query { areas { nodes { slug } } }", "/areas"),
    "profile": ("query { profile { reports } }", "/profile"),
    "areaWatches": ("query { areaWatches { nodes { id } } }", "/area-watches"),
    "dataFile": ('query { dataFile(name: "l1a.nc") { id } }', "/data-file"),
    "dataFiles": ("query { dataFiles { nodes { id } } }", "/data-files"),
    "calibrations": ("query { calibrations { nodes { calibrates } } }", "/calibrations"),
    "run": (f'query {{ run(runId: "{NOTHING}") {{ id }} }}', "/run"),
    "affectedBy": ('query { affectedBy(calibration: "cal.nc", version: "1") { files } }', "/affected-by"),
    "ingestRecent": ("mutation { ingestRecent { fetched } }", "/ingest/recent"),
    "ingestEvents": ("mutation { ingestEvents(input: {events: []}) { fetched } }", "/ingest/events"),
    "writeLogs": ("mutation { writeLogs(input: {logs: []}) { accepted } }", "/write-logs"),
    "createTriggerEvent": (
        'mutation { createTriggerEvent(input: {type: "order.paid", payload: {}}) { duplicate } }',
        "/create-trigger-event",
    ),
    "acknowledgeTriggerEvents": (
        "mutation { acknowledgeTriggerEvents(input: {ids: []}) { acknowledged } }",
        "/acknowledge-trigger-events",
    ),
    "createEndpoint": (
        'mutation { createEndpoint(input: {url: "https://1.1.1.1/", types: ["none"]}) { endpoint { id } } }',
        "/create-endpoint",
    ),
    "updateEndpoint": ("mutation { updateEndpoint(input: {endpointId: 0}) { endpoint { id } } }", "/update-endpoint"),
    "pauseEndpoint": ("mutation { pauseEndpoint(input: {endpointId: 0}) { endpoint { id } } }", "/pause-endpoint"),
    "resumeEndpoint": ("mutation { resumeEndpoint(input: {endpointId: 0}) { endpoint { id } } }", "/resume-endpoint"),
    "rotateSecret": ("mutation { rotateSecret(input: {endpointId: 0}) { secret } }", "/rotate-secret"),
    "testEndpoint": ("mutation { testEndpoint(input: {endpointId: 0}) { delivery { id } } }", "/test-endpoint"),
    "deleteEndpoint": ("mutation { deleteEndpoint(input: {endpointId: 0}) { endpointId } }", "/delete-endpoint"),
    "replayDeliveries": ("mutation { replayDeliveries(input: {endpointId: 0}) { replayed } }", "/replay-deliveries"),
    "createWatch": ('mutation { createWatch(input: {name: "all"}) { watch { id } } }', "/create-watch"),
    "deleteWatch": ("mutation { deleteWatch(input: {watchId: 0}) { watchId } }", "/delete-watch"),
    "reportSighting": (
        'mutation { reportSighting(input: {category: SHAKING, area: "Downtown"}) { created } }',
        "/report-sighting",
    ),
    "confirmSighting": (
        f'mutation {{ confirmSighting(input: {{id: "{NOTHING}"}}) {{ confirmed }} }}',
        "/confirm-sighting",
    ),
    "hideSighting": (
        f'mutation {{ hideSighting(input: {{id: "{NOTHING}", reason: "Spam"}}) {{ sightingId }} }}',
        "/hide-sighting",
    ),
    "watchArea": ('mutation { watchArea(input: {area: "Downtown"}) { watch { id } } }', "/watch-area"),
    "unwatchArea": ("mutation { unwatchArea(input: {watchId: 0}) { watchId } }", "/unwatch-area"),
    "registerFiles": ("mutation { registerFiles(input: {files: []}) { registered } }", "/register-files"),
    "recordRun": ('mutation { recordRun(input: {algorithm: "l1a"}) { run { id } } }', "/record-run"),
}
"""Root field → how to ask it, and its stable path. Nothing has the id 0."""

KINDS = {route: "INGEST" if query.startswith("mutation") else "QUERY" for query, route in ROUTES.values()}
MISSING = ("Id: 0", f'{{id: "{NOTHING}"')  # what a mutation does not find; a query answers null
STATUSES = {route: 404 if any(each in query for each in MISSING) else 200 for query, route in ROUTES.values()}
STATUSES["/affected-by"] = 400  # no calibration has that version


def logged(file: Path) -> list[Item]:
    """The items of the logs that a file holds, oldest first, those of a millisecond in the order they were written."""

    async def scanned() -> list[Item]:
        async with open_sqlite(file, ENTITIES, clock=HeldClock()) as database:
            return [documented(LOG, item) async for item in database.scan(LOG)]  # SQLite scans as was written

    return asyncio.run(scanned())


def logs_of(tmp_path: Path, usgs: UsgsServer, *queries: str) -> list[dict[str, Any]]:
    """What a service that is asked these has logged when it has stopped, but for what is the same of all."""
    file = tmp_path / "asked.db"
    with running(settings(file, usgs), clock=HeldClock()) as service:
        for query in queries:
            service.answer(query)
    items = logged(file)
    for item in items:
        request_id = item.pop("requestId")
        assert UUID(request_id).version == 4
        assert (item.pop("pk"), item.pop("sk")) == (TODAY, f"{NOON}#{request_id}")
        assert (item.pop("entity"), item.pop("timestamp"), item.pop("ttl")) == ("LOG", NOON, IN_A_WEEK)
        assert item.pop("latencyMs") == 0  # as the clock stands still
    return items


def test_every_root_field_has_a_route_of_its_own(tmp_path: Path, usgs: UsgsServer) -> None:
    items = logs_of(tmp_path, usgs, *(query for query, _ in ROUTES.values()))

    schema = build_schema(printed())
    root_types = (schema.query_type, schema.mutation_type)
    assert [name for root in root_types if root for name in root.fields] == list(ROUTES)
    # An ingest is logged at once, and a query within a second.
    assert {item["route"]: item["logType"] for item in items} == KINDS
    assert {item["route"]: item["status"] for item in items} == STATUSES
    assert len(items) == len(KINDS) == len(ROUTES)


def test_a_subscription_is_logged_as_it_begins(tmp_path: Path, usgs: UsgsServer) -> None:
    file = tmp_path / "asked.db"
    accept = {"Accept": "text/event-stream"}
    with running(settings(file, usgs)) as service:
        for arguments in ("filter: {minMagnitude: 2}", 'after: "nonsense"'):
            query = f"subscription {{ events({arguments}) {{ lost }} }}"
            with service.http.stream("POST", "/graphql", json={"query": query}, headers=accept) as response:
                next(response.iter_raw())

    begun, refused = logged(file)
    assert {name: begun.get(name) for name in ("logType", "route", "status", "minmagnitude")} == {
        "logType": "QUERY",
        "route": "/earthquakes/live",
        "status": 200,
        "minmagnitude": 2,
    }
    assert (refused["route"], refused["status"], refused["error"]) == ("/earthquakes/live", 400, "INVALID_CURSOR")


CATALOGUE = {"logType": "QUERY", "route": "/earthquakes"}


@pytest.mark.parametrize(
    ("field", "attributes"),
    [
        ("events", {"pageSize": 50, "resultCount": 50, "hasNextToken": True, "bucketsScanned": 2}),
        ("events(first: 0)", {"pageSize": 0, "resultCount": 0, "hasNextToken": True, "bucketsScanned": 1}),
        ("events(first: 13)", {"pageSize": 13, "resultCount": 13, "hasNextToken": True, "bucketsScanned": 2}),
        ("events(last: 7)", {"pageSize": 7, "resultCount": 7, "hasNextToken": True, "bucketsScanned": 1}),
        (
            'events(filter: {startTime: "2023-08-04", endTime: "2023-08-05T00:00:00+01:00", minMagnitude: 1})',
            {
                "starttime": 1691107200000,
                "endtime": 1691190000000,
                "minmagnitude": 1.0,
                "pageSize": 50,
                "resultCount": 12,
                "hasNextToken": False,
                "bucketsScanned": 1,
            },
        ),
        (
            'events(filter: {startTime: "2023-08-03T01:25:21.5781Z", endTime: "2023-08-03T01:25:21.5799Z"})',
            {
                "starttime": 1691025921579,
                "endtime": 1691025921579,
                "pageSize": 50,
                "resultCount": 1,
                "hasNextToken": False,
                "bucketsScanned": 1,
            },
        ),
        (
            "events(filter: {minMagnitude: 9, maxDepth: 5})",
            {"minmagnitude": 9.0, "pageSize": 50, "resultCount": 0, "hasNextToken": False, "bucketsScanned": 0},
        ),
    ],
)
def test_a_query_of_the_catalogue_logs_its_filter_and_its_page(
    tmp_path: Path, week_file: Path, usgs: UsgsServer, field: str, attributes: dict[str, Any]
) -> None:
    (tmp_path / "asked.db").write_bytes(week_file.read_bytes())

    *_, item = logs_of(tmp_path, usgs, f"{{ {field} {{ nodes {{ id }} }} }}")

    assert item == CATALOGUE | {"status": 200} | attributes


@pytest.mark.parametrize(
    ("query", "route", "code", "attributes"),
    [
        ("{ events(first: -1) { totalCount } }", "/earthquakes", "BAD_USER_INPUT", {"pageSize": -1}),
        (
            '{ events(after: "x", filter: {minMagnitude: 4.5}) { totalCount } }',
            "/earthquakes",
            "INVALID_CURSOR",
            {"pageSize": 50, "minmagnitude": 4.5},
        ),
        ('{ node(id: "x") { id } }', "/node", "BAD_USER_INPUT", {}),
        ('{ requestLogs(after: "x") { nodes { id } } }', "/request-logs", "INVALID_CURSOR", {}),
        ("{ popularFilters(limit: 0) { totalRequests } }", "/analytics/popular-filters", "BAD_USER_INPUT", {}),
    ],
)
def test_a_failure_is_logged_by_its_code(
    tmp_path: Path, usgs: UsgsServer, query: str, route: str, code: str, attributes: dict[str, Any]
) -> None:
    assert logs_of(tmp_path, usgs, query) == [
        {"logType": "QUERY", "route": route, "status": 400, "error": code, **attributes}
    ]


def test_an_ingest_is_logged_before_it_is_answered(tmp_path: Path, usgs: UsgsServer) -> None:
    file = tmp_path / "asked.db"
    with running(settings(file, usgs), clock=HeldClock()) as service:
        query = "mutation { ingestRecent(input: {limit: 3}) { requestId upstreamSize upstreamHash } }"
        payload = service.ask(query)["ingestRecent"]
        recent = logged(file)
        service.ask(f"mutation {{ ingestEvents(input: {{events: [{EVENT}, {EVENT}]}}) {{ fetched }} }}")
        given = logged(file)[1:]
        usgs.answer_next(status(404))
        service.answer("mutation { ingestRecent { fetched } }")
        refused = logged(file)[2:]

    ingest = {"pk": TODAY, "entity": "LOG", "logType": "INGEST", "timestamp": NOON, "latencyMs": 0, "ttl": IN_A_WEEK}
    assert len(week_features()[:3]) == 3
    assert recent == [
        ingest
        | {
            "sk": f"{NOON}#{payload['requestId']}",
            "requestId": payload["requestId"],
            "route": "/ingest/recent",
            "status": 200,
            "fetched": 3,
            "upserted": 3,
            "revised": 0,
            "skipped": 0,
            "rejected": 0,
            "retries": 0,
            "upstreamSize": payload["upstreamSize"],
            "upstreamHash": payload["upstreamHash"],
        }
    ]
    assert [(log["route"], log["status"], log["upserted"], log["skipped"]) for log in given] == [
        ("/ingest/events", 200, 1, 1)
    ]
    assert [(log["route"], log["status"], log["error"]) for log in refused] == [
        ("/ingest/recent", 502, "INVALID_UPSTREAM_RESPONSE")
    ]


def test_each_alias_of_a_field_has_a_log_of_its_own(tmp_path: Path, usgs: UsgsServer) -> None:
    file = tmp_path / "asked.db"
    query = '{ one: event(eventId: "us1") { id } two: event(eventId: "us2") { id } }'
    with running(settings(file, usgs)) as service:
        answer = service.http.post("/graphql", json={"query": query})

    items = logged(file)
    assert [item["route"] for item in items] == ["/earthquakes/event"] * 2
    request_ids = [item["requestId"] for item in items]
    assert answer.headers["X-Request-Id"] in request_ids
    assert len({*request_ids}) == 2


def test_an_operation_without_a_root_field_is_not_logged(tmp_path: Path, usgs: UsgsServer) -> None:
    queries = ("{ __typename }", "{ __schema { types { name } } }", '{ __type(name: "Event") { name } }')

    assert logs_of(tmp_path, usgs, *queries) == []


def test_logs_are_paged_and_filtered_through_the_graph(tmp_path: Path, usgs: UsgsServer) -> None:
    """Those of a service that has stopped, read through the next one on the same file."""
    logs_of(tmp_path, usgs, *(query for query, _ in ROUTES.values()), '{ node(id: "x") { id } }')
    query = """query Logs($filter: RequestLogFilter, $first: Int, $after: String) {
      requestLogs(filter: $filter, first: $first, after: $after) {
        edges { cursor node { route } }
        pageInfo { hasNextPage endCursor }
      }
    }"""
    later = HeldClock()
    later.now += 1000  # so that its own logs can be left out
    with running(settings(tmp_path / "asked.db", usgs), clock=later) as service:

        def page(**variables: Any) -> dict[str, Any]:
            variables["filter"] = {"endTime": "2023-11-14T22:13:20Z"} | variables["filter"]
            connection: dict[str, Any] = service.ask(query, variables)["requestLogs"]
            return connection

        def routes(connection: dict[str, Any]) -> list[str]:
            return [edge["node"]["route"] for edge in connection["edges"]]

        def of_kind(kind: str) -> list[str]:
            return [route for route in KINDS if KINDS[route] == kind]

        assert sorted(routes(page(filter={"logType": "INGEST"}))) == sorted(of_kind("INGEST"))
        assert routes(page(filter={"route": "/node"})) == ["/node", "/node"]
        refused = routes(page(filter={"logType": "QUERY", "minStatus": 400}))
        assert sorted(refused) == ["/affected-by", "/deliveries", "/node"]
        assert routes(page(filter={"route": "/node", "minStatus": 401})) == []
        assert len(routes(page(filter={"startTime": "2023-11-14T22:13:20Z"}, first=100))) == len(ROUTES) + 1
        assert routes(page(filter={"endTime": "2023-11-14T22:13:19.999Z"})) == []

        walked = [page(filter={"logType": "QUERY"}, first=3)]
        while walked[-1]["pageInfo"]["hasNextPage"]:
            walked.append(page(filter={"logType": "QUERY"}, first=3, after=walked[-1]["pageInfo"]["endCursor"]))
        queries = len(of_kind("QUERY")) + 1  # one was asked twice
        assert {len(each["edges"]) for each in walked[:-1]} == {3}
        assert sum(len(each["edges"]) for each in walked) == queries
        assert len({edge["cursor"] for each in walked for edge in each["edges"]}) == queries
