"""Cells of the earth's surface, by which positions are rounded and found: from about 1 km to 1,000 km wide.

Each grid has rows of one height in degrees. Each row is divided into as many columns as make its cells about as wide as
they are high, so cells have about the same area from the equator to the poles. A cell of 10 km consists of a hundred
cells of 1 km.

    KM10.cell(lat, lon) → "km10:1396:1105" → KM10.centre("km10:1396:1105") → the rounded position
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, floor, radians
from typing import NamedTuple

from graph.core.described import described, value
from graph.geography.areas import Circle


class Point(NamedTuple):
    """A position, in degrees north and east."""

    lat: float
    lon: float


@value
class RoundedPosition:
    """A rounded position: the middle of a cell."""

    lat: float = described("Degrees north.")
    lon: float = described("Degrees east.")
    precision_km: float = described("The width of the cell, km. No finer position is known.")


@dataclass(frozen=True, slots=True)
class CellGrid:
    """Cells of one size."""

    name: str
    km: float  # the height of a cell, about
    rows: int  # from pole to pole
    parent: "CellGrid | None" = None  # whose cells are divided into ten rows and ten columns

    def cell(self, lat: float, lon: float) -> str:
        """The id of the cell that a position lies in."""
        return self._id(*self._place(lat, lon))

    def parent_of(self, cell: str) -> str:
        """The cell of the parent that a cell is in."""
        assert self.parent is not None  # noqa: S101 - only called for divided grids
        _, row, column = cell.split(":")
        return self.parent._id(int(row) // 10, int(column) // 10)

    def centre(self, cell: str) -> Point:
        """The middle of a cell."""
        _, row, column = cell.split(":")
        lat = (int(row) + 0.5) * 180 / self.rows - 90
        lon = (int(column) + 0.5) * 360 / self._columns(int(row)) - 180
        return Point(round(lat, 7), round(lon, 7))

    def cells_around(self, circle: Circle, most: int) -> list[str] | None:
        """The cells that a circle touches, and perhaps some more. None if they are more than `most`."""
        found: list[str] = []
        for row, columns in self._touched(circle):
            if len(found) + len(columns) > most:
                return None
            found += [self._id(row, column) for column in columns]
        return found

    def _touched(self, circle: Circle) -> Iterator[tuple[int, list[int]]]:
        """The rows that a circle touches, each with its columns."""
        reach = circle.reach
        for row in range(self._row(max(reach.south, -90)), self._row(min(reach.north, 90)) + 1):
            columns = self._columns(row)
            if reach.half_width >= 180:
                yield row, list(range(columns))
                continue
            width = 360 / columns
            first = floor((circle.lon - reach.half_width + 180) / width)
            last = floor((circle.lon + reach.half_width + 180) / width)
            yield row, list(dict.fromkeys(column % columns for column in range(first, last + 1)))

    def _place(self, lat: float, lon: float) -> tuple[int, int]:
        """The row and the column that a position lies in."""
        row = self._row(lat)
        if self.parent:  # rounding must not move a position on an edge to a cell of another parent
            of_parent = [10 * each for each in self.parent._place(lat, lon)]
            row = _within(row, of_parent[0], 10)
            return row, _within(self._column(row, lon), of_parent[1], 10)
        return row, self._column(row, lon)

    def _column(self, row: int, lon: float) -> int:
        columns = self._columns(row)
        return 0 if lon == 180 else min(floor((lon + 180) / 360 * columns), columns - 1)  # -180 is the same meridian

    def _row(self, lat: float) -> int:
        return min(floor((lat + 90) / 180 * self.rows), self.rows - 1)

    def _columns(self, row: int) -> int:
        """The number of cells in a row: as many as make them as wide as they are high, in the middle of the row."""
        if self.parent:
            return 10 * self.parent._columns(row // 10)
        middle = (row + 0.5) * 180 / self.rows - 90
        return max(1, round(2 * self.rows * cos(radians(middle))))

    def _id(self, row: int, column: int) -> str:
        return f"{self.name}:{row}:{column}"


def _within(number: int, first: int, many: int) -> int:
    """A number, or the nearest one of so many from the first on."""
    return min(max(number, first), first + many - 1)


KM1000 = CellGrid("km1000", 1000, 20)
KM100 = CellGrid("km100", 100, 200)
KM10 = CellGrid("km10", 10, 2000)
KM1 = CellGrid("km1", 1, 20_000, KM10)
