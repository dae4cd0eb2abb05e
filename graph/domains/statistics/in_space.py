"""Where events are: their depths, and their number in the cells of a grid. No I/O."""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import inf, isnan

from graph.core.decimal_bins import DecimalBins
from graph.core.described import described, optional, value
from graph.core.errors import BadUserInput
from graph.geography.cells import COARSE_COLUMNS, COARSE_DEGREES

MOST_DEPTH_BINS = 1_000
MOST_CELLS = 10_000
LEAST_DEGREES, GREATEST_DEGREES = 0.01, 90.0


@value
class DepthBin:
    """The events of a range of depths."""

    depth: float = described("Shallower edge, km, which belongs to the bin.")
    count: int = described("Events of this bin.")


@value
class Depths:
    """The number of events by depth."""

    bins: tuple[DepthBin, ...] = described(
        "The bins from the surface to the deepest event, zeros included.", default=()
    )
    unknown: int = described("Events without a depth.", default=0)
    reason: str | None = optional("Why there is no histogram; null if there is one.")


@value
class GridCell:
    """The events of a cell of a grid."""

    lat: float = described("Southern edge, degrees north.")
    lon: float = described("Western edge, degrees east.")
    count: int = described("Events of this cell, southern and western edge included.")
    greatest_magnitude: float | None = described(
        "The greatest magnitude; null where the cells are counted from summaries."
    )


@value
class Grid:
    """The number of events in the cells of a grid that begins at 90° south and 180° west."""

    degrees_per_cell: float = described("Height and width of a cell, degrees.")
    cells: tuple[GridCell, ...] = described(
        "The cells with events, from south to north and from west to east.", default=()
    )
    reason: str | None = optional("Why there are no counts; null if there are.")


class TooManyCells(Exception):
    """More cells have events than an answer may have."""


class DepthCounts:
    """Counts events by depth, some at a time."""

    def __init__(self, bin_km: float) -> None:
        """Begin with no events.

        Raises:
            BadUserInput: The width of a bin is not possible.
        """
        if not 0 < bin_km < inf:
            raise BadUserInput("`binKm` must be greater than 0.")
        self._bins = DecimalBins(bin_km)
        self._counts: Counter[int] = Counter()

    def add(self, depths: Iterable[float]) -> None:
        """Count events.

        Args:
            depths: km; NaN for an unknown one.

        Raises:
            BadUserInput: There are too many bins.
        """
        known = [depth for depth in depths if not isnan(depth)]
        # Compared with the depth itself: in bins much too small, its number could be infinite.
        if known and max(known) >= self._bins.edge(MOST_DEPTH_BINS):
            raise BadUserInput(f"That is more than {MOST_DEPTH_BINS:,} bins of depth: take a greater `binKm`.")
        self._counts.update(map(self._bins.number_of, known))

    def histogram(self, events: int) -> Depths:
        """The bins from the surface to the deepest event, with empty ones.

        Args:
            events: the number of all, also those without a depth.
        """
        deepest = max(self._counts, default=-1)
        bins = tuple(DepthBin(self._bins.edge(number), self._counts[number]) for number in range(deepest + 1))
        return Depths(bins, events - self._counts.total())


class GridCounts:
    """Counts events in the cells of a grid that begins at the south pole and at 180° west, some at a time.

    The 180th meridian is one line: an event at 180° east is in the cell that begins at 180° west. The
    north pole belongs to the northernmost cells.
    """

    def __init__(self, degrees: float) -> None:
        """Begin with no events.

        Args:
            degrees: the height and width of a cell.

        Raises:
            BadUserInput: The size is not possible.
        """
        if not LEAST_DEGREES <= degrees <= GREATEST_DEGREES:
            raise BadUserInput(f"`degreesPerCell` must be from {LEAST_DEGREES} to {GREATEST_DEGREES:g}.")
        self._degrees = degrees
        self._rows, self._columns = DecimalBins(degrees, -90), DecimalBins(degrees, -180)
        pole = self._rows.number_of(90.0)
        self._northernmost = pole - 1 if self._rows.edge(pole) == 90 else pole
        self._cells: dict[tuple[int, int], tuple[int, float]] = {}

    def add(self, points: Iterable[tuple[float, float, float]]) -> None:
        """Count events.

        Args:
            points: latitude and longitude in degrees, magnitude.

        Raises:
            TooManyCells: There are more than `MOST_CELLS`.
        """
        row_of, column_of, northernmost = self._rows.number_of, self._columns.number_of, self._northernmost
        cells = self._cells
        for lat, lon, magnitude in points:
            at = min(row_of(lat), northernmost), column_of(lon if lon < 180 else -180.0)
            count, greatest = cells.get(at, (0, magnitude))
            cells[at] = count + 1, max(greatest, magnitude)
        if len(cells) > MOST_CELLS:
            raise TooManyCells

    def grid(self) -> Grid:
        """The cells with events."""
        cells = [
            GridCell(self._rows.edge(row), self._columns.edge(column), count, greatest)
            for (row, column), (count, greatest) in sorted(self._cells.items())
        ]
        return Grid(self._degrees, tuple(cells))


def grid_of_coarse_cells(degrees: int, counts: Mapping[int, int]) -> Grid:
    """A grid of cells that consist of coarse cells, in which the greatest magnitudes are not known.

    Args:
        degrees: the height and width of a cell, a multiple of `COARSE_DEGREES`.
        counts: coarse cell → the number of its events.
    """
    size = degrees // COARSE_DEGREES
    cells: Counter[tuple[int, int]] = Counter()
    for coarse, count in counts.items():
        row, column = divmod(coarse, COARSE_COLUMNS)
        cells[row // size, column // size] += count
    return Grid(
        degrees,
        tuple(
            GridCell(row * degrees - 90, column * degrees - 180, count, greatest_magnitude=None)
            for (row, column), count in sorted(cells.items())
        ),
    )
