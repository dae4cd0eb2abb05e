"""A polygon on the map: its edges are straight lines of latitude and longitude, as in GeoJSON."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, hypot, inf
from typing import NamedTuple, Self

from graph.core.errors import BadUserInput
from graph.geography.areas import MARGIN, enclosing
from graph.geography.cells import LON_DEGREES, Cells, columns_touched, gaps, row_of, rows_touched
from graph.store.conditions import Condition
from graph.store.entity import Item

MOST_POINTS = 100
ON_EDGE = 1e-9  # degrees, a tenth of a millimetre: the decimal fractions of a point on an edge are rounded


class PolygonSide(NamedTuple):
    """A side of a polygon, in degrees. Longitudes go on beyond the 180th meridian."""

    south: float
    north: float
    west: float
    east: float
    start: float  # longitude of the southern end
    slope: float  # degrees eastward for each one northward; 0 if the edge lies along a parallel
    reach: float  # how far a point east or west of the line is still on the edge; endless along a parallel

    @classmethod
    def of(cls, one: tuple[float, float], other: tuple[float, float]) -> Self:
        """The edge between two points, which differ."""
        (south, start), (north, end) = sorted((one, other))
        height, width = north - south, end - start
        level = height <= ON_EDGE
        slope, reach = (0.0, inf) if level else (width / height, ON_EDGE * hypot(width, height) / height)
        return cls(south, north, min(start, end), max(start, end), start, slope, reach)

    def longitude(self, lat: float) -> float:
        """Where the line crosses a parallel."""
        return self.start + (lat - self.south) * self.slope

    def columns(self, south: float, north: float) -> range:
        """The columns that the edge touches between two latitudes, with a margin."""
        west, east = self.west, self.east
        if self.slope:
            ends = max(south - MARGIN, self.south), min(north + MARGIN, self.north)
            west, east = sorted(map(self.longitude, ends))
        return columns_touched(west - MARGIN, east + MARGIN)


@dataclass(frozen=True, slots=True)
class Polygon:
    """The area within a closed line, edges included. Where the line crosses itself, by the even-odd rule.

    An edge goes the shorter way around the earth. The 180th meridian is one line, whether it is written as 180 or -180.
    """

    points: tuple[tuple[float, float], ...]  # degrees north and east; the last may repeat the first

    def __post_init__(self) -> None:
        if not 3 <= len(self.points) <= MOST_POINTS:
            raise BadUserInput(f"`polygon` needs 3 to {MOST_POINTS} points.")
        if not all(-90 <= lat <= 90 and -180 <= lon <= 180 for lat, lon in self.points):
            raise BadUserInput("`polygon` needs points with lat from -90 to 90 and lon from -180 to 180.")
        if len(set(self.points)) < 3:
            raise BadUserInput("`polygon` needs at least three different points.")
        (_, first), *_, (_, last) = _unwrapped(self.points)
        if first != last:
            raise BadUserInput(
                "`polygon` goes around a pole: lead its edge along the pole, by points at most 180 degrees apart"
                " whose lat is 90 or -90."
            )

    @property
    def condition(self) -> Condition | None:
        """The smallest box around the polygon, slightly enlarged."""
        latitudes, longitudes = zip(*_unwrapped(self.points), strict=True)
        return enclosing(
            min(latitudes) - MARGIN, max(latitudes) + MARGIN, min(longitudes) - MARGIN, max(longitudes) + MARGIN
        )

    @property
    def holds(self) -> Callable[[Item], bool]:
        """Made once for many items. It looks along the parallel eastward, at the edges of the item's row alone."""
        edges = self._edges_by_row
        longitudes = [lon for _, lon in _unwrapped(self.points)]
        first_turn = ceil((min(longitudes) - ON_EDGE - 180) / 360)
        last_turn = floor((max(longitudes) + ON_EDGE + 180) / 360)
        turns = [turn * 360.0 for turn in range(first_turn, last_turn + 1)]

        def holds(item: Item) -> bool:
            lat, lon = item["lat"], item["lon"]
            places = [lon + turn for turn in turns]
            inside = False
            for south, north, west, east, start, slope, reach in edges.get(row_of(lat), ()):
                if south - ON_EDGE <= lat <= north + ON_EDGE:
                    crossing = start + (lat - south) * slope
                    for place in places:
                        if abs(place - crossing) <= reach and west - ON_EDGE <= place <= east + ON_EDGE:
                            return True
                        if place < crossing and south <= lat < north:
                            inside = not inside
            return inside

        return holds

    @property
    def cells(self) -> Cells:
        """Those that an edge touches, with a margin, and the others inside, which are covered."""
        rows = []
        for row, edges in self._edges_by_row.items():
            south, north = row - 90, row - 89
            crossed = [edge.columns(south, north) for edge in edges]
            inside = _inside(gaps(crossed), edges, (south + north) / 2)
            rows.append((row, crossed + inside, inside))
        return Cells.of(rows)

    @property
    def _edges_by_row(self) -> Mapping[int, Sequence[PolygonSide]]:
        """The edges that touch each row, with a margin; the rows in ascending order."""
        edges = [PolygonSide.of(one, other) for one, other in pairwise(_unwrapped(self.points)) if one != other]
        by_row: dict[int, list[PolygonSide]] = {}
        for edge in edges:
            for row in rows_touched(edge.south - MARGIN, edge.north + MARGIN):
                by_row.setdefault(row, []).append(edge)
        return dict(sorted(by_row.items()))


def _unwrapped(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points, and the first again, with longitudes that go on where an edge crosses the 180th meridian.

    If the line goes around a pole, the last longitude is not the first.
    """
    ring = [*points, points[0]]
    unwrapped, turn = ring[:1], 0
    for (_, before), (lat, lon) in pairwise(ring):
        turn += (lon - before < -180) - (lon - before > 180)
        unwrapped.append((lat, lon + 360 * turn))
    return unwrapped


def _inside(columns: Sequence[range], edges: Sequence[PolygonSide], lat: float) -> list[range]:
    """Those of the runs of columns that lie inside on a parallel, given all edges that may cross it.

    A point is inside if the parallel has an odd number of crossings east of it, counted on the unwrapped map in all
    the places where the point appears. At the 180th meridian that number is odd if the sum of the crossings' turns
    is, and each crossing that is passed on the way east changes it.
    """
    crossings = [divmod(edge.longitude(lat) + 180, 360) for edge in edges if edge.south <= lat < edge.north]
    turns = int(sum(turn for turn, _ in crossings))
    passed = sorted(longitude for _, longitude in crossings)
    return [run for run in columns if (turns + bisect_right(passed, run.start * LON_DEGREES + 0.5)) % 2]
