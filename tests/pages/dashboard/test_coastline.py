"""The land on the map: rings that are closed, and within the edges that the projection knows."""

import json
import math
import re
from itertools import pairwise

import pytest

from graph.pages.dashboard import FILES

RINGS: list[list[int]] = json.loads(FILES["map/coastline.json"].read_text())
WEST = 10 * int(re.findall(r"WEST = (-?\d+)", FILES["map/projection.js"].read_text())[0])  # tenths of a degree


def points(ring: list[int]) -> list[tuple[int, int]]:
    return list(zip(ring[::2], ring[1::2], strict=True))


def area(ring: list[int]) -> float:
    """On a globe of radius 1; that of the Caspian Sea, a hole, has another sign than the land's."""
    lines = pairwise((math.radians(lon / 10), math.sin(math.radians(lat / 10))) for lon, lat in points(ring))
    return sum((lon - next_lon) * (height + next_height) / 2 for (lon, height), (next_lon, next_height) in lines)


def test_every_ring_is_closed_and_encloses_something() -> None:
    assert len(RINGS) > 100
    for ring in RINGS:
        assert points(ring)[0] == points(ring)[-1]
        assert area(ring) != 0


def test_every_ring_lies_on_the_map() -> None:
    longitudes = [lon for ring in RINGS for lon in ring[::2]]
    latitudes = [lat for ring in RINGS for lat in ring[1::2]]

    assert (min(longitudes), max(longitudes)) == (WEST, WEST + 3600)
    assert min(latitudes) == -900
    assert 830 < max(latitudes) < 840


def test_no_line_crosses_the_map_except_along_the_pole() -> None:
    lines = [(one, other) for ring in RINGS for one, other in pairwise(points(ring))]

    assert {(one[1], other[1]) for one, other in lines if abs(one[0] - other[0]) > 150} == {(-900, -900)}
    along_the_edge = [(one, other) for one, other in lines if one[0] == other[0] and one[0] in (WEST, WEST + 3600)]
    assert along_the_edge
    assert max(abs(one[1] - other[1]) for one, other in along_the_edge) <= 21


def test_the_land_is_as_large_as_it_is() -> None:
    """149 million of 510 million km²."""
    assert abs(sum(map(area, RINGS))) / (4 * math.pi) == pytest.approx(149 / 510, abs=0.005)


def test_the_file_is_small() -> None:
    assert FILES["map/coastline.json"].stat().st_size < 60_000
