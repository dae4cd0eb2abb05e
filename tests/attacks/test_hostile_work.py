"""Small requests that ask for much work: bounded in rows, in iterations of the loop and in memory."""

import asyncio
import json
import shutil
import socket
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import websockets

from graph.domains.earthquakes.areas import Circle
from graph.store.sqlite.short_reads import UNITS_PER_ITERATION, VALUES_PER_UNIT
from graph.store.time_walk import ITEMS_IN_MEMORY
from graph.work.account import HEAVY_POINTS, WorkLimits
from tests.attacks.dense import EVENTS, DenseService, dense_service, points
from tests.observability.scraping import scraped
from tests.processes import serving

HALF_EARTH = "circle: {lat: 1, lon: 0, radiusKm: 10000}"  # every day has events in cells that the edge crosses
OF_HALF_EARTH = sum(Circle(1, 0, 10_000).holds({"lon": lon, "lat": lat}) for lon, lat, _ in points())
VALUES_PER_ROW = 5  # that are read to test it: its place, and where in the order of time it stands
GUARD_S = 120
MOST_GROWTH_KIB = 64 * 1024


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory, dense_file: Path) -> Iterator[DenseService]:
    with dense_service(tmp_path_factory.mktemp("served"), dense_file) as service:
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
    for _ in range(100):
        send_and_leave(dense.url, f"{{ events(first: 1, filter: {{{HALF_EARTH}}}) {{ totalCount }} }}")
    assert dense.ask('{ event(eventId: "d00000") { eventId } }') == {"event": {"eventId": "d00000"}}

    for _ in range(GUARD_S * 20):
        now = scraped(dense.url)
        waiting = [now.value("quakegraph_heavy_operations"), now.value("quakegraph_loop_waiting")]
        if waiting == [0, 0] and now.value("quakegraph_store_pool_busy", pool="readers") == 0:
            break
        time.sleep(0.05)
    before = scraped(dense.url).all("quakegraph_store_calls_total")
    answered = dense.ask("{ events(first: 1) { totalCount } }")
    after = scraped(dense.url).all("quakegraph_store_calls_total")

    assert answered == {"events": {"totalCount": EVENTS}}
    assert sum(after.values()) - sum(before.values()) <= 6, "calls of the one query, and none for those who left"
    assert sum(after.values()) < 100 * OF_HALF_EARTH // ITEMS_IN_MEMORY // 2, "most of what was asked was never read"


async def test_heavy_totals_over_one_socket_take_no_memory_and_refuse_no_other(
    tmp_path: Path, dense_file: Path
) -> None:
    shutil.copy(dense_file, tmp_path / "dense.db")
    store = ("--store", "sqlite:///dense.db")
    with serving(*store, folder=tmp_path, settings={"GRAPH_EXECUTION_TIMEOUT": "60"}) as server:
        server.ask(f"{{ events(first: 1, filter: {{{HALF_EARTH}}}) {{ totalCount }} }}")
        before = high_water_mark(server.process.pid)
        total = f"events(first: 1, filter: {{{HALF_EARTH}}}) {{ totalCount }}"
        query = "{" + " ".join(f"a{number}: {total}" for number in range(10)) + "}"
        url = server.url.replace("http", "ws", 1)
        codes: Counter[str] = Counter()
        lookups = 0
        async with (
            websockets.connect(url, subprotocols=["graphql-transport-ws"], max_size=None) as attacker,  # type: ignore[list-item]
            httpx.AsyncClient(timeout=GUARD_S) as other,
        ):
            await attacker.send('{"type": "connection_init"}')
            assert json.loads(await attacker.recv())["type"] == "connection_ack"
            for number in range(50):
                await attacker.send(json.dumps({"type": "subscribe", "id": str(number), "payload": {"query": query}}))
            ended = 0
            async with asyncio.timeout(GUARD_S):
                while ended < 50:
                    message = json.loads(await attacker.recv())
                    ended += message["type"] in ("complete", "error")
                    payload = message.get("payload") or {}
                    errors = payload.get("errors", []) if message["type"] == "next" else payload
                    codes.update(error["extensions"]["code"] for error in errors or [{"extensions": {"code": "OK"}}])
                    answer = await other.post(server.url, json={"query": '{ event(eventId: "d00001") { mag } }'})
                    lookups += answer.json()["data"]["event"] is not None
        grown = high_water_mark(server.process.pid) - before

    assert codes.keys() <= {"OK", "OVERLOADED", "QUERY_TOO_COMPLEX", "TIMEOUT"}, codes
    assert codes["OVERLOADED"], "one caller may not have so many heavy operations at the same time"
    assert codes["QUERY_TOO_COMPLEX"], "ten totals over half the earth are more than one operation may read"
    assert lookups >= 50, "another request was answered after each message"
    assert grown < MOST_GROWTH_KIB, f"it took {grown:,} KiB"


async def test_as_many_heavy_queries_as_a_frontend_has_connections_are_all_answered(dense: DenseService) -> None:
    nearby = "{ events(first: 20) { nodes { nearby(radiusKm: 500, days: 7, first: 3) { nodes { eventId } } } } }"
    assert reported_points(dense, nearby) > HEAVY_POINTS
    connections = 2 * WorkLimits().caller

    async with httpx.AsyncClient(base_url=dense.url, timeout=GUARD_S) as client:
        asked = [client.post("/graphql", json={"query": nearby}) for _ in range(connections)]
        answers = [answer.json() for answer in await asyncio.gather(*asked)]

    assert [answer.get("errors") for answer in answers] == [None] * connections


def high_water_mark(process: int) -> int:
    """The most memory that a process has had resident, KiB."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise AssertionError("the system does not tell")


def test_a_page_whose_rows_nothing_is_selected_of_is_paid_by_its_rows(dense: DenseService) -> None:
    assert reported_points(dense, "{ events(first: 1000) { pageInfo { hasNextPage } } }") >= 100


def test_neighbours_in_many_years_of_many_events_are_refused_before_they_time_out(dense: DenseService) -> None:
    query = "{ events(first: 190) { nodes { nearby(days: 3653, first: 1) { nodes { id } } } } }"

    assert set(dense.codes(query)) == {"QUERY_TOO_COMPLEX"}
