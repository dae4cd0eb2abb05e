"""How soon a webhook arrives after the answer of the mutation that caused it: alone, and beside endpoints that hang."""

import time
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles

from benchmarks.cpus import Cpus
from benchmarks.markdown import table
from benchmarks.triggers.programs import USER, Client, serving
from benchmarks.triggers.receiver import Receiver, receiving
from benchmarks.triggers.stores import TYPE, done, payload, queue_events

PAUSE_S = 0.05  # between two mutations
SETTLE_S = 3.0  # for the service to take its lease, and to find what waits
HANGING = (0, 1, 50)  # endpoints
WAITING = 200  # deliveries of each endpoint that hangs

ENDPOINT = "mutation ($url: String!) { createEndpoint(input: {url: $url}) { endpoint { endpointId } } }"
WATCH = """mutation ($endpoint: ID!) {
  createWatch(input: {name: "all", endpointId: $endpoint}) { watch { watchId } }
}"""
INGEST = "mutation ($event: EventInput!) { ingestEvents(input: {events: [$event]}) { upserted } }"
CREATE = """mutation ($type: String!, $payload: JSON!) {
  createTriggerEvent(input: {type: $type, payload: $payload}) { triggerEvent { eventId } }
}"""
INBOX = "query ($first: Int!) { triggerEvents(first: $first) { nodes { eventId payload } } }"


def of_watches(number: int, folder: Path, cpus: Cpus) -> str:
    """So many earthquakes, one after the other."""
    with receiving(cpus.load) as receiver, serving(folder / "watches.db", cpus.server, folder) as (_, client):
        endpoint = client.ask(ENDPOINT, {"url": receiver.url()})["createEndpoint"]["endpoint"]["endpointId"]
        client.ask(WATCH, {"endpoint": endpoint})
        time.sleep(SETTLE_S)
        answered = {f"us{each}": _ingest(client, f"us{each}") for each in range(number)}
        receiver.wait_for(number)
        arrivals = receiver.arrivals()
        nodes = client.ask(INBOX, {"first": number})["triggerEvents"]["nodes"]
    earthquakes = {node["eventId"]: node["payload"]["earthquake"]["eventId"] for node in nodes}
    delays = [(at - answered[earthquakes[webhook_id]]) / 1e6 for webhook_id, at in arrivals.items()]
    return table(
        ["ms after the answer of `ingestEvents`", "p50", "p95", "most"], [["a watch's webhook", *_cells(delays)]]
    )


def beside_hanging(number: int, folder: Path, cpus: Cpus) -> str:
    """So many events to a healthy endpoint, while deliveries wait for endpoints that hang."""
    rows, p99s = [], list[float]()
    for hanging in HANGING:
        path = folder / f"hanging{hanging}.db"
        with receiving(cpus.load) as receiver:
            for each in range(hanging):
                done(queue_events(path, f"{USER}{each}", receiver.url("hang"), WAITING))
            with serving(path, cpus.server, folder) as (_, client):
                delays = _healthy(client, receiver, number)
        cut = quantiles(delays, n=100)
        p99s.append(cut[98])
        more = f"{cut[98] - p99s[0]:+.1f}"
        rows.append([f"{hanging} endpoints hang", f"{cut[49]:.1f}", f"{cut[98]:.1f}", f"{max(delays):.1f}", more])
    return table(["ms after the answer of `createTriggerEvent`", "p50", "p99", "most", "p99 beside none"], rows)


def _healthy(client: Client, receiver: Receiver, number: int) -> list[float]:
    client.ask(ENDPOINT, {"url": receiver.url()})
    time.sleep(SETTLE_S)
    answered = {}
    for each in range(number):
        event = client.ask(CREATE, {"type": TYPE, "payload": payload(each)})["createTriggerEvent"]["triggerEvent"]
        answered[event["eventId"]] = time.monotonic_ns()
        time.sleep(PAUSE_S)
    receiver.wait_for(number)
    return [(at - answered[webhook_id]) / 1e6 for webhook_id, at in receiver.arrivals().items()]


def _ingest(client: Client, event_id: str) -> int:
    """Store an earthquake. Returns when it was answered, monotonic nanoseconds."""
    now = time.time_ns() // 1_000_000
    event = {"eventId": event_id, "eventTsMs": now, "mag": 4.5, "lat": 35.6, "lon": -117.6, "place": "Here"}
    client.ask(INGEST, {"event": event})
    at = time.monotonic_ns()
    time.sleep(PAUSE_S)
    return at


def _cells(delays: Sequence[float]) -> list[str]:
    cut = quantiles(delays, n=100)
    return [f"{each:.1f}" for each in (cut[49], cut[94], max(delays))]
