"""Attacks on triggers, by one user who may make 20 endpoints and 1,000 watches.

The endpoints are at a receiver whose address is in ATTACK_RECEIVER: some for each way in which it answers. Each wants
events of one type, so that every attack has its own.
"""

import asyncio
import os
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx
import orjson

if TYPE_CHECKING:
    from benchmarks.attacks import Attack

RECEIVER = os.environ.get("ATTACK_RECEIVER", "")
OF_A_KIND = 4  # endpoints
WATCHES = 300
LARGEST = 255_000  # bytes of a payload
REPLAYED = 500  # deliveries
FILLED_TYPE = "order.completed"  # of all events of the attacker's inbox, all of which are received
AT_ONCE = 25  # requests that prepare an attack
TIMEOUT_S = 30

ENDPOINTS = "{ triggerEndpoints(first: 40) { nodes { endpointId types } } }"
CREATE_ENDPOINT = """mutation ($url: String!, $types: [String!]) {
  createEndpoint(input: {url: $url, types: $types}) { endpoint { endpointId } }
}"""
CREATE_WATCH = "mutation ($name: String!) { createWatch(input: {name: $name}) { watch { watchId } } }"
CREATE = """mutation ($type: String!, $payload: JSON!, $key: String) {
  createTriggerEvent(input: {type: $type, payload: $payload, idempotencyKey: $key}) { duplicate }
}"""
TEN_KEYS = "mutation ($payload: JSON!) { %s }"
INGEST = "mutation ($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }"
REPLAY = "mutation ($id: ID!) { replayDeliveries(input: {endpointId: $id}) { replayed } }"
NOTHING = f'triggerEvents(first: 50, filter: {{types: ["{FILLED_TYPE}"], statuses: [DELIVERED]}}) {{ nodes {{ id }} }}'


def events_to(kind: str) -> Callable[["Attack"], Awaitable[None]]:
    """Creates events for endpoints that answer in one way."""

    async def attack(attack: "Attack") -> None:
        await attack.once(kind, lambda: _endpoints(attack, kind))
        await attack.post_variables(CREATE, {"type": f"attack.{kind}", "payload": {"n": 1}})

    return attack


async def large_payloads(attack: "Attack") -> None:
    """Creates events as large as they may be."""
    await attack.once("ok", lambda: _endpoints(attack, "ok"))
    async with attack.uploads:
        await attack.post_variables(CREATE, {"type": "attack.ok", "payload": {"text": "x" * LARGEST}})


async def watches_that_match(attack: "Attack") -> None:
    """Ingests events that hundreds of watches want."""
    await attack.once("watches", lambda: _watches(attack))
    now = time.time_ns() // 1_000_000
    event = {"eventId": uuid4().hex, "eventTsMs": now, "mag": 4.5, "lat": random.uniform(-80, 80), "lon": 0}  # noqa: S311
    await attack.post_variables(INGEST, {"events": [event]})


async def replays(attack: "Attack") -> None:
    """Replays everything, again and again."""
    endpoint_id = await attack.once("replays", lambda: _delivered(attack))
    await attack.post_variables(REPLAY, {"id": endpoint_id})


async def idempotency_keys(attack: "Attack") -> None:
    """Creates ten events a request, each with a key of its own."""
    fields = " ".join(
        f'f{n}: createTriggerEvent(input: {{type: "attack.key", payload: $payload, idempotencyKey: "{uuid4().hex}"}}) '
        "{ duplicate }"
        for n in range(10)
    )
    await attack.post_variables(TEN_KEYS % fields, {"payload": {"n": 1}})


async def _endpoints(attack: "Attack", kind: str) -> str:
    """Make the endpoints of a kind, unless they are there. Returns the id of one."""
    types = [f"attack.{kind}"]
    nodes = (await _ask(attack, ENDPOINTS))["triggerEndpoints"]["nodes"]
    if found := [node["endpointId"] for node in nodes if node["types"] == types]:
        return str(found[0])
    created = [
        await _ask(attack, CREATE_ENDPOINT, {"url": f"{RECEIVER}{kind}", "types": types}) for _ in range(OF_A_KIND)
    ]
    return str(created[0]["createEndpoint"]["endpoint"]["endpointId"])


async def _watches(attack: "Attack") -> None:
    """Make many watches of everything."""
    await _ask_all(attack, CREATE_WATCH, [{"name": f"{number}"} for number in range(WATCHES)])


async def _delivered(attack: "Attack") -> str:
    """The id of an endpoint with events to replay."""
    endpoint_id = await _endpoints(attack, "ok")
    await _ask_all(attack, CREATE, [{"type": "attack.ok", "payload": {"n": n}} for n in range(REPLAYED)])
    return endpoint_id


async def _ask_all(attack: "Attack", query: str, variables: Sequence[Mapping[str, Any]]) -> None:
    """Ask some at a time."""
    for first in range(0, len(variables), AT_ONCE):
        await asyncio.gather(*[_ask(attack, query, each) for each in variables[first : first + AT_ONCE]])


async def _ask(attack: "Attack", query: str, variables: Mapping[str, Any] | None = None) -> Any:
    """The data of the answer."""
    body = orjson.dumps({"query": query, "variables": variables})
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ['ATTACK_TOKEN']}"}
    async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_S) as client:
        answer = await client.post(f"http://{attack.host}:{attack.port}/graphql", content=body, headers=headers)
    return answer.json()["data"]
