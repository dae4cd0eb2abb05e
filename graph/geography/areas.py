"""Areas on the earth: what lies in them, what a store can test of it, and which cells they touch."""

from collections.abc import Callable
from dataclasses import dataclass
from math import asin, atan2, ceil, cos, degrees, floor, pi, radians, remainder, sin, sqrt
from typing import NamedTuple, Protocol

from graph.core.errors import BadUserInput
from graph.geography.cells import Cells, column_of, columns_covered, columns_touched, rows_touched
from graph.store.conditions import AllOf, AnyOf, Compare, Condition, all_of
from graph.store.entity import Item

EARTH_RADIUS_KM = 6371.0088  # mean radius, IUGG
GREATEST_RADIUS_KM = 40_100  # once around the earth; half of it already covers everything
MARGIN = 1e-6  # degrees by which the bounds of a round area are enlarged: more than rounding, less than a step
MARGIN_KM = 1e-3  # by which a circle's cells are: near the opposite point, the haversine errs by some decimetres
WHOLE_PARALLEL = 360.0  # degrees on either side, so that the cell on the opposite meridian is covered too


class Area(Protocol):
    """A part of the earth's surface, edges included."""

    @property
    def condition(self) -> Condition | None:
        """What a store can test: it holds for every item in the area."""

    @property
    def holds(self) -> Callable[[Item], bool] | None:
        """Whether an item for which the condition holds lies in the area. None: it surely does."""

    @property
    def cells(self) -> Cells:
        """The cells that the area touches, and those that it covers."""


@dataclass(frozen=True, slots=True)
class Box:
    """An area between two latitudes and two longitudes, edges included, in degrees."""

    min_lat: float
    max_lat: float
    min_lon: float
    max_lon: float  # less than min_lon: the area crosses the 180th meridian

    def __post_init__(self) -> None:
        if not (-90 <= self.min_lat <= self.max_lat <= 90):
            raise BadUserInput("`box` needs -90 ≤ minLat ≤ maxLat ≤ 90.")
        if not (-180 <= self.min_lon <= 180 and -180 <= self.max_lon <= 180):
            raise BadUserInput("`box` needs minLon and maxLon from -180 to 180; minLon > maxLon crosses the dateline.")

    @property
    def condition(self) -> Condition | None:
        return all_of(
            Compare("lat", ">=", self.min_lat),
            Compare("lat", "<=", self.max_lat),
            _longitudes(self.min_lon, self.max_lon),
        )

    @property
    def holds(self) -> None:
        return None

    @property
    def cells(self) -> Cells:
        """Exactly those with a point of the box, and those without a point outside of it."""
        west, east = _across(self.min_lon, self.max_lon)
        bounds = [(west, east)] if west <= east else [(-180.0, east), (west, 180.0)]
        touched = [range(column_of(west), column_of(east) + 1) for west, east in bounds]
        covered = [columns_covered(west, east) for west, east in bounds]
        whole_rows = range(ceil(self.min_lat) + 90, floor(self.max_lat) + 90)
        return Cells.of(
            (row, touched, covered if row in whole_rows else ()) for row in rows_touched(self.min_lat, self.max_lat)
        )


class Reach(NamedTuple):
    """The smallest box around a circle, in degrees. Beyond a pole, its parallels do not exist."""

    south: float
    north: float
    half_width: float  # to the east and to the west; 180 for all around


