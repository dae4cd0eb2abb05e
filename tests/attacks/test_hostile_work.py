"""Small requests that ask for much work: bounded in rows and in iterations of the loop."""

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from functools import partial
from urllib.parse import urlsplit

import httpx
import pytest

from graph.geography.areas import Circle
from graph.store.sqlite.short_reads import UNITS_PER_ITERATION, VALUES_PER_UNIT
from graph.store.time_walk import ITEMS_IN_MEMORY
from graph.work.account import HEAVY_POINTS, WorkLimits
from tests.attacks.dense import DenseService, dense_service, fill, points
from tests.observability.scraping import scraped
from tests.sharing import folder_of_run, made_once

EVENTS = 12_000
HALF_EARTH = "circle: {lat: 1, lon: 0, radiusKm: 10000}"  # every day has events in cells that the edge crosses
OF_HALF_EARTH = sum(Circle(1, 0, 10_000).holds({"lon": lon, "lat": lat}) for lon, lat, _ in points(EVENTS))
VALUES_PER_ROW = 5  # that are read to test it: its place, and where in the order of time it stands
GUARD_S = 120
MOST_POINTS = 10_000  # half of the default, since there are few events


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DenseService]:
    file = made_once(folder_of_run(tmp_path_factory) / "attacked.db", partial(fill, events=EVENTS))
    with dense_service(tmp_path_factory.mktemp("served"), file, max_cost=MOST_POINTS) as service:
        yield service


def send_and_leave(url: str, query: str) -> None:
    """Send a query, and close the connection at once."""
    body = json.dumps({"query": query}).encode()
    host, port = urlsplit(url).hostname or "", urlsplit(url).port or 0
    head = f"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((host, port)) as connection:
        connection.sendall(head.encode() + body)


def reported_points(service: DenseService, query: str) -> int:
    """What a query cost, reading included."""
    answer = service.http.post("/graphql", json={"query": query}, headers={"GraphQL-Cost": "report"}).json()
    return int(answer["extensions"]["cost"]["points"])


def test_a_filter_without_matches_does_not_block_the_loop(dense: DenseService) -> None:
    """All rows of each request are tested, and no iteration of the loop has more than its share of them."""
    query = '{ events(first: 1, filter: {place: "zzz"}) { totalCount } }'
    with dense.turns.counted():
        assert dense.ask(query) == {"events": {"totalCount": 0}}
    assert reported_points(dense, query) >= EVENTS // 100

    aliases = " ".join(f"a{number}: events(first: 1, filter: {{{HALF_EARTH}}}) {{ totalCount }}" for number in range(2))
    before = dense.turns.number
    with dense.turns.counted():
        assert dense.ask(f"{{ {aliases} }}") == {f"a{number}": {"totalCount": OF_HALF_EARTH} for number in range(2)}

    assert dense.turns.number - before >= 2 * OF_HALF_EARTH // (UNITS_PER_ITERATION * VALUES_PER_UNIT // VALUES_PER_ROW)


def test_clients_that_are_gone_cost_nothing_more(dense: DenseService) -> None:
    def calls() -> float:
        return sum(scraped(dense.url).all("quakegraph_store_calls_total").values())

    first = calls()
    for _ in range(100):
        send_and_leave(dense.url, f"{{ events(first: 1, filter: {{{HALF_EARTH}}}) {{ totalCount }} }}")
    assert dense.ask('{ event(eventId: "d00000") { eventId } }') == {"event": {"eventId": "d00000"}}

    for _ in range(GUARD_S * 20):
        now = scraped(dense.url)
        waiting = [now.value("quakegraph_heavy_operations"), now.value("quakegraph_loop_waiting")]
        if waiting == [0, 0] and now.value("quakegraph_store_pool_busy", pool="readers") == 0:
            break
        time.sleep(0.05)
    before = calls()
    answered = dense.ask("{ events(first: 1) { totalCount } }")

    assert answered == {"events": {"totalCount": EVENTS}}
    assert calls() - before <= 6, "calls of the one query, and none for those who left"
    assert before - first < 100 * OF_HALF_EARTH // ITEMS_IN_MEMORY // 2, "most of what was asked was never read"


async def test_as_many_heavy_queries_as_a_frontend_has_connections_are_all_answered(dense: DenseService) -> None:
    nearby = "{ events(first: 20) { nodes { nearby(radiusKm: 500, days: 7, first: 3) { nodes { eventId } } } } }"
    assert reported_points(dense, nearby) > HEAVY_POINTS
    connections = 2 * WorkLimits().caller

    async with httpx.AsyncClient(base_url=dense.url, timeout=GUARD_S) as client:
        asked = [client.post("/graphql", json={"query": nearby}) for _ in range(connections)]
        answers = [answer.json() for answer in await asyncio.gather(*asked)]

    assert [answer.get("errors") for answer in answers] == [None] * connections


def test_a_page_whose_rows_nothing_is_selected_of_is_paid_by_its_rows(dense: DenseService) -> None:
    assert reported_points(dense, "{ events(first: 1000) { pageInfo { hasNextPage } } }") >= 100


def test_neighbours_in_many_years_of_many_events_are_refused_before_they_time_out(dense: DenseService) -> None:
    query = "{ events(first: 190) { nodes { nearby(days: 3653, first: 1) { nodes { id } } } } }"

    assert set(dense.codes(query)) == {"QUERY_TOO_COMPLEX"}
