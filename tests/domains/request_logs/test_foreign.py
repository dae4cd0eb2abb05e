"""Request logs that another program writes as the earthquake data platform's document has them, and the reverse."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from boto3.dynamodb.conditions import Key

from graph.core.days import DAY_MS, day_bucket
from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from tests.domains.entities import ENTITIES
from tests.domains.request_logs.builders import uuid
from tests.domains.request_logs.test_logged import EVENT
from tests.observability.scraping import scraped
from tests.other_programs import ForeignTable, table_of
from tests.service import Service
from tests.store.engines import make_tables
from tests.store.samples import NOON, HeldClock

HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"  # pragma: allowlist secret
INGEST_ONE = f"mutation {{ ingestEvents(input: {{events: [{EVENT}]}}) {{ upserted }} }}"
EVERY = """{ requestLogs(filter: {endTime: "2023-11-14T22:13:19Z"}) { sampled leftOut nodes {
  requestId logType timestamp route status latencyMs error fetched upserted revised skipped rejected retries
  upstreamSize upstreamHash starttime endtime minmagnitude pageSize resultCount hasNextToken bucketsScanned
  weight } } }"""
IDS = """query ($filter: RequestLogFilter, $first: Int, $after: String) {
  requestLogs(filter: $filter, first: $first, after: $after) {
    nodes { id requestId } pageInfo { hasNextPage endCursor } } }"""
POPULAR = """{ popularFilters(windowDays: 7) { totalRequests sampled filters {
  starttime endtime minmagnitude pageSize hits hasNextTokenCount avgResultCount } } }"""


def a_log(number: int, timestamp: int, **attributes: Any) -> dict[str, Any]:
    """An item as the document has it: all required attributes, and what else is given."""
    return {
        "pk": f"LOG#{day_bucket(timestamp)}",
        "sk": f"{timestamp}#{uuid(number)}",
        "entity": "LOG",
        "logType": "QUERY",
        "requestId": uuid(number),
        "timestamp": timestamp,
        "route": "/earthquakes",
        "status": 200,
        "latencyMs": 42,
        "ttl": timestamp // 1000 + 7 * 24 * 60 * 60,
        **attributes,
    }


INGEST = a_log(
    *(1, NOON - 2 * DAY_MS),
    logType="INGEST",
    route="/ingest/recent",
    latencyMs=1200,
    fetched=100,
    upserted=97,
    skipped=3,
    retries=0,
    upstreamSize=81_920,
    upstreamHash=HASH,
)
FILTER = {"starttime": NOON - DAY_MS, "endtime": NOON, "minmagnitude": Decimal("4.5"), "pageSize": 20}
PAGE = {"resultCount": 20, "hasNextToken": True, "bucketsScanned": 2}
QUERY = a_log(2, NOON - DAY_MS, **FILTER, **PAGE, latencyMs=Decimal("17.25"))
REFUSED = a_log(3, NOON - 3000, status=400, error="VALIDATION_ERROR", latencyMs=0)
OTHER_ROUTE = a_log(4, NOON - 2000, route="/analytics/popular-filters", status=599, error="UPSTREAM_TIMEOUT")
FOREIGN = [OTHER_ROUTE, REFUSED, QUERY, INGEST]
"""Newest first."""


@pytest.fixture
def foreign(dynamodb_endpoint: str) -> ForeignTable:
    """Empty tables."""
    prefix = make_tables(ENTITIES)
    return ForeignTable(prefix, table_of(EARTHQUAKE_EVENTS, prefix), HeldClock())


@pytest.fixture
def service(foreign: ForeignTable) -> Iterator[Service]:
    """A service that finds the foreign logs. What it has logged is written when it ends."""
    foreign.put(*FOREIGN)
    with foreign.served() as service:
        yield service


def ids_of(service: Service, **variables: Any) -> list[str]:
    """The request ids of a page of logs."""
    return [node["requestId"] for node in service.ask(IDS, variables)["requestLogs"]["nodes"]]


def of_day(foreign: ForeignTable, day: str) -> list[dict[str, Any]]:
    """The document's access pattern: query the base table where pk = LOG#YYYYMMDD."""
    items: list[dict[str, Any]] = foreign.table.query(KeyConditionExpression=Key("pk").eq(f"LOG#{day}"))["Items"]
    return items


BEFORE = {"filter": {"endTime": "2023-11-14T22:13:19Z"}}
"""Selects no log of the service that is asked, which stands at `NOON`."""


def test_each_foreign_log_is_listed_with_all_that_it_has(service: Service) -> None:
    logs = service.ask(EVERY)["requestLogs"]

    absent = dict.fromkeys(logs["nodes"][0])
    assert logs["nodes"] == [
        {
            **absent,
            **{name: value for name, value in item.items() if name not in ("pk", "sk", "entity", "ttl")},
            "weight": 1,
            "latencyMs": int(item["latencyMs"]),
        }
        for item in FOREIGN
    ]
    assert (logs["sampled"], logs["leftOut"]) == (False, 0)


def test_foreign_logs_are_filtered_paged_and_found_by_their_ids(service: Service) -> None:
    def found(**conditions: Any) -> list[str]:
        return ids_of(service, filter={**BEFORE["filter"], **conditions})

    assert found(logTypes=["INGEST"]) == [uuid(1)]
    assert found(routes=["/earthquakes"]) == [uuid(3), uuid(2)]
    assert found(minStatus=400) == [uuid(4), uuid(3)]
    assert found(startTime="2023-11-13", endTime="2023-11-13") == [uuid(2)]
    assert found(routes=["/ingest/recent"], minStatus=400) == []

    nodes = service.nodes(IDS, BEFORE)
    assert [node["requestId"] for node in nodes] == [item["requestId"] for item in FOREIGN]
    query = "query ($id: ID!) { node(id: $id) { ... on RequestLog { route fetched } } }"
    assert service.ask(query, {"id": nodes[-1]["id"]}) == {"node": {"route": "/ingest/recent", "fetched": 100}}


