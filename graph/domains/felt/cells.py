"""Communities by cell: of 10 km, and of 1 km where at least three people reported.

All reports count at once for their cell of 10 km. For a cell of 1 km they count by whole minutes that have passed, and
three people or more at a time. A person may have answered twice: with the earthquake's name and without, under two of
its ids, or a week later. Within one place of storage and a week, nobody has. So only reports of one place and week are
surely of so many people. So what is served of such a cell, and by how much it changes, is of three people or
more. Whoever sees a new sighting appear learns its place to 10 km, and no better.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import groupby
from operator import attrgetter

from graph.core.described import described, value
from graph.domains.sightings.collected_reports import Collected
from graph.domains.sightings.felt_reports import KNOWN_S
from graph.domains.sightings.grid import KM1, KM10, CellGrid, Point, RoundedPosition
from graph.domains.sightings.questionnaire import Community
from graph.work.account import give_way

FEWEST = 3  # people that count at once for a cell of 1 km
SETTLED_S = 180  # after a minute's beginning: whoever has reported within it is stored
OUTLIER = 2.0  # degrees of intensity above the expected one; DYFI leaves such cells out
AT_ONCE = 500  # in some milliseconds


@value
class FeltCell:
    """What the people in a cell felt."""

    centre: Point
    precision_km: float  # the width of the cell, 10 or 1
    reports: int = described("The number of answered questionnaires.")
    intensity: float = described("The community's intensity (CDI), 1 to 10.")
    expected: float = described("The intensity that is expected at the cell's distance.")

    @property
    def outlier(self) -> bool:
        """Whether it is more than 2 above the expected one. It then does not count for the earthquake."""
        return self.intensity > self.expected + OUTLIER

    @property
    def position(self) -> RoundedPosition:
        """The cell."""
        return RoundedPosition(*self.centre, self.precision_km)


async def felt_cells(reports: Sequence[Collected], now_s: float, expected: Callable[[Point], float]) -> list[FeltCell]:
    """The cells of 10 km and the served ones of 1 km, of each size those with the most reports first.

    Args:
        now_s: epoch seconds.
        expected: the expected intensity at a position.
    """
    coarse: defaultdict[str, Community] = defaultdict(Community)
    fine: defaultdict[str, list[Collected]] = defaultdict(list)
    for number, each in enumerate(reports):
        coarse[KM1.parent_of(each.cell)].add(each.community)
        if each.felt_at.time + SETTLED_S <= now_s:
            fine[each.cell].append(each)
        if number % AT_ONCE == 0:
            await give_way()
    found = [_cell(KM10, cell, community, expected) for cell, community in coarse.items()]
    for number, (cell, inside) in enumerate(fine.items()):
        if (community := served(inside)).reports:
            found.append(_cell(KM1, cell, community, expected))
        if number % AT_ONCE == 0:
            await give_way()
    return sorted(found, key=lambda each: (-each.precision_km, -each.reports, each.centre))


def served(reports: Sequence[Collected]) -> Community:
    """The served people of a cell of 1 km: whole minutes in order of time, three people or more at a time."""
    everybody, waiting = Community(), Community()
    people: Counter[tuple[str, float]] = Counter()  # by place and week, of those that wait
    for _, minute in groupby(sorted(reports, key=_time), key=_time):
        for each in minute:
            waiting.add(each.community)
            people[each.place, each.felt_at.time // KNOWN_S] += each.community.reports
        if max(people.values()) >= FEWEST:
            everybody.add(waiting)
            waiting = Community()
            people.clear()
    return everybody


_time = attrgetter("felt_at.time")


def _cell(grid: CellGrid, cell: str, community: Community, expected: Callable[[Point], float]) -> FeltCell:
    centre = grid.centre(cell)
    return FeltCell(centre, grid.km, community.reports, community.intensity, expected(centre))
