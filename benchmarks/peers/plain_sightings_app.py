"""Sightings in the documented way, on one SQLite table with the documented keys and index.

A page of an area, a category or what trends reads the documented partition and filters by `expiresAt`. Nothing but the
key bounds it, but for what trends, whose window is documented. What is near a point has no documented key: it is read
from all categories. Answers are plain JSON. It writes nothing.
"""

import os
import sqlite3
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graph.geography.areas import Circle

CATEGORIES = ("SHAKING", "DAMAGE", "TSUNAMI", "LANDSLIDE", "FIRE", "POWER_OUTAGE", "ROAD_BLOCKED", "OTHER")
COLUMNS = "sightingId, category, areaSlug, text, reportedAt, expiresAt, lat, lon, reporterTier, confirmationCount"
NAMES = COLUMNS.split(", ")
TRUST = {"BRONZE": 0.0, "SILVER": 0.05, "GOLD": 0.10}
LONGEST_S, WINDOW_S = 21_600, 1800

db = sqlite3.connect(os.environ["SIGHTINGS_DB"], isolation_level=None, check_same_thread=False)
db.execute("PRAGMA cache_size = -8192")


def selected(where: str, *values: Any) -> list[dict[str, Any]]:
    """The active sightings that fulfil a condition."""
    rows = db.execute(f"SELECT {COLUMNS} FROM blip WHERE {where}", values)
    now = time.time()
    return [{**dict(zip(NAMES, row, strict=True)), "confidence": confidence(row, now)} for row in rows]


def confidence(row: tuple[Any, ...], now: float) -> float:
    """The documented confidence."""
    return float(min(1.0, min(1.0, (row[5] - now) / WINDOW_S) + min(0.1 * row[9], 0.3) + TRUST[row[8]]))


def area(parameters: dict[str, str]) -> object:
    """The newest of an area."""
    where = "PK = ? AND SK >= 'SIGHTING#' AND SK < 'SIGHTING$' AND expiresAt > ? ORDER BY SK DESC LIMIT ?"
    return selected(where, f"AREA#{parameters['area']}", time.time(), int(parameters["first"]))


def category(parameters: dict[str, str]) -> object:
    """The newest of a category."""
    where = "GSI1PK = ? AND expiresAt > ? ORDER BY GSI1SK DESC LIMIT ?"
    return selected(where, f"CATEGORY#{parameters['category']}", time.time(), int(parameters["first"]))


def near(parameters: dict[str, str]) -> object:
    """The newest near a point."""
    circle = Circle(*(float(parameters[name]) for name in ("lat", "lon", "radiusKm")))
    reach, first = circle.reach, int(parameters["first"])
    west, east = circle.lon - reach.half_width, circle.lon + reach.half_width
    around = "lon BETWEEN ? AND ? OR lon BETWEEN ? AND ? OR lon BETWEEN ? AND ?"
    where = f"GSI1PK = ? AND GSI1SK >= ? AND expiresAt > ? AND lat BETWEEN ? AND ? AND ({around})"
    box = [reach.south, reach.north, *(bound + turn for turn in (0, 360, -360) for bound in (west, east))]
    found = [
        item
        for name in CATEGORIES
        for item in selected(where, f"CATEGORY#{name}", since(LONGEST_S), time.time(), *box)
        if circle.holds(item)
    ]
    return sorted(found, key=lambda item: (item["reportedAt"], item["sightingId"]), reverse=True)[:first]


def trending(parameters: dict[str, str]) -> object:
    """Each category's active sightings within the window, counted, and the most trusted of them."""
    trends = []
    for name in CATEGORIES:
        where = "GSI1PK = ? AND GSI1SK >= ? AND expiresAt > ?"
        found = selected(where, f"CATEGORY#{name}", since(3600 * int(parameters["windowHours"])), time.time())
        ranked = sorted(found, key=lambda item: item["confidence"], reverse=True)
        trends.append({"category": name, "count": len(found), "sightings": ranked[: int(parameters["first"])]})
    return trends


def sighting(parameters: dict[str, str]) -> object:
    """One by its area and its id."""
    where = "PK = ? AND SK >= 'SIGHTING#' AND SK < 'SIGHTING$' AND expiresAt > ? AND sightingId = ?"
    return selected(where, f"AREA#{parameters['area']}", time.time(), parameters["id"])


def since(seconds: int) -> str:
    """The time so long ago, as it stands in keys."""
    return datetime.fromtimestamp(time.time() - seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def route(answer: Callable[[dict[str, str]], object]) -> Route:
    """A route with the name of a function."""

    async def respond(request: Request) -> Response:
        return Response(orjson.dumps(answer(dict(request.query_params))), media_type="application/json")

    return Route(f"/{answer.__name__}", respond)


app = Starlette(routes=[route(each) for each in (area, category, near, trending, sighting)])
