"""Makes the dashboard's plate boundaries: `python -m scripts.plate_boundaries SOURCE.geojson TARGET.json`.

The boundaries are those of Bird (2003), An updated digital model of plate boundaries, Geochem. Geophys. Geosyst. 4,
1027, doi:10.1029/2001GC000252, as converted to GeoJSON by Hugo Ahlenius, Nordpil
(github.com/fraxen/tectonicplates), under the Open Data Commons Attribution License 1.0: name both where they are shown.

The output is a list of lines. Each line is a flat list of longitudes and latitudes, alternating, in hundredths of a
degree: of its first point, and then of the step from each point to the next. A line that meets the dateline ends
there, as in the source.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import hypot
from pathlib import Path
from typing import Any

TOLERANCE = 0.01  # degrees, the step of what is written: 1 km, a pixel where the map is closest to a country

Point = tuple[float, float]  # longitude and latitude, degrees


def main(source: str, target: str) -> None:
    """Read the lines, simplify them, and write them."""
    lines = [steps(simplified(line)) for line in lines_of(json.loads(Path(source).read_text()))]
    written = ",\n".join(json.dumps(line, separators=(",", ":")) for line in lines)
    Path(target).write_text(f"[\n{written}\n]\n")


def lines_of(collection: dict[str, Any]) -> Iterator[list[Point]]:
    """The lines of a collection of LineStrings and MultiLineStrings."""
    for feature in collection["features"]:
        kind, coordinates = feature["geometry"]["type"], feature["geometry"]["coordinates"]
        for line in coordinates if kind == "MultiLineString" else [coordinates]:
            yield [(lon, lat) for lon, lat in line]


def simplified(line: Sequence[Point]) -> list[Point]:
    """The line without points that lie within the tolerance: Douglas and Peucker (1973), Cartographica 10, 112-122."""
    kept = {0, len(line) - 1}
    parts = [(0, len(line) - 1)]
    while parts:
        first, last = parts.pop()
        distances = {at: distance(line[at], line[first], line[last]) for at in range(first + 1, last)}
        farthest = max(distances, key=distances.__getitem__, default=None)
        if farthest is not None and distances[farthest] > TOLERANCE:
            kept.add(farthest)
            parts += [(first, farthest), (farthest, last)]
    return [line[at] for at in sorted(kept)]


def distance(point: Point, start: Point, end: Point) -> float:
    """From a point to the straight line between two others, degrees."""
    (x, y), (x0, y0), (x1, y1) = point, start, end
    length = hypot(x1 - x0, y1 - y0)
    if length == 0:
        return hypot(x - x0, y - y0)
    along = max(0.0, min(1.0, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length**2))
    return hypot(x - x0 - along * (x1 - x0), y - y0 - along * (y1 - y0))


def steps(line: Sequence[Point]) -> list[int]:
    """The first point and the steps from it, in hundredths of a degree, without points that fall together."""
    hundredths = [(round(100 * lon), round(100 * lat)) for lon, lat in line]
    moved = [(lon - lon_before, lat - lat_before) for (lon_before, lat_before), (lon, lat) in pairwise(hundredths)]
    return [number for step in [hundredths[0], *(step for step in moved if step != (0, 0))] for number in step]


if __name__ == "__main__":
    main(*sys.argv[1:])
