"""Pages of sightings over HTTP, beside the documented way, on the same data and in turn. No request comes twice."""

import http.client
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlencode

import orjson

from benchmarks.markdown import table
from benchmarks.servers import TIMEOUT_S, Connection, Server
from benchmarks.sightings.world import ACTIVE_EVERY, CATEGORIES, QUAKES_TODAY, World

PAGE = 50
RANKED = 10  # of a category
LEAST_PLAIN = 3  # questions of a kind to the plain server
MOST_PLAIN_MS = 20_000  # after which it is not asked further ones
IDLE_MS = 1000  # after which a connection may have been closed
TICK_MS = 0.01  # the least processor time; the system counts it in ticks, of which a quick run may take none
NEAREST_KM, FURTHEST_KM = 5, 500
PLAIN_FIELDS = """sightingId category area text reportedAt expiresAt position { lat lon precisionKm } confirmations
  reporterTier"""
FIELDS = f"{PLAIN_FIELDS} confidence {{ total }}"
PAGES = f"""query ($filter: SightingFilter!, $first: Int!) {{
  sightings(first: $first, filter: $filter) {{ nodes {{ {FIELDS} }} pageInfo {{ hasNextPage endCursor }} }}
}}"""
PLAIN_PAGES = PAGES.replace(FIELDS, PLAIN_FIELDS)
ONE = f"query ($id: ID!) {{ sighting(id: $id) {{ {FIELDS} }} }}"
COUNTS = "query ($hours: Int!) { trending(windowHours: $hours) { category count since } }"
RANKINGS = f"""query ($hours: Int!, $first: Int!) {{
  trending(windowHours: $hours) {{ category count sightings(first: $first) {{ nodes {{ {FIELDS} }} }} }}
}}"""
OF_EVENT = f"""query ($id: String!, $first: Int!) {{
  event(eventId: $id) {{ sightings(first: $first) {{ nodes {{ {FIELDS} }} }} }}
}}"""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to both servers, and what of each answer must be equal."""

    query: str
    variables: Mapping[str, Any]
    of_ours: Callable[[Any], list[Any]]
    path: str | None = None  # of the plain server, which may have no way to answer
    parameters: Mapping[str, Any] | None = None
    of_plain: Callable[[Any], list[Any]] | None = None


def questions(world: World, areas: Sequence[str], times: int) -> dict[str, Iterator[Question]]:
    """So many questions of each kind, all different."""
    rng = random.Random(3)  # noqa: S311 - reproducible on purpose
    return {
        "a page of an area": _areas(rng.sample(list(areas), min(times, len(areas)))),
        "near a point": _near(rng, world, times, crowded=False),
        "near an earthquake of today": _near(rng, world, times, crowded=True),
        "newest of a category": _categories(times),
        "the same without `confidence`": _categories(times, PLAIN_PAGES),
        "trending: the counts": _trending(times, ranked=False),
        "trending: with the ranking of each category": _trending(times, ranked=True),
        "by its id": _ids(rng, world, times),
        "of an earthquake, by any of its ids": _events(world, times),
    }


def measured(world: World, areas: Sequence[str], times: int, ours: Server, plain: Server) -> str:
    """Ask both in turn. Returns a table."""
    head = ["ms", "found", "ours p50", "p95", "CPU", "documented way p50", "p95", "CPU", "ratio of p50", "of CPU"]
    asked = questions(world, areas, times)
    return table(head, [_row(name, each, ours, plain) for name, each in asked.items()])


class PlainConnection:
    """A connection to the plain server."""

    def __init__(self, server: Server) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)

    def ask(self, path: str, parameters: Mapping[str, Any]) -> Any:
        """The answer to a GET."""
        self._http.request("GET", f"/{path}?{urlencode(parameters)}")
        return orjson.loads(self._http.getresponse().read())


def _row(name: str, asked: Iterable[Question], server: Server, plain_server: Server) -> list[str]:
    ours, plain = Connection(server), PlainConnection(plain_server)
    ours_cpu, plain_cpu = server.cpu_seconds(), plain_server.cpu_seconds()
    ours_ms: list[float] = []
    plain_ms: list[float] = []
    found = []
    for question in asked:
        body = orjson.dumps({"query": question.query, "variables": question.variables})
        began = time.perf_counter()
        answer = question.of_ours(ours.ask(body))
        ours_ms.append((time.perf_counter() - began) * 1000)
        found.append(len(answer))
        if question.path and question.parameters and question.of_plain and _may_ask(plain_ms):
            began = time.perf_counter()
            other = question.of_plain(plain.ask(question.path, question.parameters))
            plain_ms.append((time.perf_counter() - began) * 1000)
            if plain_ms[-1] > IDLE_MS:
                ours = Connection(server)
            if answer != other:
                raise RuntimeError(f"{name}, {question.variables}: {answer} and {other}")
    ours_cpu = 1000 * (server.cpu_seconds() - ours_cpu) / len(ours_ms)
    cells = [name, f"{sum(found) / len(found):.1f}", *_cells(ours_ms, ours_cpu)]
    if not plain_ms:
        return [*cells, *[""] * 5]
    plain_cpu = 1000 * (plain_server.cpu_seconds() - plain_cpu) / len(plain_ms)
    ratios = [median(plain_ms) / median(ours_ms), plain_cpu / max(ours_cpu, TICK_MS)]
    return [*cells, *_cells(plain_ms, plain_cpu), *(f"{ratio:,.1f} ×" for ratio in ratios)]


def _may_ask(plain_ms: Sequence[float]) -> bool:
    return len(plain_ms) < LEAST_PLAIN or sum(plain_ms) < MOST_PLAIN_MS


def _cells(times: Sequence[float], cpu: float) -> list[str]:
    cut = quantiles(times, n=20)
    return [f"{cut[9]:.2f}", f"{cut[18]:.2f}", f"{cpu:.2f}"]


def _page(
    filter_: Mapping[str, Any], first: int, path: str, parameters: Mapping[str, Any], query: str = PAGES
) -> Question:
    return Question(
        query,
        {"filter": filter_, "first": first},
        lambda data: _ids_of(data["sightings"]["nodes"]),
        path,
        {**parameters, "first": first},
        _ids_of,
    )


def _ids_of(nodes: Sequence[Mapping[str, Any]]) -> list[str]:
    return [node["sightingId"] for node in nodes]


def _areas(slugs: Sequence[str]) -> Iterator[Question]:
    for slug in slugs:
        yield _page({"areas": [slug]}, PAGE, "area", {"area": slug})


def _near(rng: random.Random, world: World, times: int, *, crowded: bool) -> Iterator[Question]:
    """Random points and radii. Every fourth circle has the dateline or a pole in it."""
    for number in range(times):
        quake = world.quakes[-1 - number % QUAKES_TODAY]
        lat, lon = rng.uniform(-90, 90), rng.uniform(-180, 180)
        if crowded:
            lat, lon = rng.gauss(quake.centre.lat, 0.5), rng.gauss(quake.centre.lon, 0.5)
        elif number % 8 == 0:
            lon = rng.choice((-179.99, 179.99))
        elif number % 8 == 4:
            lat = rng.choice((-89.9, 89.9))
        radius = NEAREST_KM * (FURTHEST_KM / NEAREST_KM) ** rng.random()
        circle = {"lat": max(-90, min(90, lat)), "lon": (lon + 180) % 360 - 180, "radiusKm": radius}
        yield _page({"near": circle}, PAGE, "near", circle)


def _categories(times: int, query: str = PAGES) -> Iterator[Question]:
    """Pages of other sizes, since there are few categories."""
    for number in range(times):
        category, first = CATEGORIES[number % len(CATEGORIES)], PAGE - number // len(CATEGORIES) % PAGE
        yield _page({"categories": [category]}, first, "category", {"category": category}, query)


def _trending(times: int, *, ranked: bool) -> Iterator[Question]:
    """Windows in which all active sightings were reported, so that both ways count the same."""
    for number in range(times):
        hours = 6 + number % 19
        first = RANKED + number // 19 if ranked else RANKED
        yield Question(
            RANKINGS if ranked else COUNTS,
            {"hours": hours, **({"first": first} if ranked else {})},
            lambda data: sorted((each["category"], each["count"]) for each in data["trending"]),
            "trending",
            {"windowHours": hours, "first": first},
            lambda trends: sorted((each["category"], each["count"]) for each in trends),
        )


def _ids(rng: random.Random, world: World, times: int) -> Iterator[Question]:
    for number in rng.sample(range(0, world.number, ACTIVE_EVERY), times):
        item = world.sighting(number)
        yield Question(
            ONE,
            {"id": item["sightingId"]},
            lambda data: _ids_of([data["sighting"]]),
            "sighting",
            {"area": item["areaSlug"], "id": item["sightingId"]},
            _ids_of,
        )


def _events(world: World, times: int) -> Iterator[Question]:
    for number in range(times):
        aliases = [alias for quake in world.quakes[-QUAKES_TODAY:] for alias in quake.aliases]
        alias, first = aliases[number % len(aliases)], PAGE - number // len(aliases) % PAGE
        yield Question(
            OF_EVENT, {"id": alias, "first": first}, lambda data: _ids_of(data["event"]["sightings"]["nodes"])
        )
