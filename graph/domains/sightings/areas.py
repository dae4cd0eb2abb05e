"""Areas: the slugs under which sightings are stored, the known areas that positions belong to, and reports' places."""

import csv
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import Self

from graph.core.errors import BadUserInput
from graph.domains.sightings.checking import check_line
from graph.domains.sightings.grid import KM10, KM100, Point
from graph.domains.sightings.model import LONGEST_NAME
from graph.domains.sightings.slugs import slug_of
from graph.geography.areas import Circle, distance_km
from graph.settings import Misconfigured

NEAR_KM = 25.0  # a position further from every known area is in an area of its own cell
MOST_CELLS = 16  # more than any circle of 25 km touches
COLUMNS = ("slug", "name", "lat", "lon")


@dataclass(frozen=True, slots=True)
class NamedArea:
    """An area that sightings are stored under."""

    slug: str
    name: str
    centre: Point | None = None

    @classmethod
    def of_name(cls, name: str, argument: str = "area") -> Self:
        """The area of a name or slug that a user has written.

        Raises:
            BadUserInput: No area can have it.
        """
        if len(name) > LONGEST_NAME:
            raise BadUserInput(f"`{argument}` must have at most {LONGEST_NAME} characters.")
        check_line(argument, name)
        slug = slug_of(name)
        if not slug:
            raise BadUserInput(f"`{argument}` must have a letter or a digit.")
        return cls(slug, name)

    @classmethod
    def of_cell(cls, cell: str) -> Self:
        """The area of a cell of 10 km."""
        centre = KM10.centre(cell)
        return cls(cell.replace(":", "-"), coordinates(centre), centre)


@dataclass(frozen=True, slots=True)
class ReportedPlace:
    """Where a report is from, as everybody may know it: a position is rounded to a cell of 10 km.

    Nothing else sees the exact one, except the questionnaire, whose answers are summed by cells of 1 km.
    """

    area: NamedArea
    cell: str | None = None  # of 10 km
    rounded: Point | None = None

    @property
    def slugs(self) -> frozenset[str]:
        """The area's slug, and that of the cell's own area, so that a cell counts whatever its area is called."""
        return frozenset({self.area.slug, *([NamedArea.of_cell(self.cell).slug] if self.cell else ())})


def coordinates(point: Point) -> str:
    """A position in words, to hundredths of a degree."""
    north, east = "N" if point.lat >= 0 else "S", "E" if point.lon >= 0 else "W"
    return f"{abs(point.lat):.2f}°{north} {abs(point.lon):.2f}°{east}"


class KnownAreas:
    """Areas that a service knows, with their centres."""

    def __init__(self, areas: Iterable[NamedArea] = ()) -> None:
        """Prepare to find these areas, which have centres."""
        self._by_slug = {area.slug: area for area in areas}
        self._by_cell: defaultdict[str, list[tuple[NamedArea, Point]]] = defaultdict(list)
        for area in self._by_slug.values():
            if area.centre:
                self._by_cell[KM100.cell(*area.centre)].append((area, area.centre))

    @classmethod
    def of_setting(cls, path: Path | None) -> Self:
        """The areas of a CSV file; none without a file.

        Raises:
            Misconfigured: It cannot be read as such.
        """
        if path is None:
            return cls()
        try:
            areas = _read(path)
        except (OSError, ValueError, TypeError, csv.Error) as error:
            raise Misconfigured(
                f"GRAPH_SIGHTING_AREAS: {path} is no CSV file of {','.join(COLUMNS)}: {error}"
            ) from error
        for area in areas:
            if not area.slug or slug_of(area.slug) != area.slug or not 0 < len(area.name) <= LONGEST_NAME:
                raise Misconfigured(
                    f"GRAPH_SIGHTING_AREAS: {area.slug!r} is no slug such as `ridgecrest`, or has no name"
                )
        return cls(areas)

    def named(self, name: str) -> NamedArea:
        """The area that a user names, known or not; BadUserInput as of `NamedArea.of_name`."""
        area = NamedArea.of_name(name)
        return self._by_slug.get(area.slug, area)

    def at(self, lat: float, lon: float) -> NamedArea:
        """The nearest known area, or that of the cell."""
        cells = KM100.cells_around(Circle(lat, lon, NEAR_KM), MOST_CELLS) or ()
        around = (each for cell in cells for each in self._by_cell.get(cell, ()))
        by_distance = ((distance_km(lat, lon, centre._asdict()), area) for area, centre in around)
        km, nearest = min(by_distance, key=itemgetter(0), default=(inf, None))
        return nearest if nearest and km <= NEAR_KM else NamedArea.of_cell(KM10.cell(lat, lon))

    def place_of(self, area: str | None, lat: float | None, lon: float | None) -> ReportedPlace:
        """The place of a report.

        Raises:
            BadUserInput: It has neither an area nor a position, or an impossible one.
        """
        if (lat is None) is not (lon is None):
            raise BadUserInput("Give both `lat` and `lon`, or neither.")
        if lat is None or lon is None:
            if area is None:
                raise BadUserInput("Give an `area`, or `lat` and `lon`.")
            return ReportedPlace(self.named(area))
        if not (-90 <= lat <= 90 and -180 <= lon <= 180):
            raise BadUserInput("`lat` must lie between -90 and 90, and `lon` between -180 and 180.")
        cell = KM10.cell(lat, lon)
        rounded = KM10.centre(cell)
        return ReportedPlace(self.at(*rounded) if area is None else self.named(area), cell, rounded)


def _read(path: Path) -> list[NamedArea]:
    """The areas of a CSV file. Spreadsheets may put a mark of the encoding in front of it."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file)
        if not set(COLUMNS) <= set(rows.fieldnames or ()):
            raise ValueError("its first line does not name these columns")
        return [NamedArea(row["slug"] or "", row["name"] or "", _centre(row["lat"], row["lon"])) for row in rows]


def _centre(lat: str, lon: str) -> Point:
    point = Point(float(lat), float(lon))
    if not (-90 <= point.lat <= 90 and -180 <= point.lon <= 180):
        raise ValueError(f"{lat}, {lon} is nowhere on the earth")
    return point
