"""Reads where a report is from. A position is rounded to a cell of 10 km here, and nothing else sees the exact one.

The exception is the questionnaire, whose answers are summed by cells of 1 km: see `felt`.
"""

from dataclasses import dataclass

from graph.core.errors import BadUserInput
from graph.domains.sightings.areas import KnownAreas, NamedArea
from graph.domains.sightings.grid import KM10, Point


@dataclass(frozen=True, slots=True)
class ReportedPlace:
    """Where a report is from, as everybody may know it."""

    area: NamedArea
    cell: str | None = None  # of 10 km
    rounded: Point | None = None

    @property
    def slugs(self) -> frozenset[str]:
        """The area's slug, and that of the cell's own area, so that a cell counts whatever its area is called."""
        return frozenset({self.area.slug, *([NamedArea.of_cell(self.cell).slug] if self.cell else ())})


def read_place(known: KnownAreas, area: str | None, lat: float | None, lon: float | None) -> ReportedPlace:
    """The place of a report.

    Raises:
        BadUserInput: It has neither an area nor a position, or an impossible one.
    """
    if (lat is None) is not (lon is None):
        raise BadUserInput("Give both `lat` and `lon`, or neither.")
    if lat is None or lon is None:
        if area is None:
            raise BadUserInput("Give an `area`, or `lat` and `lon`.")
        return ReportedPlace(known.named(area))
    if not (-90 <= lat <= 90 and -180 <= lon <= 180):
        raise BadUserInput("`lat` must lie between -90 and 90, and `lon` between -180 and 180.")
    cell = KM10.cell(lat, lon)
    rounded = KM10.centre(cell)
    return ReportedPlace(known.at(*rounded) if area is None else known.named(area), cell, rounded)
