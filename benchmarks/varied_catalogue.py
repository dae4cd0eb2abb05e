"""The synthetic catalogue with what filters ask for: types, networks, alerts, felt reports and the like.

Equal arguments give equal bytes. Times, magnitudes and depths are those of `benchmarks.catalogue`. One event in a
hundred lies anywhere on the earth.
"""

import random
from collections.abc import Iterator
from typing import Any

import orjson

from benchmarks.catalogue import Catalogue

SEED = 7
NETWORKS = {
    "CA": ("ci", "nc"),
    "Hawaii": ("hv",),
    "Alaska": ("ak",),
    "Idaho": ("uu", "mb"),
    "Texas": ("tx",),
}
"""The end of a region's name → its networks; of all others `us`."""

TYPES = ("earthquake", "quarry blast", "explosion", "ice quake", "nuclear explosion")
OF_100_000 = (97_000, 2_000, 950, 45, 5)
ALERTS = ((8.0, "red"), (7.5, "orange"), (7.0, "yellow"), (5.5, "green"))


def varied_lines(events: int) -> Iterator[bytes]:
    """The file, line by line."""
    rng = random.Random(SEED)  # noqa: S311 - reproducible on purpose
    for line in Catalogue(events).lines():
        feature = orjson.loads(line)
        _vary(feature, rng)
        yield orjson.dumps(feature, option=orjson.OPT_APPEND_NEWLINE)


def _vary(feature: dict[str, Any], rng: random.Random) -> None:
    properties = feature["properties"]
    mag = properties["mag"]
    region = properties["place"].rpartition(", ")[2]
    properties["type"] = rng.choices(TYPES, OF_100_000)[0]
    properties["net"] = rng.choice(NETWORKS.get(region, ("us",)))
    properties["magType"] = "mww" if mag > 5.5 else "mb" if mag > 4.3 else rng.choice(("ml", "ml", "ml", "md"))
    properties["status"] = rng.choices(("reviewed", "automatic"), (4, 1))[0]
    properties["alert"] = next((alert for least, alert in ALERTS if mag >= least), None)
    properties["tsunami"] = int(mag > 6.5)
    if rng.random() < (mag - 2) / 4:
        properties["felt"] = int(rng.expovariate(1 / 10 ** (mag - 2)))
    properties["sig"] = round(mag * mag * 66.7) + properties.get("felt", 0) // 10
    if rng.random() < 0.8:
        properties["gap"] = round(rng.triangular(15, 360, 90), 1)
    if rng.random() < 0.01:
        feature["geometry"]["coordinates"][:2] = [round(rng.uniform(-180, 180), 3), round(rng.uniform(-85, 85), 3)]
