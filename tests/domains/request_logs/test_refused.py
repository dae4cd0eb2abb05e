"""A request that is refused before any root field runs has one log: its path, status and code, and nothing else."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from graph.domains.earthquakes.scopes import EVENTS_READ
from tests.bearers import bearer
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.request_logs.test_logged import logged, told_by
from tests.observability.scraping import scraped
from tests.processes import TIMEOUT_S
from tests.service import running, settings
from tests.store.samples import HeldClock
from tests.subscribers import EVENTS, initialised, live_service

TOO_DEAR = "{ events(first: 1000) { nodes { nearby(first: 1000) { nodes { id } } } } }"
FIRST = "query ($n: Int) { events(first: $n) { totalCount } }"
LIMIT = "query ($n: Int) { popularFilters(limit: $n) { totalRequests } }"  # the limit is not nullable
SKIPPED = "query ($b: Boolean = true) { __typename @skip(if: $b) }"
UNKNOWN = {"persistedQuery": {"version": 1, "sha256Hash": "0" * 64}}

DOCUMENTS: list[tuple[dict[str, Any], int, str]] = [
    ({"query": "{ swordfish"}, 400, "GRAPHQL_PARSE_FAILED"),
    ({"query": "{ swordfish }"}, 400, "GRAPHQL_VALIDATION_FAILED"),
    ({"query": '{ event(eventId: "us1", swordfish: 1) { id } }'}, 400, "GRAPHQL_VALIDATION_FAILED"),
    ({"query": "{ __typename } #" + "swordfish" * 3000}, 400, "QUERY_TOO_COMPLEX"),  # too long
    ({"query": "{ events { nodes { nearby" * 6 + "}}}" * 6}, 400, "QUERY_TOO_COMPLEX"),  # too deep
    ({"query": TOO_DEAR}, 400, "QUERY_TOO_COMPLEX"),
    ({"query": "query a { __typename }", "operationName": "b"}, 400, "OPERATION_RESOLUTION_FAILURE"),
    ({"query": FIRST, "variables": {"n": "swordfish"}}, 400, "BAD_USER_INPUT"),
    ({"query": LIMIT, "variables": {"n": None}}, 400, "BAD_USER_INPUT"),
    ({"query": SKIPPED, "variables": {"b": None}}, 400, "BAD_USER_INPUT"),
    ({"extensions": UNKNOWN}, 200, "PERSISTED_QUERY_NOT_FOUND"),
    ({"query": 7}, 400, "BAD_REQUEST"),
]
"""A request's body, and the status and the code of its log."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "refused.db"


def refusals(file: Path) -> list[tuple[str, int, str]]:
    """Log type, status and code of the logs, which have nothing else but what every log has."""
    told = told_by(logged(file))
    outcomes = [(item.pop("logType"), item.pop("status"), item.pop("error")) for item in told]
    assert told == [{"route": "/graphql"}] * len(outcomes)
    return outcomes


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
def test_a_refused_document_is_logged_by_its_code(file: Path, usgs: UsgsServer, compiled: bool) -> None:
    with running(settings(file, usgs, compiled=compiled), clock=HeldClock()) as service:
        answers = [service.http.post("/graphql", json=body) for body, _, _ in DOCUMENTS]

    codes = [answer.json()["errors"][0]["extensions"]["code"] for answer in answers]
    assert codes == [code for _, _, code in DOCUMENTS]
    assert [item["requestId"] for item in logged(file)] == [answer.headers["X-Request-Id"] for answer in answers]
    assert refusals(file) == [("QUERY", status, code) for _, status, code in DOCUMENTS]


def test_a_refused_caller_is_logged_with_the_type_of_its_operation_if_it_is_known(file: Path, usgs: UsgsServer) -> None:
    read, write = {"query": "{ events { totalCount } }"}, {"query": "mutation { ingestRecent { fetched } }"}
    with (
        running(settings(file, usgs, public_read=False), clock=HeldClock()) as service,
        httpx.Client(base_url=service.url, timeout=TIMEOUT_S) as stranger,
    ):
        answers = [
            stranger.post("/graphql", json=read),
            stranger.post("/graphql", json=write),
            stranger.post("/graphql", json=read, headers={"Authorization": "Bearer swordfish"}),
            stranger.post("/graphql", json=write, headers=bearer(EVENTS_READ)),
            stranger.get("/graphql", params=write),
            stranger.post("/graphql", content="swordfish", headers={"Content-Type": "application/json"}),
            stranger.post("/graphql", json=read, headers={"Accept": "image/png"}),
            stranger.put("/graphql", json=read),
        ]

    assert refusals(file) == [
        ("QUERY", 401, "UNAUTHENTICATED"),
        ("INGEST", 401, "UNAUTHENTICATED"),
        ("QUERY", 401, "UNAUTHENTICATED"),
        ("INGEST", 403, "FORBIDDEN"),
        ("QUERY", 405, "BAD_REQUEST"),
        ("QUERY", 400, "BAD_REQUEST"),
        ("QUERY", 406, "BAD_REQUEST"),
        ("QUERY", 405, "BAD_REQUEST"),
    ]
    assert [answer.json()["errors"][0]["extensions"]["code"] for answer in answers] == [
        code for _, _, code in refusals(file)
    ]


