"""Pages of sightings over HTTP, beside the documented way, on the same data and in turn. No request comes twice."""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.servers import Server
from benchmarks.side_by_side import Question, asked_in_turn
from benchmarks.sightings.world import ACTIVE_EVERY, CATEGORIES, QUAKES_TODAY, World

PAGE = 50
RANKED = 10  # of a category
NEAREST_KM, FURTHEST_KM = 5, 500
PLAIN_FIELDS = """sightingId category area text reportedAt expiresAt position { lat lon precisionKm } confirmations
  reporterTier"""
FIELDS = f"{PLAIN_FIELDS} confidence {{ total }}"
PAGES = f"""query ($filter: SightingFilter!, $first: Int!) {{
  sightings(first: $first, filter: $filter) {{ nodes {{ {FIELDS} }} pageInfo {{ hasNextPage endCursor }} }}
}}"""
PLAIN_PAGES = PAGES.replace(FIELDS, PLAIN_FIELDS)
ONE = f"query ($id: ID!) {{ sighting(sightingId: $id) {{ {FIELDS} }} }}"
COUNTS = "query ($window: Int!) { trending(windowSeconds: $window) { category count startsAt } }"
RANKINGS = f"""query ($window: Int!, $first: Int!) {{
  trending(windowSeconds: $window) {{ category count sightings(first: $first) {{ nodes {{ {FIELDS} }} }} }}
}}"""
OF_EVENT = f"""query ($id: ID!, $first: Int!) {{
  event(eventId: $id) {{ sightings(first: $first) {{ nodes {{ {FIELDS} }} }} }}
}}"""


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
    return asked_in_turn(questions(world, areas, times), ours, plain)


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
            {"window": 3600 * hours, **({"first": first} if ranked else {})},
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
