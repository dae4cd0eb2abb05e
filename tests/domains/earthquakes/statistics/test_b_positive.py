"""The b-value of positive differences, and through time. The expected numbers are those of SeismoStats."""

from random import Random

import pytest

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.statistics.b_positive import MOST_WINDOWS, b_positive, b_windows
from graph.domains.earthquakes.statistics.gutenberg_richter import LEAST_EVENTS


def drawn(size: int, seed: int, b: float = 1.0, begin: int = 10) -> list[int]:
    """Bins of magnitudes in order of time."""
    chance = Random(seed)
    return [begin + int(chance.expovariate(b * 0.230258509)) for _ in range(size)]


def test_b_positive_and_its_uncertainty_are_the_known_ones() -> None:
    tenths = drawn(2000, 0)
    for least, expected in (
        (1, (1.0051516895447041, 0.03421494350541631, 906)),
        (2, (1.016482173542587, 0.03938353072044486, 726)),
        (5, (0.9609865568868414, 0.052457262735721856, 345)),
    ):
        found = b_positive(tenths, least)
        assert (found.b, found.uncertainty, found.differences) == pytest.approx(expected, rel=1e-12)
    assert b_positive([10, 12, 11, 15, 15, 16] * 50, 1).differences == 150, "of 2, 4 and 1 tenths, once each"


def test_b_positive_is_right_where_the_completeness_changes() -> None:
    """After each great event, small ones are missed."""
    chance = Random(4)
    missed_below = 10.0
    tenths: list[int] = []
    for magnitude in drawn(40_000, 5):
        missed_below = max(missed_below - chance.random() * 2, 10)
        if magnitude >= missed_below:
            tenths.append(magnitude)
            missed_below = max(missed_below, magnitude - 3.0)

    assert b_positive(tenths, 1).b == pytest.approx(1.0, abs=0.04)


def test_b_positive_needs_differences() -> None:
    few = b_positive([10, 20] * (LEAST_EVENTS - 1), 1)
    alike = b_positive([10, 20] * LEAST_EVENTS, 1)

    assert (few.b, few.reason) == (None, "Only 49 magnitudes exceed the one before; an estimate needs 50.")
    assert (alike.differences, alike.uncertainty) == (50, 0.0)
    assert b_positive([10, 11] * LEAST_EVENTS, 1).reason == "All positive differences are equal."


def test_windows_are_of_so_many_events_above_the_completeness_each() -> None:
    tenths = [*drawn(500, 1, b=0.7), *drawn(500, 2, b=1.4)]
    complete = [time for time, tenth in enumerate(tenths) if tenth >= 12]

    windows = list(b_windows(range(1000), tenths, 1.2, 100, 50))

    assert len(windows) == (len(complete) - 100) // 50 + 1 == 11
    for number, window in enumerate(windows):
        begin, end = complete[number * 50], complete[number * 50 + 99]
        assert (window.first_ms, window.last_ms, window.events) == (begin, end, 100)
    first, last = windows[0], windows[-1]
    assert (first.b, first.uncertainty) == pytest.approx((0.772765982034256, 0.07297667628323397), rel=1e-12)
    assert (last.b, last.uncertainty) == pytest.approx((1.3875223064001652, 0.11612134107402018), rel=1e-12)


def test_a_window_without_a_slope_is_left_out_and_too_many_windows_are_refused() -> None:
    assert list(b_windows(range(100), [20] * 100, 2.0, 50, 50)) == []
    with pytest.raises(BadUserInput, match=f"more than {MOST_WINDOWS} windows"):
        list(b_windows(range(1000), drawn(1000, 1), 1.0, 50, 1))
