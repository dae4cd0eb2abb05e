"""Communities by cell: all of 10 km, and those of 1 km that hide single reporters.

A cell of 1 km with fewer than three reports is not served, and nobody can compute it from what is served: the reports
of a cell of 10 km that are in none of its served cells of 1 km are none, or at least three.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from graph.domains.sightings.felt.questionnaire import Community
from graph.domains.sightings.grid import KM1, KM10, Grid, Point
from graph.work.account import give_way

FEWEST = 3  # reports of a served cell of 1 km, and of what is left of its cell of 10 km
OUTLIER = 2.0  # degrees of intensity above the expected one; DYFI leaves such cells out
CELLS_AT_ONCE = 500  # in some milliseconds


@dataclass(frozen=True, slots=True)
class FeltCell:
    """The intensity where people reported."""

    centre: Point
    precision_km: float  # the width of the cell, 10 or 1
    reports: int
    intensity: float
    expected: float  # the mean intensity that earthquakes of this magnitude have at this distance

    @property
    def outlier(self) -> bool:
        """Whether the intensity is greater than an earthquake explains."""
        return self.intensity > self.expected + OUTLIER


async def felt_cells(communities: Mapping[str, Community], expected: Callable[[Point], float]) -> list[FeltCell]:
    """The cells of 10 km and the served ones of 1 km, of each size those with the most reports first.

    Args:
        communities: by cell of 1 km.
        expected: the expected intensity at a position.
    """
    parts: defaultdict[str, dict[str, Community]] = defaultdict(dict)
    for number, (cell, community) in enumerate(communities.items()):
        parts[KM1.parent_of(cell)][cell] = community
        if number % CELLS_AT_ONCE == 0:
            await give_way()
    found: list[FeltCell] = []
    waiting = 0
    for cell, inside in parts.items():
        found.append(_cell(KM10, cell, Community.of_all(inside.values()), expected))
        shown = served({each: community.reports for each, community in inside.items()})
        found += [_cell(KM1, each, inside[each], expected) for each in shown]
        waiting += len(inside)
        if waiting > CELLS_AT_ONCE:
            await give_way()
            waiting = 0
    return sorted(found, key=lambda each: (-each.precision_km, -each.reports, each.centre))


def served(reports: Mapping[str, int]) -> list[str]:
    """The cells of 1 km that can be served, of those in one cell of 10 km.

    If one or two reports would be left, the cell with the fewest reports is left with them.

    Args:
        reports: cell of 1 km → its reports.
    """
    enough = sorted(
        (cell for cell, number in reports.items() if number >= FEWEST), key=lambda cell: (-reports[cell], cell)
    )
    left = sum(reports.values()) - sum(reports[cell] for cell in enough)
    return enough[:-1] if 0 < left < FEWEST else enough


def _cell(grid: Grid, cell: str, community: Community, expected: Callable[[Point], float]) -> FeltCell:
    centre = grid.centre(cell)
    return FeltCell(centre, grid.km, community.reports, community.intensity, expected(centre))