@dataclass(frozen=True, slots=True)
class Circle:
    """An area within a great-circle distance of a point, edge included."""

    lat: float  # degrees north
    lon: float  # degrees east
    radius_km: float

    def __post_init__(self) -> None:
        if not (-90 <= self.lat <= 90 and -180 <= self.lon <= 180):
            raise BadUserInput("`circle` needs lat from -90 to 90 and lon from -180 to 180.")
        if not 0 <= self.radius_km <= GREATEST_RADIUS_KM:
            raise BadUserInput(f"`circle` needs a radiusKm from 0 to {GREATEST_RADIUS_KM:,}.")

    def holds(self, item: Item) -> bool:
        """Whether an item is inside."""
        return distance_km(self.lat, self.lon, item) <= self.radius_km

    @property
    def reach(self) -> Reach:
        """How far it reaches, and slightly further."""
        radius = degrees(self.radius_km / EARTH_RADIUS_KM) + MARGIN
        south, north = self.lat - radius, self.lat + radius
        sine = sin(radians(radius)) / cos(radians(self.lat))
        pole_inside = south <= -90 or north >= 90
        return Reach(south, north, 180.0 if pole_inside or sine >= 1 else degrees(asin(sine)) + MARGIN)

    @property
    def condition(self) -> Condition | None:
        """The smallest box around the circle, slightly enlarged, by which a store can drop most other items."""
        reach = self.reach
        return enclosing(reach.south, reach.north, self.lon - reach.half_width, self.lon + reach.half_width)

    @property
    def cells(self) -> Cells:
        """Those that a circle a metre wider touches, and those that one a metre narrower covers.

        On each parallel a circle reaches equally far east and west. Along a meridian this half-width has one
        extreme, or none where a pole lies inside. So a row's ends and the extreme between them, if it has one,
        give its greatest and its least half-width.
        """
        outer, inner = ((self.radius_km + margin) / EARTH_RADIUS_KM for margin in (MARGIN_KM, -MARGIN_KM))
        reach = degrees(outer)
        rows = []
        for row in rows_touched(self.lat - reach, self.lat + reach):
            widest, narrowest = max(self._half_widths(row, outer)), min(self._half_widths(row, max(inner, 0.0)))
            touched = columns_touched(self.lon - widest, self.lon + widest)
            covered = columns_covered(self.lon - narrowest, self.lon + narrowest)
            rows.append((row, (touched,), (covered,)))
        return Cells.of(rows)

    def _half_widths(self, row: int, radius: float) -> list[float]:
        """In degrees, at the ends of a row and at the extreme between them, for a radius in radians."""
        lat, south, north = radians(self.lat), radians(row - 90), radians(row - 89)
        latitudes = [south, north]
        if abs(sin(lat)) < abs(cos(radius)) and south < (extreme := asin(sin(lat) / cos(radius))) < north:
            latitudes.append(extreme)
        return [_half_width(lat, other, radius) for other in latitudes]


def distance_km(lat: float, lon: float, item: Item) -> float:
    """The great-circle distance of an item, by the haversine formula: 0 at one point, however it is written."""
    north, other, width = radians(lat), radians(item["lat"]), remainder(item["lon"] - lon, 360)
    if abs(lat) == 90 or abs(item["lat"]) == 90:
        width = 0.0  # all meridians meet; the cosine of a right angle is not exactly 0
    h = sin((other - north) / 2) ** 2 + cos(north) * cos(other) * sin(radians(width) / 2) ** 2
    return 2 * EARTH_RADIUS_KM * asin(min(1.0, sqrt(h)))


def azimuth(lat: float, lon: float, item: Item) -> float:
    """The direction of an item along the great circle, in degrees clockwise from north, from 0 to below 360.

    0 at one point, and to the north pole; 180 from it, and to the south pole.
    """
    north, other, width = radians(lat), radians(item["lat"]), radians(item["lon"] - lon)
    if abs(lat) == 90 or abs(item["lat"]) == 90:
        width = 0.0
    east = sin(width) * cos(other)
    found = degrees(atan2(east, cos(north) * sin(other) - sin(north) * cos(other) * cos(width))) % 360
    return found if found < 360 and distance_km(lat, lon, item) else 0.0


def _half_width(lat: float, other: float, radius: float) -> float:
    """How far a circle around `lat` reaches on the parallel `other`, in degrees; the arguments are in radians.

    The haversine formula, solved for the difference of longitude. Zero if the circle does not reach the parallel.
    """
    most = cos(lat) * cos(other)
    rest = sin(radius / 2) ** 2 - sin((other - lat) / 2) ** 2
    if radius >= pi or rest >= most:
        return WHOLE_PARALLEL
    return degrees(2 * asin(sqrt(max(rest, 0.0) / most)))


def enclosing(south: float, north: float, west: float, east: float) -> Condition | None:
    """A condition for the box between these bounds, which may lie beyond the poles and the 180th meridian."""
    latitudes = all_of(Compare("lat", ">=", max(south, -90.0)), Compare("lat", "<=", min(north, 90.0)))
    if east - west >= 360:
        return latitudes
    return all_of(latitudes, _longitudes(*(lon - (lon + 180) // 360 * 360 for lon in (west, east))))


def _longitudes(west: float, east: float) -> Condition | None:
    """From `west` eastward to `east`, if necessary across the 180th meridian."""
    west, east = _across(west, east)
    if (west, east) == (-180, 180):
        return None
    bounds = (Compare("lon", ">=", west), Compare("lon", "<=", east))
    return AnyOf(bounds) if west > east else AllOf(bounds)


def _across(west: float, east: float) -> tuple[float, float]:
    """The same bounds, so that they cross the 180th meridian if they begin or end there: it is 180 and -180."""
    if (west, east) == (-180, 180):
        return west, east
    return 180.0 if west == -180 else west, -180.0 if east == 180 else east
