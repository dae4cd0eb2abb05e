"""Every log of a request has the id that its client received, whichever way the request came in."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
import strawberry

from graph.domain import Domain
from graph.domains import DOMAINS
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.otlp.messages import record, request
from tests.domains.request_logs.test_logged import EVENT, logged
from tests.service import Service, running, settings
from tests.store.samples import NOON, HeldClock
from tests.subscribers import EVENTS, initialised

TWO_INGESTS = f"""mutation {{
  one: ingestRecent(input: {{limit: 3}}) {{ requestId }}
  two: ingestEvents(input: {{events: [{EVENT}]}}) {{ requestId }} }}"""
THREE_FIELDS = '{ one: event(eventId: "us1") { id } two: event(eventId: "us1") { id } events { totalCount } }'
THREE_ROUTES = ["/earthquakes/event", "/earthquakes/event", "/earthquakes"]

Send = Callable[[httpx.Client], httpx.Response]


def graphql(query: str) -> Send:
    return lambda http: http.post("/graphql", json={"query": query})


def streamed(http: httpx.Client) -> httpx.Response:
    """A subscription whose client leaves after the first bytes."""
    accept = {"Accept": "text/event-stream"}
    with http.stream("POST", "/graphql", json={"query": EVENTS}, headers=accept) as answer:
        next(answer.iter_raw())
    return answer


WAYS: dict[str, tuple[Send, list[str]]] = {
    "three root fields": (graphql(THREE_FIELDS), THREE_ROUTES),
    "two ingests": (graphql(TWO_INGESTS), ["/ingest/recent", "/ingest/events"]),
    "a refused document": (graphql("{ swordfish }"), ["/graphql"]),
    "a request by GET": (
        lambda http: http.get("/graphql", params={"query": "{ events { totalCount } }"}),
        ["/earthquakes"],
    ),
    "a stream": (streamed, ["/earthquakes/live"]),
    "a download": (lambda http: http.get("/export/events.ndjson"), ["/export/events"]),
    "a refused download": (lambda http: http.get("/export/events.ndjson?minMag=5"), ["/export/events"]),
    "FDSN": (lambda http: http.get("/fdsnws/event/1/query?eventid=us1"), ["/fdsnws/event/1/query"]),
    "OTLP": (
        lambda http: http.post(
            "/v1/logs",
            content=request(record("paid")).SerializeToString(),
            headers={"Content-Type": "application/x-protobuf"},
        ),
        ["/v1/logs"],
    ),
    "OpenLineage": (lambda http: http.post("/api/v1/lineage", content=b"{"), ["/api/v1/lineage"]),
}
"""A way in → how to send a request, and the routes of its logs."""


@pytest.mark.parametrize(("send", "routes"), WAYS.values(), ids=WAYS.keys())
def test_every_log_of_a_request_has_the_id_that_its_client_received(
    tmp_path: Path, usgs: UsgsServer, send: Send, routes: list[str]
) -> None:
    with running(settings(tmp_path / "ids.db", usgs), clock=HeldClock()) as service:
        answer = send(service.http)

    request_id = answer.headers["X-Request-Id"]
    logs = logged(tmp_path / "ids.db")
    # A key is a time and an id, so each log of a request has a time of its own.
    assert [(log["route"], log["requestId"], log["sk"]) for log in logs] == [
        (route, request_id, f"{NOON + number}#{request_id}") for number, route in enumerate(routes)
    ]


def test_an_ingest_answers_with_the_id_of_its_request(service: Service) -> None:
    answer = service.http.post("/graphql", json={"query": TWO_INGESTS})
    request_id = answer.headers["X-Request-Id"]
    assert answer.json() == {"data": {"one": {"requestId": request_id}, "two": {"requestId": request_id}}}


@strawberry.type
class BrokenQueries:
    @strawberry.field
    async def broken(self) -> bool:
        raise RuntimeError("a defect")


async def test_an_operation_of_a_websocket_has_an_id_of_its_own_which_its_failure_names(
    tmp_path: Path, usgs: UsgsServer
) -> None:
    file, domains = tmp_path / "ids.db", (*DOMAINS, Domain(name="broken", queries=(BrokenQueries,)))

    def told(message: dict[str, Any]) -> str:
        assert message["type"] == "next"
        (found,) = set(re.findall("request id ([-0-9a-f]{36})", orjson.dumps(message).decode()))
        return str(found)

    with running(settings(file, usgs), clock=HeldClock(), domains=domains) as service:
        async with initialised(service.url) as client:
            await client.ask("1", "{ broken }")
            first = told(await client.next_message())
            assert await client.next_message() == {"type": "complete", "id": "1"}
            await client.ask("2", "{ one: broken two: broken }")
            second = told(await client.next_message())

    assert first != second
    logs = await asyncio.to_thread(logged, file)
    assert [(log["route"], log["requestId"]) for log in logs] == [
        ("/broken", request_id) for request_id in (first, second, second)
    ]
