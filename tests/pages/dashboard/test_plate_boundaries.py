"""The plate boundaries on the map: as the script writes them, and where they are known to be."""

import gzip
import json
from itertools import accumulate, pairwise
from math import hypot
from pathlib import Path

import pytest

from graph.pages.dashboard import FILES
from scripts import plate_boundaries

LINES: list[list[int]] = json.loads(FILES["map/plate_boundaries.json"].read_text())
SAN_ANDREAS = (-120.3, 35.8)  # at Parkfield
MID_ATLANTIC = (-19.0, 64.0)  # in Iceland
QUIET = (-100.0, 45.0)  # the middle of North America


def points(line: list[int]) -> list[tuple[float, float]]:
    """Longitudes and latitudes, degrees."""
    return [(lon / 100, lat / 100) for lon, lat in zip(accumulate(line[::2]), accumulate(line[1::2]), strict=True)]


def distance(place: tuple[float, float]) -> float:
    """From a place to the nearest boundary, degrees."""
    parts = [(start, end) for line in map(points, LINES) for start, end in pairwise(line)]
    return min(plate_boundaries.distance(place, start, end) for start, end in parts)


def test_every_line_lies_in_the_world_has_a_length_and_does_not_cross_the_map() -> None:
    steps = [step for line in LINES for step in zip(line[2::2], line[3::2], strict=True)]

    assert len(LINES) == 241
    assert all(len(line) >= 4 for line in LINES)
    assert all(abs(lon) <= 180 and abs(lat) <= 90 for line in LINES for lon, lat in points(line))
    assert max(hypot(*step) for step in steps) < 1000  # ten degrees
    assert (0, 0) not in steps
    assert len(gzip.compress(FILES["map/plate_boundaries.json"].read_bytes())) < 25_000


def test_the_boundaries_are_where_they_are() -> None:
    assert distance(SAN_ANDREAS) < 0.3
    assert distance(MID_ATLANTIC) < 1.5
    assert distance(QUIET) > 10


def test_a_line_keeps_what_is_farther_than_the_tolerance(tmp_path: Path) -> None:
    tolerance = plate_boundaries.TOLERANCE
    bend = [[0, 0], [1, tolerance / 2], [2, 0], [3, 0], [3, 5]]
    features = [
        {"type": "Feature", "geometry": {"type": "LineString", "coordinates": bend}},
        {"type": "Feature", "geometry": {"type": "MultiLineString", "coordinates": [[[-180, 10.004], [-179.5, 11]]]}},
    ]
    source, target = tmp_path / "source.geojson", tmp_path / "target.json"
    source.write_text(json.dumps({"type": "FeatureCollection", "features": features}))

    plate_boundaries.main(str(source), str(target))

    assert json.loads(target.read_text()) == [[0, 0, 300, 0, 0, 500], [-18000, 1000, 50, 100]]
    assert plate_boundaries.distance((1, 1), (0, 0), (0, 0)) == pytest.approx(2**0.5)