def test_popular_filters_count_foreign_queries_beside_ours(service: Service, foreign: ForeignTable) -> None:
    with foreign.served() as ours:
        ours.ask(
            '{ events(first: 20, filter: {startTime: "2023-11-13T22:13:20Z", endTime: "2023-11-14T22:13:20Z", '
            "minMagnitude: 4.5}) { nodes { id } } }"
        )
    popular = service.ask(POPULAR)["popularFilters"]

    assert (popular["totalRequests"], popular["sampled"]) == (3, False)
    assert popular["filters"] == [
        {**FILTER, "minmagnitude": 4.5, "hits": 2, "hasNextTokenCount": 1, "avgResultCount": 10.0},
        {**dict.fromkeys(FILTER), "hits": 1, "hasNextTokenCount": 0, "avgResultCount": 0.0},
    ]


def test_a_foreign_log_expires_and_can_be_replaced_and_deleted(service: Service, foreign: ForeignTable) -> None:
    expired = a_log(5, NOON - 4000, ttl=NOON // 1000)
    foreign.put(expired, {**REFUSED, "status": 500})
    foreign.table.delete_item(Key={"pk": QUERY["pk"], "sk": QUERY["sk"]})

    assert ids_of(service, **BEFORE) == [uuid(4), uuid(3), uuid(1)]
    assert ids_of(service, filter={**BEFORE["filter"], "minStatus": 500}) == [uuid(4), uuid(3)]


BROKEN: list[dict[str, Any]] = [
    {"status": "200"},
    {"status": 600},
    {"hasNextToken": "yes"},
    {"pageSize": "20"},
    {"minmagnitude": "strong"},
    {"logType": "AUDIT"},
    {"latencyMs": None},
    {"route": None},
    {"error": 400},
    {"latencyMs": 2**31},
    {"pageSize": 2**31},
    {"fetched": 2**31},
    {"weight": 2**31},
    {"sk": f"{NOON - 2500}#nul\0"},
]
"""What makes a log a broken one; None for an attribute that is missing."""


def test_a_broken_foreign_log_is_left_out_where_its_values_are_read_and_breaks_nothing_beside_it(
    service: Service, foreign: ForeignTable
) -> None:
    for number, broken in enumerate(BROKEN, 5):
        item = {**a_log(number, NOON - 2500, **FILTER), **broken}
        foreign.put({name: value for name, value in item.items() if value is not None})

    logs = service.ask(EVERY)["requestLogs"]["nodes"]
    assert [log["requestId"] for log in logs] == [item["requestId"] for item in FOREIGN]
    assert {item["requestId"] for item in FOREIGN} < set(ids_of(service, **BEFORE))
    popular = service.ask(POPULAR)["popularFilters"]
    assert popular["totalRequests"] == 2 + 6, "of the broken ones, those whose filter and page can be read"
    assert scraped(service.url).value("quakegraph_store_broken_items_total", table="earthquake-events") == 14 + 1 + 6


def test_the_hits_of_logs_of_the_greatest_weight_fit_the_graph(service: Service, foreign: ForeignTable) -> None:
    heavy = {"weight": 2**30, "pageSize": 77, "hasNextToken": True}
    foreign.put(*(a_log(number, NOON - 2500, **heavy) for number in range(5, 8)))

    most = service.ask(POPULAR)["popularFilters"]["filters"][0]
    assert (most["pageSize"], most["hits"], most["hasNextTokenCount"]) == (77, 2**31 - 1, 2**31 - 1)


def test_the_count_of_a_day_is_that_of_our_logs_and_a_foreign_writer_leaves_it_alone(
    service: Service, foreign: ForeignTable
) -> None:
    service.ask(INGEST_ONE)

    counts = foreign.table.query(KeyConditionExpression=Key("pk").eq("COUNTS#LOGS"))["Items"]
    assert [(item["sk"], item["logs"], "leftOut" in item) for item in counts] == [("DAY#20231114", 1, False)]
    assert len(ids_of(service, filter={"logTypes": ["INGEST"]})) == 2


def test_the_documents_query_finds_our_logs_with_the_documented_attributes(foreign: ForeignTable) -> None:
    with foreign.served() as service:
        answer = service.http.post("/graphql", json={"query": INGEST_ONE})
        service.ask("{ events(first: 0, filter: {minMagnitude: 4.5}) { nodes { id } } }")

    ingest, query = sorted(of_day(foreign, "20231114"), key=lambda item: str(item["logType"]))
    assert ingest["requestId"] == answer.headers["X-Request-Id"]
    assert UUID(query["requestId"]).version == 4
    assert ingest == ours(
        ingest["requestId"],
        logType="INGEST",
        route="/ingest/events",
        fetched=1,
        upserted=1,
        skipped=0,
        retries=0,
        revised=0,
        rejected=0,  # which the document does not have
    )
    assert query == ours(
        query["requestId"], minmagnitude=Decimal("4.5"), pageSize=0, resultCount=0, hasNextToken=True, bucketsScanned=1
    )


def ours(request_id: str, **attributes: Any) -> dict[str, Any]:
    """The item of a log of the service, whose clock stands."""
    own = {"sk": f"{NOON}#{request_id}", "requestId": request_id, "latencyMs": 0}
    return {**a_log(0, NOON), **own, **attributes}