def test_a_refused_subscription_of_a_stream_is_logged_once(file: Path, usgs: UsgsServer) -> None:
    accept = {"Accept": "text/event-stream"}
    with running(settings(file, usgs), clock=HeldClock()) as service:
        for body in ({"query": "subscription { swordfish }"}, {"query": EVENTS, "variables": {"after": 7}}):
            with service.http.stream("POST", "/graphql", json=body, headers=accept) as response:
                next(response.iter_raw())
        service.http.post("/graphql", json={"query": EVENTS})

    assert refusals(file) == [
        ("QUERY", 400, "GRAPHQL_VALIDATION_FAILED"),
        ("QUERY", 400, "BAD_USER_INPUT"),
        ("QUERY", 406, "BAD_REQUEST"),
    ]


async def test_a_refused_operation_of_a_websocket_is_logged_and_counted(file: Path, usgs: UsgsServer) -> None:
    with live_service(settings(file, usgs, max_socket_operations=1, max_subscriptions=1)) as service:
        async with initialised(service.url, bearer(EVENTS_READ)) as client:
            refused = ("{ swordfish", "{ swordfish }", "mutation { ingestRecent { fetched } }", EVENTS, EVENTS)
            for query, after in zip(refused, ("", "", "", 7, "swordfish"), strict=True):
                await client.ask("refused", query, variables={"after": after})
                await client.next_message()
            await client.ask("answered", "{ events { totalCount } }")
            assert await client.next_data("answered") == {"events": {"totalCount": 0}}
            assert await client.next_message() == {"type": "complete", "id": "answered"}
            await client.ask("open", EVENTS)
            await service.has_subscriptions(1)
            await client.ask("one too many", EVENTS)
            await client.next_message()
        await service.has_subscriptions(0)
        counted = scraped(service.url).all("quakegraph_requests_total")

    items = await asyncio.to_thread(logged, file)  # it has an event loop of its own
    outcomes = [(item["logType"], item["route"], item["status"], item.get("error")) for item in items]
    assert outcomes == [
        ("QUERY", "/graphql", 400, "GRAPHQL_PARSE_FAILED"),
        ("QUERY", "/graphql", 400, "GRAPHQL_VALIDATION_FAILED"),
        ("INGEST", "/graphql", 403, "FORBIDDEN"),
        ("QUERY", "/graphql", 400, "BAD_USER_INPUT"),
        ("QUERY", "/earthquakes/live", 400, "INVALID_CURSOR"),
        ("QUERY", "/earthquakes", 200, None),
        ("QUERY", "/earthquakes/live", 200, None),
        ("QUERY", "/graphql", 429, "TOO_MANY_SUBSCRIPTIONS"),
    ]
    kinds = ["none", "none", "mutation", "subscription", "subscription", "query", "subscription", "none"]
    codes = [code or "OK" for *_, code in outcomes]
    assert {labels for labels, number in counted.items() if number} == set(zip(codes, kinds, strict=True))


def test_a_caller_without_points_writes_no_more_logs(file: Path, usgs: UsgsServer) -> None:
    with running(settings(file, usgs, rate_limit=10), clock=HeldClock()) as service:
        codes = [service.http.post("/graphql", json={"query": "{"}).json()["errors"][0] for _ in range(30)]

    paid = [error for error in codes if error["extensions"]["code"] == "GRAPHQL_PARSE_FAILED"]
    assert 0 < len(paid) <= 20  # a new minute may begin
    assert refusals(file) == [("QUERY", 400, "GRAPHQL_PARSE_FAILED")] * len(paid)


def test_a_flood_writes_no_more_logs_than_the_budget_and_of_garbage_leaves_room_for_the_logs_of_answers(
    file: Path, usgs: UsgsServer
) -> None:
    with running(settings(file, usgs, max_logs_per_minute=40), clock=HeldClock()) as service:
        for number in range(100):
            service.http.post("/graphql", json={"query": f"{{ swordfish{number}"})
        for _ in range(10):
            service.ask("{ events { totalCount } }")
        garbage = scraped(service.url).value("quakegraph_request_logs_left_out_total")
        for _ in range(10):
            service.ask("{" + " ".join(f'e{number}: event(eventId: "x") {{ id }}' for number in range(10)) + "}")
        left_out = scraped(service.url).value("quakegraph_request_logs_left_out_total")

    routes = Counter(item["route"] for item in logged(file))
    assert 4 <= routes["/graphql"] <= 5
    assert routes["/earthquakes"] == 10
    assert 40 <= routes.total() <= 45
    assert (garbage, left_out) == (100 - routes["/graphql"], 100 + 10 + 100 - routes.total())
