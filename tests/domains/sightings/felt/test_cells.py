"""Which cells are served, so that nobody can compute what fewer than three people have reported from 1 km."""

from collections import defaultdict
from itertools import chain, combinations

from hypothesis import given
from hypothesis import strategies as st

from graph.domains.sightings.felt.cells import FeltCell, felt_cells, served
from graph.domains.sightings.felt.questionnaire import Community
from graph.domains.sightings.grid import KM1, KM10, Point

FINE_CELLS = [f"km1:{row}:{column}" for row in (13960, 13963, 13969) for column in (11050, 11051, 11059, 11060, 11061)]
"""Cells of 1 km, nine in one cell of 10 km and six in its neighbour."""

numbers = st.dictionaries(st.sampled_from(FINE_CELLS), st.integers(1, 6))


def people(number: int) -> Community:
    return Community.of_all([Community.of({"felt": 1})] * number)


async def cells_of(reports: dict[str, int]) -> list[FeltCell]:
    return await felt_cells({cell: people(number) for cell, number in reports.items()}, lambda point: 1.0)


@given(numbers)
async def test_no_sum_or_difference_of_served_cells_is_of_one_or_two_people(reports: dict[str, int]) -> None:
    """Whoever subtracts served cells of 1 km from theirs of 10 km gets nobody, or at least three."""
    fine: defaultdict[str, list[int]] = defaultdict(list)
    coarse: dict[str, int] = {}
    for cell in await cells_of(reports):
        area = KM10.cell(*cell.centre)
        if cell.precision_km == 1:
            fine[area].append(cell.reports)
        else:
            coarse[area] = cell.reports

    for area, served_numbers in fine.items():
        subsets = chain.from_iterable(combinations(served_numbers, n) for n in range(1, len(served_numbers) + 1))
        for subset in subsets:
            assert sum(subset) >= 3
            assert coarse[area] - sum(subset) not in (1, 2)


@given(numbers)
async def test_cells_of_10_km_hold_all_reports_and_those_of_1_km_their_own(reports: dict[str, int]) -> None:
    cells = await cells_of(reports)

    by_area: defaultdict[str, int] = defaultdict(int)
    for fine, number in reports.items():
        by_area[KM10.cell(*KM1.centre(fine))] += number
    assert {KM10.cell(*c.centre): c.reports for c in cells if c.precision_km == 10} == by_area
    for cell in cells:
        if cell.precision_km == 1:
            assert cell.reports == reports[KM1.cell(*cell.centre)]


def test_a_cell_is_served_unless_one_or_two_reports_would_be_left() -> None:
    assert served({"a": 3}) == ["a"]
    assert served({"a": 2}) == []
    assert served({"a": 5, "b": 3, "c": 2, "d": 1}) == ["a", "b"]
    assert served({"a": 5, "b": 3, "c": 2}) == ["a"]
    assert served({"a": 5, "b": 1}) == []


async def test_a_cell_above_the_expected_intensity_by_more_than_two_degrees_is_an_outlier() -> None:
    strong = {"felt": 1, "motion": 3, "reaction": 3, "stand": 1, "shelf": 1}  # 5.4
    expected = {Point(*KM10.centre("km10:1396:1105")): 3.4, Point(*KM10.centre("km10:1396:1106")): 3.39}
    communities = {"km1:13960:11050": Community.of(strong), "km1:13960:11060": Community.of(strong)}

    cells = await felt_cells(communities, expected.__getitem__)

    assert [(cell.intensity, cell.expected, cell.outlier) for cell in cells] == [
        (5.4, 3.4, False),
        (5.4, 3.39, True),
    ]
