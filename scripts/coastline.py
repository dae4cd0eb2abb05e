"""Makes the dashboard's coastline: `python -m scripts.coastline graph/pages/dashboard/page/coastline.json`.

The land is Natural Earth's at 1:110,000,000, which is in the public domain (naturalearthdata.com), from the npm
package `world-atlas`. The output is a list of rings. Each ring is a flat list of longitudes and latitudes,
alternating, in tenths of a degree, and ends at its first point. The rings are cut along the edge of the map, the
meridian opposite to its centre. Longitudes continue from that edge beyond 180 degrees, so the drawing code can
ignore the dateline.
"""

import json
import math
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from scripts.npm_package import NpmPackage

WORLD_ATLAS = NpmPackage(
    "world-atlas",
    "2.0.2",
    sha512="IXfV0qwlKXpckz1FhwXVwKRjiIhOnWttOskm5CtxMsjgE/MXAYRHWJqgXOpM8IkcPBoXnyTU5lFHcYa5ChG0LQ==",
)
WEST = -30  # edge of the map, °E: through the Atlantic, which leaves the Pacific and its ring of earthquakes whole
STEP = 2.0  # degrees of latitude between points along that edge, which the projection bends

Point = tuple[float, float]  # longitude and latitude, degrees
Ring = list[Point]  # its last point is its first one again


def main(path: str) -> None:
    """Fetch the land, cut it, and write it."""
    topology = json.loads((WORLD_ATLAS.fetched() / "land-110m.json").read_text())
    rings = [rounded(part) for ring in decoded(topology) for part in cut(unwound(ring))]
    lines = ",\n".join(json.dumps(ring, separators=(",", ":")) for ring in rings if len(ring) >= 8)
    Path(path).write_text(f"[\n{lines}\n]\n")


def decoded(topology: dict[str, Any]) -> Iterator[Ring]:
    """The rings of a TopoJSON topology: arcs of differences in whole steps, each shared by its neighbours.

    Source: https://github.com/topojson/topojson-specification
    """
    (x_scale, y_scale), (x_first, y_first) = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs = []
    for differences in topology["arcs"]:
        x, y, arc = 0, 0, []
        for dx, dy in differences:
            x, y = x + dx, y + dy
            arc.append((x * x_scale + x_first, y * y_scale + y_first))
        arcs.append(arc)
    for geometry in topology["objects"]["land"]["geometries"]:
        for polygon in geometry["arcs"]:
            for numbers in polygon:
                parts = [arcs[number] if number >= 0 else arcs[~number][::-1] for number in numbers]
                yield [parts[0][0], *(point for part in parts for point in part[1:])]


def unwound(ring: Ring) -> Ring:
    """The ring with longitudes that never jump. They may leave their usual range.

    A ring that ends 360 degrees away from its beginning goes around a pole, and is closed through the pole.
    """
    unwound = [ring[0]]
    for (before, _), (lon, lat) in pairwise(ring):
        unwound.append((unwound[-1][0] + math.remainder(lon - before, 360), lat))
    if abs(unwound[-1][0] - unwound[0][0]) > 180:  # Antarctica: land goes around no other pole
        unwound += [(unwound[-1][0], -90.0), (unwound[0][0], -90.0), unwound[0]]
    return unwound


def cut(ring: Ring) -> Iterator[Ring]:
    """The parts of an unwound ring within the map, each moved by multiples of 360 degrees into the map's range."""
    lons = [lon for lon, _ in ring]
    for turn in range(math.floor((min(lons) - WEST) / 360), math.ceil((max(lons) - WEST) / 360)):
        moved = [(lon - 360 * turn, lat) for lon, lat in ring]
        part = beyond(mirrored(beyond(mirrored(moved), -WEST - 360)), WEST)
        if part:
            yield along_edges(part)


def beyond(ring: Ring, least: float) -> Ring:
    """The part of a ring that lies east of a meridian: Sutherland and Hodgman (1974), CACM 17, 32-42."""
    kept: Ring = []
    for (lon, lat), (next_lon, next_lat) in pairwise(ring):
        if lon >= least:
            kept.append((lon, lat))
        if (lon >= least) != (next_lon >= least):
            kept.append((least, lat + (next_lat - lat) * (least - lon) / (next_lon - lon)))
    return [*kept, kept[0]] if kept else []


def mirrored(ring: Ring) -> Ring:
    return [(-lon, lat) for lon, lat in ring]


def along_edges(ring: Ring) -> Ring:
    """The ring with additional points along the edge of the map."""
    dense = [ring[0]]
    for (lon, lat), (next_lon, next_lat) in pairwise(ring):
        if lon == next_lon and lon in (WEST, WEST + 360):
            steps = math.ceil(abs(next_lat - lat) / STEP)
            dense += [(lon, lat + (next_lat - lat) * step / steps) for step in range(1, steps)]
        dense.append((next_lon, next_lat))
    return dense


def rounded(ring: Sequence[Point]) -> list[int]:
    """The ring in tenths of a degree, without consecutive equal points."""
    tenths = [(round(lon * 10), round(lat * 10)) for lon, lat in ring]
    return [number for point, _ in groupby(tenths) for number in point]


if __name__ == "__main__":
    main(*sys.argv[1:])
