"""A running service that keeps its own logs: a request log leads to its lines, and each line back."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import strawberry

from graph.domain import Domain
from graph.domains import DOMAINS
from graph.domains.own_logs.schema import LONGEST_REQUEST_MS, MARGIN_MS
from graph.domains.request_logs.access_patterns import KEYS_AT_ONCE, NearTime, RequestLogs
from graph.observability.logs import get_logger
from graph.opening import settings_of
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.domains.request_logs.builders import a_log, stored_logs, uuid
from tests.domains.service_logs.builders import NOON, held_clock
from tests.observability.scraping import scraped
from tests.service import Service, running
from tests.store.engines import empty_database, make_tables
from tests.store.samples import HeldClock

logger = get_logger("graph.tests")

WRITE = "mutation ($service: String!) { writeServiceLogs(input: {logs: [%s]}) { accepted rejections { code } } }"
LOG = '{service: $service, message: "paid", metadata: {requestId: "%s"}}'
REQUESTS = """{ requestLogs(first: 5) { nodes { route requestId serviceLogs(first: 5) {
  nodes { type level message metadata requestLog { route requestId status } } } } } }"""
PAGE = """query ($after: String) { requestLogs(filter: {routes: ["/odd"]}) { nodes {
  serviceLogs(first: 1, after: $after) { nodes { message } pageInfo { hasNextPage endCursor } } } } }"""
LINES = """{ serviceLogs(first: 50, orderBy: TIME_ASC) {
  nodes { service message metadata requestLog { requestId route } } } }"""


@strawberry.type
class OddQueries:
    @strawberry.field
    async def odd(self) -> bool:
        logger.warning("The shaking is odd", place="Napa")
        return True


ALL = (*DOMAINS, Domain(name="odd", queries=(OddQueries,)))


@pytest.fixture
def clock() -> HeldClock:
    return held_clock()


@pytest.fixture
def store(engine: str, tmp_path: Path) -> str:
    """The URL of an empty store with the tables of all domains."""
    return f"sqlite:///{tmp_path}/links.db" if engine == "sqlite" else f"dynamodb://{make_tables(ENTITIES)}"


@contextmanager
def serving(store: str, clock: HeldClock, *, own_logs: bool = False) -> Iterator[Service]:
    with running(settings_of(ALL)(store=store, own_logs=own_logs), domains=ALL, clock=clock) as service:
        yield service


def nodes(service: Service, query: str) -> list[dict[str, Any]]:
    """The nodes of the only connection of a query."""
    (connection,) = service.ask(query).values()
    found: list[dict[str, Any]] = connection["nodes"]
    return found


def test_a_request_log_leads_to_its_lines_and_each_line_back(store: str, clock: HeldClock) -> None:
    with serving(store, clock, own_logs=True) as service:
        service.ask("{ loggingServices { name } }")
        clock.now += 10
        service.ask("{ odd }")
        clock.now += 10
        service.ask(WRITE % (LOG % "none"), {"service": "checkout"})
    with serving(store, clock) as service:  # what waited was written at the end of the other one
        requests = {each["route"]: each for each in nodes(service, REQUESTS)}
        lines = [line for line in nodes(service, LINES) if line["service"] == "quakegraph"]
        head = nodes(service, PAGE)[0]["serviceLogs"]
        (odd,) = service.ask(PAGE, {"after": head["pageInfo"]["endCursor"]})["requestLogs"]["nodes"]

    said = {
        route: [(line["type"], line["level"], line["message"]) for line in request["serviceLogs"]["nodes"]]
        for route, request in requests.items()
    }
    assert said == {
        "/logging-services": [("APPLICATION", "INFO", "/logging-services answered 200 in 0 ms")],
        "/odd": [("APPLICATION", "WARN", "The shaking is odd"), ("APPLICATION", "INFO", "/odd answered 200 in 0 ms")],
        "/write-service-logs": [("AUDIT", "INFO", "/write-service-logs answered 200 in 0 ms")],
    }
    for route, request in requests.items():
        for line in request["serviceLogs"]["nodes"]:
            assert line["requestLog"] == {"route": route, "requestId": request["requestId"], "status": 200}
            assert line["metadata"]["requestId"] == request["requestId"]
    assert [line["requestLog"]["route"] for line in lines if line["metadata"].get("requestId")] == [
        "/logging-services",
        "/odd",
        "/odd",
        "/write-service-logs",
    ]
    pages = [head, odd["serviceLogs"]]
    assert [each["nodes"][0]["message"] for each in pages] == ["The shaking is odd", "/odd answered 200 in 0 ms"]
    assert [each["pageInfo"]["hasNextPage"] for each in pages] == [True, False]


def test_logs_of_others_lead_to_no_request(service: Service) -> None:
    """Whichever request they name."""
    mutation = {"query": "mutation { writeServiceLogs(input: {logs: []}) { accepted } }"}
    request_id = service.http.post("/graphql", json=mutation).headers["x-request-id"]
    service.ask(WRITE % (LOG % request_id), {"service": "checkout"})

    assert request_id in {request["requestId"] for request in nodes(service, REQUESTS)}
    (line,) = nodes(service, LINES)
    assert (line["metadata"], line["requestLog"]) == ({"requestId": request_id}, None)


def test_the_requests_of_many_lines_take_as_few_calls_as_that_of_one(tmp_path: Path, clock: HeldClock) -> None:
    store = f"sqlite:///{tmp_path}/many.db"
    with serving(store, clock, own_logs=True) as service:
        for _ in range(25):
            service.ask("{ odd }")
    with serving(store, clock) as service:

        def calls_of(lines: int) -> float:
            before = sum(scraped(service.url).all("quakegraph_store_calls_total").values())
            query = f"{{ serviceLogs(first: {lines}) {{ nodes {{ requestLog {{ requestId }} }} }} }}"
            found = [node["requestLog"]["requestId"] for node in nodes(service, query)]
            assert len(found) == lines
            return sum(scraped(service.url).all("quakegraph_store_calls_total").values()) - before

        many = min(calls_of(lines) for lines in (50, 49, 48))  # what else the service does meanwhile is counted, too
        assert many - calls_of(1) < 10


def test_nothing_is_kept_while_the_setting_is_off_and_nobody_writes_under_the_services_name(
    tmp_path: Path, clock: HeldClock
) -> None:
    store = f"sqlite:///{tmp_path}/off.db"
    for own_logs in (False, True):
        with serving(store, clock, own_logs=own_logs) as service:
            answer = service.ask(WRITE % (LOG % "none"), {"service": "quakegraph"})["writeServiceLogs"]
            assert answer == {"accepted": 0, "rejections": [{"code": "SERVICE_INVALID"}]}
            if not own_logs:
                assert [each["serviceLogs"] for each in nodes(service, REQUESTS)] == [{"nodes": []}]
                assert nodes(service, LINES) == []


def near(number: int, time_ms: int) -> NearTime:
    """The request of a line of this time."""
    return NearTime(uuid(number), time_ms - LONGEST_REQUEST_MS, time_ms + MARGIN_MS)


async def test_a_request_is_found_near_its_time_across_midnight_and_nowhere_else(engine: str) -> None:
    midnight = NOON // 86_400_000 * 86_400_000
    logs = [a_log(midnight - 5, 1), a_log(midnight + 5, 2), a_log(NOON, 3)]
    async with stored_logs(engine, logs) as request_logs:
        latest = near(3, NOON + LONGEST_REQUEST_MS)
        found = await request_logs.of_requests([near(1, midnight + 100), near(2, midnight + 200), latest])
        none = await request_logs.of_requests([near(3, NOON + LONGEST_REQUEST_MS + 1), near(1, midnight - 2000)])

    assert {request.request_id: log for request, log in found.items()} == {log.request_id: log for log in logs}
    assert none == {}


async def test_a_request_is_found_behind_many_others_and_those_of_a_page_are_read_together() -> None:
    logs = [a_log(NOON + number, number) for number in range(2 * KEYS_AT_ONCE + 1)]
    async with empty_database("sqlite", ENTITIES, clock=held_clock()) as database:
        watched = WatchedDatabase(database)
        request_logs = RequestLogs(watched, held_clock())
        await request_logs.insert_many(logs)
        first = near(0, logs[-1].timestamp)
        assert await request_logs.of_requests([first]) == {first: logs[0]}

        watched.calls.clear()
        watched.gets.clear()
        found = await request_logs.of_requests(
            [near(number, logs[-1].timestamp) for number in range(len(logs) - 100, len(logs))]
        )
        assert len(found) == 100
        assert len(watched.calls) == len(watched.gets) == 1
