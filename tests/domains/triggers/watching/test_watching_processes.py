"""Two processes serve one store, and one is killed during an ingest: each watch is told of each event once."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from tests.bearers import bearer
from tests.domains.earthquakes.builders import NOON
from tests.domains.entities import ENTITIES
from tests.processes import TIMEOUT_S, Server, serving
from tests.store.engines import new_store

EVENTS, BATCHES, WATCHES = 40, 6, 3

WATCH = 'mutation { createWatch(input: {name: "A watch", filter: {minMagnitude: 1}}) { watch { watchId } } }'
INGEST = "mutation ($input: IngestEventsInput!) { ingestEvents(input: $input) { upserted } }"
INBOX = """query ($after: String) {
  triggerEvents(first: 500, after: $after) { nodes { payload } pageInfo { hasNextPage endCursor } }
}"""


def ask(server: Server, query: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The data of the answer, which must have no errors."""
    request = {"query": query, "variables": variables}
    answer = httpx.post(server.url, json=request, headers=bearer(), timeout=TIMEOUT_S, trust_env=False).json()
    assert answer.keys() == {"data"}, answer
    data: dict[str, Any] = answer["data"]
    return data


def told(server: Server) -> Counter[tuple[str, str]]:
    """How often each watch was told of each earthquake."""
    found, after = Counter[tuple[str, str]](), None
    while True:
        page = ask(server, INBOX, {"after": after})["triggerEvents"]
        payloads = [node["payload"] for node in page["nodes"]]
        found.update((each["watch"]["watchId"], each["earthquake"]["eventId"]) for each in payloads)
        if not page["pageInfo"]["hasNextPage"]:
            return found
        after = page["pageInfo"]["endCursor"]


def batch(number: int) -> dict[str, Any]:
    """The input of an ingest."""
    events = [
        {"eventId": f"us{number}x{n}", "eventTsMs": NOON, "mag": 4.5, "place": "Here", "lat": 1, "lon": 2}
        for n in range(EVENTS)
    ]
    return {"input": {"events": events}}


def test_two_processes_of_which_one_is_killed_tell_each_watch_of_each_event_once(engine: str, tmp_path: Path) -> None:
    store = asyncio.run(new_store(engine, tmp_path, ENTITIES))
    settings = {"GRAPH_STORE": store, "GRAPH_DELIVERER_LEASE": "1"}
    with serving(folder=tmp_path, settings=settings) as first, serving(folder=tmp_path, settings=settings) as second:
        watches = [ask(second, WATCH)["createWatch"]["watch"]["watchId"] for _ in range(WATCHES)]
        for number in range(BATCHES):
            ask(second, INGEST, batch(number))
            if number == BATCHES // 2:
                first.process.kill()  # it began first, so it holds the lease
        wanted = Counter(
            (watch, f"us{number}x{n}") for watch in watches for number in range(BATCHES) for n in range(EVENTS)
        )
        for _ in range(10 * TIMEOUT_S):
            if (found := told(second)).total() >= wanted.total():
                break
            time.sleep(0.1)

        assert found == wanted
