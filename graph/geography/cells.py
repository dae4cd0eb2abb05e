"""The cells of the earth's surface, and those that an area touches or covers.

A cell is numbered `row * COLUMNS + column`, from the south pole northward and from the 180th meridian eastward. It
has its southern and western edge; the north pole belongs to the last row. A column beyond the last, or before the
first, is the one that lies there on the other side of the 180th meridian: so longitude 180 is in the first column.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor

LON_DEGREES = 2  # of a cell; of latitude it is one degree. So a day has at most 32,400 counts, which fit an item
ROWS, COLUMNS = 180, 360 // LON_DEGREES
COARSE_DEGREES = 10
COARSE_COLUMNS = 360 // COARSE_DEGREES


@dataclass(frozen=True)
class Cells:
    """The cells of an area, as runs of consecutive cells along the parallels, in ascending order."""

    touched: tuple[range, ...]  # every item in the area lies in one of these cells
    covered: tuple[range, ...]  # of those, the cells whose items all lie in the area

    @classmethod
    def of(cls, rows: Iterable[tuple[int, Iterable[range], Iterable[range]]]) -> "Cells":
        """The cells of rows, each with the columns that are touched and those that are covered."""
        touched: list[range] = []
        covered: list[range] = []
        for row, some, whole in rows:
            touched += _runs(row, some)
            covered += _runs(row, whole)
        return cls(tuple(touched), tuple(covered))

    @cached_property
    def crossed(self) -> tuple[range, ...]:
        """The cells that the area touches and does not cover."""
        crossed: list[range] = []
        covered = iter(self.covered)
        whole = next(covered, None)
        for run in self.touched:
            start = run.start
            while whole and whole.start < run.stop:
                crossed.append(range(start, whole.start))
                start, whole = whole.stop, next(covered, None)
            crossed.append(range(start, run.stop))
        return tuple(filter(None, crossed))

    @cached_property
    def coarse(self) -> frozenset[int]:
        """The coarse cells that the area may touch."""
        return frozenset(coarse for run in self.touched for coarse in range(coarse_of(run[0]), coarse_of(run[-1]) + 1))


def cell_of(lat: float, lon: float) -> int:
    """The cell of a point, in degrees north and east."""
    row, column = floor(lat) + 90, (floor(lon) + 180) // LON_DEGREES
    return (row if row < ROWS else ROWS - 1) * COLUMNS + (column if column < COLUMNS else 0)


def coarse_of(cell: int) -> int:
    """The number of the coarse cell that a cell lies in: ten degrees by ten, 36 along a parallel."""
    row, column = divmod(cell, COLUMNS)
    return row // COARSE_DEGREES * COARSE_COLUMNS + column * LON_DEGREES // COARSE_DEGREES


def row_of(lat: float) -> int:
    """The row of a latitude. A sum such as `lat + 90` would round the latitudes next to a cell's edge."""
    return min(floor(lat) + 90, ROWS - 1)


def column_of(lon: float) -> int:
    """The column of a longitude from -180 to 180, which is the eastern edge of the last one."""
    return min((floor(lon) + 180) // LON_DEGREES, COLUMNS - 1)


def rows_touched(south: float, north: float) -> range:
    """The rows between two latitudes, which may lie beyond the poles."""
    return range(row_of(max(south, -90.0)), row_of(min(north, 90.0)) + 1)


def columns_touched(west: float, east: float) -> range:
    """The columns from one meridian eastward to another, both included."""
    return range((floor(west) + 180) // LON_DEGREES, (floor(east) + 180) // LON_DEGREES + 1)


def columns_covered(west: float, east: float) -> range:
    """The columns that lie wholly between two meridians."""
    return range(-((-180 - ceil(west)) // LON_DEGREES), (floor(east) + 180) // LON_DEGREES)


def gaps(spans: Iterable[range]) -> list[range]:
    """The columns in none of the spans, as runs from the first column to the last."""
    return [range(*gap.span()) for gap in re.finditer(rb"\x00+", _painted(spans))]


def _runs(row: int, spans: Iterable[range]) -> Iterator[range]:
    start = row * COLUMNS
    for run in re.finditer(rb"\x01+", _painted(spans)):
        yield range(start + run.start(), start + run.end())


def _painted(spans: Iterable[range]) -> bytearray:
    """A byte for each column of a row: 1 if a span has the column."""
    columns = bytearray(COLUMNS)
    for span in spans:
        first = span.start % COLUMNS
        end = first + min(len(span), COLUMNS)
        columns[first:end] = b"\x01" * (min(end, COLUMNS) - first)
        if (beyond := end - COLUMNS) > 0:
            columns[:beyond] = b"\x01" * beyond
    return columns
