"""Which cells are served, so that nobody learns what fewer than three people have reported from 1 km."""

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from graph.domains.felt.cells import FeltCell, felt_cells
from graph.domains.sightings.collected_reports import Collected, FeltAt
from graph.domains.sightings.grid import KM1, KM10, Point
from graph.domains.sightings.questionnaire import Community

FINE_CELLS = [f"km1:{row}:{column}" for row in (13960, 13963, 13969) for column in (11050, 11051, 11059, 11060, 11061)]
"""Cells of 1 km, nine in one cell of 10 km and six in its neighbour."""

MINUTE_S = 60

arrivals = st.lists(st.tuples(st.sampled_from(FINE_CELLS), st.integers(0, 20)), max_size=40)
"""The cells and the minutes of reports."""


def shaken(number: int) -> Community:
    """So many people who felt it."""
    return Community(number, {"felt": number}, {"felt": 1000 * number})


def collected(reports: list[tuple[str, int]]) -> list[Collected]:
    """The stored items of reports."""
    return [
        Collected(cell, FeltAt(*KM1.centre(cell), MINUTE_S * minute), shaken(number), "event:us1")
        for (cell, minute), number in Counter(reports).items()
    ]


async def cells_of(reports: list[tuple[str, int]], now_s: int = 1_000_000) -> list[FeltCell]:
    return await felt_cells(collected(reports), now_s, lambda point: 1.0)


def fine_among(cells: list[FeltCell]) -> Counter[Point]:
    """The reports of the served cells of 1 km."""
    return Counter({cell.centre: cell.reports for cell in cells if cell.precision_km == 1})


@given(arrivals, st.randoms())
async def test_a_cell_of_1_km_never_shows_fewer_than_three_more_people(
    reports: list[tuple[str, int]], random: Random
) -> None:
    """Whoever asks again and again, whatever the order in which the reports of a minute are stored."""
    before: Counter[Point] = Counter()
    random.shuffle(reports)
    for now_s in range(0, MINUTE_S * 26, 20):
        stored = [(cell, minute) for cell, minute in reports if MINUTE_S * minute + 59 <= now_s]
        after = fine_among(await cells_of(stored, now_s))
        changes = {centre: after[centre] - before[centre] for centre in after | before}
        assert all(change == 0 or change >= 3 for change in changes.values()), changes
        before = after


@given(arrivals)
async def test_cells_of_10_km_hold_all_reports_and_those_of_1_km_nearly_all_of_their_own(
    reports: list[tuple[str, int]],
) -> None:
    cells = await cells_of(reports)

    coarse = Counter(KM10.centre(KM10.cell(*KM1.centre(cell))) for cell, _ in reports)
    assert {cell.centre: cell.reports for cell in cells if cell.precision_km == 10} == coarse
    fine, served = Counter(KM1.centre(cell) for cell, _ in reports), fine_among(cells)
    for centre, number in fine.items():
        assert number - 2 <= served[centre] <= number if number >= 3 else served[centre] == 0


async def test_a_minute_counts_for_its_cell_of_1_km_when_it_has_passed() -> None:
    reports = [(FINE_CELLS[0], 10)] * 3
    assert fine_among(await cells_of(reports, 10 * MINUTE_S + 179)) == {}
    assert fine_among(await cells_of(reports, 10 * MINUTE_S + 180)) == {KM1.centre(FINE_CELLS[0]): 3}


async def test_answers_that_one_person_may_have_given_twice_are_not_those_of_three_people() -> None:
    """With the earthquake's name and without, in two hours, by two of its ids, or a week later."""
    cell, week_s = FINE_CELLS[0], 7 * 86_400
    places = ["event:us1", "event:nc1", "km1000:13:5:2026-06-25T14", "km1000:13:5:2026-06-25T15"]

    def answers(place: str, number: int, time: float) -> Collected:
        people = shaken(number)
        return Collected(cell, FeltAt(*KM1.centre(cell), time), people, place)

    twice = [answers(place, 2, time) for place in places for time in (0, week_s)]
    assert fine_among(await felt_cells(twice, 2 * week_s, lambda point: 1.0)) == {}
    third = answers("event:nc1", 1, 2 * week_s - MINUTE_S)  # with those of its place and week, there are three people
    assert fine_among(await felt_cells([*twice, third], 2 * week_s + 180, lambda point: 1.0)) == {KM1.centre(cell): 17}


async def test_a_cell_above_the_expected_intensity_by_more_than_two_degrees_is_an_outlier() -> None:
    strong = {"felt": 1, "motion": 3, "reaction": 3, "stand": 1, "shelf": 1}  # 5.4
    expected = {Point(*KM10.centre("km10:1396:1105")): 3.4, Point(*KM10.centre("km10:1396:1106")): 3.39}
    reports = [
        Collected(cell, FeltAt(*KM1.centre(cell), 0), Community.of(strong), "event:us1")
        for cell in ("km1:13960:11050", "km1:13960:11060")
    ]

    cells = await felt_cells(reports, 1_000_000, expected.__getitem__)

    assert [(cell.intensity, cell.expected, cell.outlier) for cell in cells] == [(5.4, 3.4, False), (5.4, 3.39, True)]
