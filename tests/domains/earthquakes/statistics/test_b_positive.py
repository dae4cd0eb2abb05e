"""The b-value of positive differences, and through time, beside SeismoStats."""

from collections import Counter
from random import Random

import numpy as np
import pytest

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.statistics.b_positive import MOST_WINDOWS, b_positive, b_windows
from graph.domains.earthquakes.statistics.gutenberg_richter import LEAST_EVENTS
from tests.domains.earthquakes.statistics.references import BPositiveBValueEstimator, UtsuBValueEstimator


def drawn(size: int, seed: int, b: float = 1.0, begin: int = 10) -> list[int]:
    """Bins of magnitudes in order of time."""
    chance = Random(seed)
    return [begin + int(chance.expovariate(b * 0.230258509)) for _ in range(size)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("least", [1, 2, 5])
def test_b_positive_and_its_uncertainty_are_those_of_seismostats(seed: int, least: int) -> None:
    tenths = drawn(2000, seed)
    theirs = BPositiveBValueEstimator()
    theirs.calculate(np.array(tenths) / 10, mc=1.0, delta_m=0.1, dmc=least / 10)

    found = b_positive(tenths, least)

    assert found.b == pytest.approx(theirs.b_value)
    assert found.uncertainty == pytest.approx(theirs.std, rel=2e-3)
    assert found.differences == theirs.n


def test_b_positive_is_right_where_the_completeness_changes() -> None:
    """After each great event, small ones are missed; the classic estimate of the same events is not right."""
    chance = Random(4)
    missed_below = 10.0
    tenths: list[int] = []
    for magnitude in drawn(40_000, 5):
        missed_below = max(missed_below - chance.random() * 2, 10)
        if magnitude >= missed_below:
            tenths.append(magnitude)
            missed_below = max(missed_below, magnitude - 3.0)
    classic = UtsuBValueEstimator()
    classic.calculate(np.array(tenths) / 10, mc=1.0, delta_m=0.1)

    found = b_positive(tenths, 1)

    assert found.b == pytest.approx(1.0, abs=0.04)
    assert abs(classic.b_value - 1.0) > 0.08


def test_b_positive_needs_differences() -> None:
    few = b_positive([10, 20] * (LEAST_EVENTS - 1), 1)
    alike = b_positive([10, 20] * LEAST_EVENTS, 1)

    assert (few.b, few.reason) == (None, "Only 49 magnitudes exceed the one before; an estimate needs 50.")
    assert (alike.differences, alike.uncertainty) == (50, 0.0)
    assert b_positive([10, 11] * LEAST_EVENTS, 1).reason == "All positive differences are equal."


def test_windows_are_of_so_many_events_above_the_completeness_each() -> None:
    tenths = [*drawn(500, 1, b=0.7), *drawn(500, 2, b=1.4)]
    times = list(range(1000))
    complete = [(time, tenth) for time, tenth in zip(times, tenths, strict=True) if tenth >= 12]

    windows = list(b_windows(times, tenths, 1.2, 100, 50))

    assert len(windows) == (len(complete) - 100) // 50 + 1
    for number, window in enumerate(windows):
        of_window = complete[number * 50 : number * 50 + 100]
        theirs = UtsuBValueEstimator()
        theirs.calculate(np.array([tenth for _, tenth in of_window]) / 10, mc=1.2, delta_m=0.1)
        assert (window.first_ms, window.last_ms, window.events) == (of_window[0][0], of_window[-1][0], 100)
        assert window.b == pytest.approx(theirs.b_value)
        assert window.uncertainty == pytest.approx(theirs.std, rel=1e-3)
    assert windows[0].b < 1.0 < windows[-1].b


def test_a_window_without_a_slope_is_left_out_and_too_many_windows_are_refused() -> None:
    assert list(b_windows(range(100), [20] * 100, 2.0, 50, 50)) == []
    with pytest.raises(BadUserInput, match=f"more than {MOST_WINDOWS} windows"):
        list(b_windows(range(1000), drawn(1000, 1), 1.0, 50, 1))


def test_differences_are_counted_once_each() -> None:
    assert b_positive([10, 12, 11, 15, 15, 16] * 50, 1).differences == Counter({2: 50, 4: 50, 1: 50}).total()
