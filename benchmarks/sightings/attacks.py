"""Attacks on sightings, by one user or by as many as there are tokens in the file ATTACK_USERS.

The sightings that they read are in the store already: one area, or rather one place, has 100,000 active ones.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from itertools import count, cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import orjson

from benchmarks.sightings.crowd import PLACE, SLUG
from benchmarks.sightings.reading import FIELDS
from benchmarks.sightings.writing import CONFIRM, REPORT

if TYPE_CHECKING:
    from benchmarks.attacks import Attack

USERS = os.environ.get("ATTACK_USERS", "")
SUBSCRIBERS = 100  # of one connection
LISTENING_S = 1.0
TIMEOUT_S = 30
BACKWARD = f'sightings(last: 100, filter: {{areas: ["{SLUG}"]}}) {{ nodes {{ {FIELDS} }} pageInfo {{ startCursor }} }}'
BEFORE = f"""query ($before: String) {{
  sightings(last: 100, before: $before, filter: {{areas: ["{SLUG}"]}}) {{
    nodes {{ {FIELDS} }} pageInfo {{ hasNextPage startCursor }}
  }}
}}"""
LARGEST = "sightings(first: 100, filter: {near: {lat: 1%d, lon: 20, radiusKm: 40000}}) { nodes { id } }"
DENSEST = f"""sightings(first: 100, filter: {{near: {{lat: {PLACE.lat}, lon: {PLACE.lon}, radiusKm: 31%d}},
  categories: [TSUNAMI]}}) {{ nodes {{ id }} }}"""
BESIDE = f"""sightings(first: 100, filter: {{near: {{lat: {PLACE.lat + 0.4}, lon: {PLACE.lon}, radiusKm: 3%d}}}}) {{
  nodes {{ id }}
}}"""
CANDIDATES = f"""{{ sightings(first: 100, filter: {{areas: ["{SLUG}"]}}) {{
  nodes {{
    {FIELDS} event {{ id place }} candidates {{ differenceSeconds distanceKm plausibility event {{ id mag place }} }}
  }}
}} }}"""
RANKINGS = f"{{ trending(windowSeconds: 86400) {{ category count sightings(first: 100) {{ nodes {{ {FIELDS} }} }} }} }}"
MANY_AREAS = orjson.dumps([f"town-{number:04}" for number in range(99)] + [SLUG]).decode()
OF_MANY_AREAS = f"{{ sightings(first: 1000, filter: {{areas: {MANY_AREAS}}}) {{ nodes {{ {FIELDS} }} }} }}"
SUBSCRIBE = "subscription { sightings { kind node { id category text } } }"


async def reports_at_one_place(attack: "Attack") -> None:
    """Reports of many users, a few metres apart: most of them repeat each other."""
    number = next(_numbers())
    input_ = {"category": "FIRE", "lat": 10 + number % 100 / 1e5, "lon": 20, "text": "It burns."}
    await _post(attack, REPORT, {"input": input_})


async def reports_in_one_area(attack: "Attack") -> None:
    """Reports of many users, each a new sighting of the same area, of a cell of its own."""
    number = next(_numbers())
    input_ = {"category": "SHAKING", "area": SLUG, "lat": -60 + number % 1000 / 10, "lon": number // 1000 / 10}
    await _post(attack, REPORT, {"input": input_})


async def confirmations(attack: "Attack") -> None:
    """A thousand confirmations of one sighting, as many as possible at the same time."""
    hot = await attack.once("hot", lambda: _hot(attack))
    await _post(attack, CONFIRM, {"id": hot})


async def backwards(attack: "Attack") -> None:
    """Pages of the crowded area from its end on, each before the last one."""
    before = attack.prepared.get("before")
    given = {"before": before.result()} if before else {}
    body = orjson.dumps({"query": BEFORE, "variables": given})
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ['ATTACK_TOKEN']}"}
    async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_S) as client:
        answer = await client.post(f"http://{attack.host}:{attack.port}/graphql", content=body, headers=headers)
    data = answer.json().get("data")
    attack.answers["200" if data else answer.text[:60]] += 1
    if data and (cursor := data["sightings"]["pageInfo"]["startCursor"]):
        attack.prepared["before"] = asyncio.get_running_loop().create_future()
        attack.prepared["before"].set_result(cursor)


async def subscribers(attack: "Attack") -> None:
    """Subscriptions to everything, while users report."""
    async with attack.socket() as socket:
        for number in range(SUBSCRIBERS):
            await socket.send(
                orjson.dumps({"type": "subscribe", "id": f"{number}", "payload": {"query": SUBSCRIBE}}).decode()
            )
        await reports_in_one_area(attack)
        with_time = asyncio.get_running_loop().time() + LISTENING_S
        while (left := with_time - asyncio.get_running_loop().time()) > 0:
            try:
                message = orjson.loads(await asyncio.wait_for(socket.recv(), left))
            except TimeoutError:
                break
            kind = message["type"]
            attack.answers[message["payload"][0]["extensions"]["code"] if kind == "error" else kind] += 1


def odd_inputs(attack: "Attack") -> Awaitable[None]:
    """Inputs that are too large, or that make no sense."""
    return next(_odd())(attack)


@cache
def _odd() -> Iterator[Callable[["Attack"], Awaitable[None]]]:
    inputs: list[dict[str, Any]] = [
        {"category": "FIRE", "area": "x" * 1_000_000},
        {"category": "FIRE", "area": "\u202e\u0301" * 60},
        {"category": "FIRE", "area": "𝕏" * 128},
        {"category": "F" * 500_000, "area": "a"},
        {"category": "FIRE", "lat": 90, "lon": -180, "text": "<" * 100_000},
        {"category": "FIRE", "lat": 1e308, "lon": -1e308},
        {"category": "FIRE", "lat": 89.9999999, "lon": 0, "eventId": "x" * 100_000},
        {"category": "SHAKING", "lat": -90, "lon": 180, "questionnaire": {"felt": 1e300}},
    ]
    variables = [*({"input": each} for each in inputs)]
    filters: list[dict[str, Any]] = [
        {"areas": ["x" * 100] * 10_000},
        {"areas": [f"a{number}" for number in range(100)]},
        {"categories": ["FIRE"] * 10_000},
        {"near": {"lat": 90, "lon": 180, "radiusKm": 40_100}},
        {"near": {"lat": 89.99, "lon": 0, "radiusKm": 31}},
        {"eventId": "\x00" * 10_000},
    ]
    page = "query ($filter: SightingFilter) { sightings(first: 100, filter: $filter) { nodes { id } } }"
    return cycle(
        [
            *(lambda a, given=given: _post(a, REPORT, given) for given in variables),
            *(lambda a, given=given: a.post_variables(page, {"filter": given}) for given in filters),
            lambda a: a.post_variables("query ($a: ID!) { sighting(sightingId: $a) { id } }", {"a": "x" * 1_000_000}),
        ]
    )


@cache
def _numbers() -> Iterator[int]:
    return count()


@cache
def _users() -> Iterator[str]:
    """The tokens of all users, again and again."""
    return cycle(Path(USERS).read_text().split())


async def _post(attack: "Attack", query: str, variables: dict[str, Any]) -> None:
    """Send a mutation of the next user."""
    await attack.post_variables(query, variables, next(_users()))


async def _hot(attack: "Attack") -> str:
    """The id of a sighting that all others confirm."""
    body = orjson.dumps({"query": REPORT, "variables": {"input": {"category": "FIRE", "area": "The hot place"}}})
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {next(_users())}"}
    async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_S) as client:
        answer = await client.post(f"http://{attack.host}:{attack.port}/graphql", content=body, headers=headers)
    return str(answer.json()["data"]["reportSighting"]["sighting"]["sightingId"])
