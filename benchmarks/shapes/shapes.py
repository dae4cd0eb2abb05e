"""Shapes of queries: what they select, and of which events. All requests of a shape are different."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from benchmarks.answers import Asking
from benchmarks.catalogue import REGIONS
from benchmarks.workload import NODE, PAGE, Page, Query, Question, queries, window

INFO = "pageInfo { hasNextPage endCursor }"
COUNTED = f"totalCount {PAGE}"
NODES = f"nodes {{ {NODE} }} {INFO}"
THREE_FIELDS = f"edges {{ node {{ eventId mag place }} }} {INFO}"
ALL_FIELDS = f"""edges {{ cursor node {{
  {NODE} id time magType type status updatedAt url tsunami felt alert sig sourceDepth net code ids sources types nst
  dmin rms gap cdi mmi title detail revision recordedAt publishedAt preferredId
}} }} {INFO}"""
NEARBY = "nodes { eventId nearby(radiusKm: 50, days: 7, first: 3) { nodes { eventId mag } } }"
SPREADING = f"edges {{ ...Edge }} paging: {INFO}"
FRAGMENTS = """ fragment Edge on EventEdge { at: cursor event: node { ...Event ...Place } }
  fragment Event on Event { id: eventId time: eventTsMs magnitude: mag source recorded: ingestedAt day: dayBucket }
  fragment Place on Event { name: place latitude: lat longitude: lon depth }"""

Filter = Callable[[random.Random], Mapping[str, Any]]
"""Draws conditions of our filter, besides those of the question."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape of queries."""

    name: str
    query: Query
    selected: str = PAGE
    fragments: str = ""
    filter: Filter | None = None
    is_backward: bool = False
    is_ours_alone: bool = False  # other servers do not have it

    def bodies(self, asking: Asking) -> Iterator[bytes]:
        """Requests of this shape to a server."""
        rng = random.Random(self.name)  # noqa: S311 - reproducible on purpose
        for question in self.query.questions():
            yield self._body(asking, question, rng)

    def _body(self, asking: Asking, question: Question, rng: random.Random) -> bytes:
        if not isinstance(question, Page):
            return asking.body(question)
        request = orjson.loads(asking.body(question, " ".join(self.selected.split())))
        request["query"] += self.fragments
        if self.is_backward:
            request["query"] = request["query"].replace("first: $first, after: $after", "last: $first, before: $after")
        if self.filter:
            variables = request["variables"]
            variables["filter"] = {**variables.get("filter", {}), **self.filter(rng)}
        return orjson.dumps(request)


def shapes(events: int) -> Sequence[Shape]:
    """All shapes, those of `benchmarks.compare` first."""
    usual = queries(events)
    q1, _, _, deep, _, large = usual
    small = Query("20 of Q1", "", lambda rng: Page(20, window(rng, 30, 2.0)))
    return [
        *(Shape(f"{query.name}: {query.meaning}", query) for query in usual),
        Shape("Q1, three fields", q1, THREE_FIELDS),
        Shape("Q1, all fields", q1, ALL_FIELDS, is_ours_alone=True),
        Shape("Q1, fragments and aliases", q1, SPREADING, FRAGMENTS),
        Shape("Q1, `nodes`", q1, NODES, is_ours_alone=True),
        Shape("Q6, `nodes`, three fields", large, "nodes { eventId mag place }", is_ours_alone=True),
        Shape("Q6, GeoJSON", large, "asGeoJson", is_ours_alone=True),
        Shape("Q4 backward", deep, is_backward=True, is_ours_alone=True),
        Shape("20 of Q1, each with `nearby`", small, NEARBY, is_ours_alone=True),
        *_filtered(),
        *(Shape(f"{query.name} with `totalCount`", query, COUNTED) for query in (q1, deep, large)),
        Shape("Q4 backward with `totalCount`", deep, COUNTED, is_backward=True, is_ours_alone=True),
        Shape("Q6, GeoJSON with `totalCount`", large, "totalCount asGeoJson", is_ours_alone=True),
    ]


def _filtered() -> Iterator[Shape]:
    """Filters beside the time and the magnitude."""
    filters: Mapping[str, Filter] = {"box": _box, "circle": _circle, "depth": _depth}
    year = Query("year", "", lambda rng: Page(100, window(rng, 365)))
    for name, filter_ in filters.items():
        yield Shape(f"100 of a year, {name}", year, filter=filter_, is_ours_alone=True)
        yield Shape(f"100 of a year, {name}, with `totalCount`", year, COUNTED, filter=filter_, is_ours_alone=True)


def _box(rng: random.Random) -> Mapping[str, Any]:
    region, half = rng.choice(REGIONS), rng.uniform(0.5, 3)
    lat, lon = rng.gauss(region.lat, region.spread), rng.gauss(region.lon, region.spread)
    box = {"minLat": lat - half, "maxLat": lat + half, "minLon": _lon(lon - half), "maxLon": _lon(lon + half)}
    return {"box": box}


def _circle(rng: random.Random) -> Mapping[str, Any]:
    region = rng.choice(REGIONS)
    lat, lon = rng.gauss(region.lat, region.spread), rng.gauss(region.lon, region.spread)
    return {"circle": {"lat": lat, "lon": _lon(lon), "radiusKm": rng.uniform(50, 300)}}


def _depth(rng: random.Random) -> Mapping[str, Any]:
    least = rng.uniform(0, 100)
    return {"minDepth": least, "maxDepth": least + rng.uniform(5, 50)}


def _lon(degrees: float) -> float:
    return (degrees + 180) % 360 - 180
