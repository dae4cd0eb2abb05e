"""What DYFI's publications say of an earthquake's reports, computed without our code.

The earthquake is one of magnitude 6.2 at 35.6 °N, 117.6 °W, at noon.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import acos, cos, floor, log, log10, radians, sin, sqrt
from random import Random
from typing import NamedTuple

from tests.domains.sightings.felt.reporting import NOON_S

MAG, EPICENTRE = 6.2, (35.6, -117.6)


class Report(NamedTuple):
    """What somebody reports, and from where."""

    answers: dict[str, float]
    lat: float
    lon: float
    now_s: int
    event_id: str | None


Cell = tuple[int, int, int]
"""Width in km, row, column."""

WEIGHTS = {"felt": 5, "motion": 1, "reaction": 1, "stand": 2, "shelf": 5, "picture": 2, "furniture": 3, "damage": 5}
POSSIBLE: Mapping[str, Sequence[float]] = {
    "felt": [0, 0.36, 0.72, 1],
    "motion": [0, 1, 2, 3, 4, 5],
    "reaction": [0, 1, 2, 3, 4, 5],
    "stand": [0, 1],
    "shelf": [0, 1, 2, 3],
    "picture": [0, 1],
    "furniture": [0, 1],
    "damage": [0, 0.5, 0.75, 1, 2, 3],
}


def published_intensity(people: Iterable[dict[str, float]]) -> float:
    """The formula of DYFI, with exact means."""
    answered = defaultdict(list)
    for answers in people:
        for name, value in answers.items():
            answered[name].append(Fraction(str(value)))
    weighted = sum(WEIGHTS[name] * sum(values) / len(values) for name, values in answered.items())
    if weighted <= 0:
        return 1.0
    return max(2.0, round(round(3.3996 * log(weighted) - 4.3781, 4), 1))


def kilometres(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    """The spherical law of cosines."""
    a, b, between = radians(lat), radians(other_lat), radians(other_lon - lon)
    return 6371.0088 * acos(min(1.0, sin(a) * sin(b) + cos(a) * cos(b) * cos(between)))


def published_expectation(mag: float, km: float) -> float:
    """The equation of Atkinson, Worden and Wald."""
    r = sqrt(km**2 + 14**2)
    far = max(0.0, log10(r / 50))
    return max(1.0, 0.309 + 1.864 * mag - 1.672 * log10(r) - 0.00219 * r + 1.77 * far - 0.383 * mag * log10(r))


def cells_at(lat: float, lon: float) -> tuple[Cell, Cell]:
    """The cells of 10 km and 1 km: rows of 0.09 degrees, columns as wide in their middle, each divided by ten."""
    row, fine_row = floor((lat + 90) / 0.09), floor((lat + 90) / 0.009)
    columns = round(4000 * cos(radians(0.09 * row + 0.045 - 90)))
    turn = (lon + 180) / 360
    return (10, row, floor(turn * columns)), (1, fine_row, floor(turn * 10 * columns))


def middle_of(cell: Cell) -> tuple[float, float]:
    """The middle of a cell."""
    width, row, column = cell
    coarse_row = row if width == 10 else row // 10
    columns = round(4000 * cos(radians(0.09 * coarse_row + 0.045 - 90))) * (1 if width == 10 else 10)
    height = 0.09 if width == 10 else 0.009
    return (row + 0.5) * height - 90, (column + 0.5) * 360 / columns - 180


def expected_at(point: tuple[float, float]) -> float:
    """The earthquake's mean intensity at a point."""
    return published_expectation(MAG, kilometres(*EPICENTRE, *point))


def is_believed(report: Report) -> bool:
    """Whether the earthquake explains a report that names none."""
    seconds = report.now_s // 60 * 60 - NOON_S
    expected = expected_at(middle_of(cells_at(report.lat, report.lon)[1]))
    plausible = min(1, (expected - 1) / 2) * (1 - max(0, seconds) / 1800)
    return -60 <= seconds <= 1800 and round(plausible, 3) > 0


def simulated(number: int) -> list[Report]:
    """Reports, most of them from towns."""
    random = Random(62)
    towns = [(35.6 + random.gauss(0, 1.2), -117.6 + random.gauss(0, 1.5)) for _ in range(number // 50)]
    reports = []
    for _ in range(number):
        if random.random() < 0.8:
            lat, lon = (each + random.gauss(0, 0.01) for each in random.choice(towns))
        else:
            lat, lon = 35.6 + random.uniform(-9, 9), -117.6 + random.uniform(-11, 11)
        strength = max(0.0, expected_at((lat, lon)) - 1) / 6
        answers = {
            name: random.choice(values[: 1 + round(min(1, strength + random.random() / 4) * (len(values) - 1))])
            for name, values in POSSIBLE.items()
            if random.random() < 0.7
        }
        seconds = random.randrange(-100, 2000) if random.random() < 0.9 else random.randrange(3600)
        named = random.choice([None, None, "us6000sim1", "ci4000sim1"])
        reports.append(Report(answers or {"felt": 1}, lat, lon, NOON_S + seconds, named))
    return reports


Shown = tuple[int, float, float, bool]
"""Reports, intensity, expected intensity, whether it is an outlier."""


def expected_cells(reports: Sequence[Report]) -> dict[Cell, Shown]:
    """What is served of these reports when all of them are old."""
    coarse: dict[Cell, list[Report]] = defaultdict(list)
    fine: dict[Cell, list[Report]] = defaultdict(list)
    for report in reports:
        for kind, cell in zip((coarse, fine), cells_at(report.lat, report.lon), strict=True):
            kind[cell].append(report)
    shown = {**coarse, **{cell: together for cell, inside in fine.items() if (together := by_threes(inside))}}
    found: dict[Cell, Shown] = {}
    for cell, people in shown.items():
        intensity = published_intensity([report.answers for report in people])
        expected = expected_at(middle_of(cell))
        found[cell] = (len(people), intensity, round(expected, 4), intensity > expected + 2)
    return found


def by_threes(reports: Sequence[Report]) -> list[Report]:
    """The reports without the last ones: minute by minute, as long as three or more are together."""
    shown: list[Report] = []
    waiting: list[Report] = []
    for minute in sorted({report.now_s // 60 for report in reports}):
        waiting += [report for report in reports if report.now_s // 60 == minute]
        if len(waiting) >= 3:
            shown, waiting = shown + waiting, []
    return shown
