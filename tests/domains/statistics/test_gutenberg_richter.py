"""The magnitude-frequency distribution, the completeness and the b-value, beside definitions and published values."""

from collections import Counter
from math import log, log1p, log10, sqrt
from random import Random
from statistics import NormalDist, fmean, variance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.magnitudes import bin_of
from graph.domains.statistics.b_positive import MOST_WINDOWS, b_positive, b_windows
from graph.domains.statistics.gutenberg_richter import (
    LEAST_EVENTS,
    Completeness,
    MagnitudeBin,
    completeness,
    distribution,
    gutenberg_richter,
)

counts = st.dictionaries(st.integers(-20, 100), st.integers(0, 500), max_size=30)


def sample(b: float, least: float, size: int, seed: int) -> list[float]:
    """Magnitudes that follow Gutenberg and Richter's relation from `least` on."""
    draw = Random(seed)
    return [least - log10(1 - draw.random()) / b for _ in range(size)]


def binned(magnitudes: list[float]) -> Counter[int]:
    return Counter(bin_of(magnitude)[0] for magnitude in magnitudes)


def test_a_distribution_in_numbers() -> None:
    assert distribution({45: 2, 47: 1, 48: 0}) == [
        MagnitudeBin(4.5, 2, 3),
        MagnitudeBin(4.6, 0, 1),
        MagnitudeBin(4.7, 1, 1),
    ]
    assert distribution({}) == []
    assert [each.cumulative for each in distribution({-20: 1, 100: 1})] == [2, *[1] * 120]


def test_the_completeness_is_where_most_events_are() -> None:
    counts = {9: 40, 10: 60, 11: 60, 12: 30}

    assert completeness(counts, corrected=False) == Completeness(1.0)
    assert completeness(counts) == Completeness(1.2)
    assert completeness({10: LEAST_EVENTS - 1}).magnitude is None
    assert completeness({10: LEAST_EVENTS}).magnitude == 1.2
    assert completeness({10: 3}).reason == "Only 3 events are selected; an estimate needs 50."


@given(counts, st.booleans())
def test_a_b_value_is_what_its_formula_says_of_each_event(counts: dict[int, int], corrected: bool) -> None:
    least = completeness(counts, corrected=corrected)
    found = gutenberg_richter(counts, least)

    if least.magnitude is None:
        assert (found.b, found.events, found.no_estimate) == (None, 0, least.reason)
        return
    begin = least.magnitude
    events = [tenths / 10 for tenths, count in counts.items() for _ in range(count) if tenths / 10 >= begin - 0.01]
    assert found.events == len(events)
    if found.b is None:
        assert len(events) < LEAST_EVENTS or len(set(events)) == 1
        assert found.no_estimate
        return
    b = log1p(0.1 / (fmean(events) - begin)) / (0.1 * log(10))
    assert found.b == pytest.approx(b)
    assert found.uncertainty == pytest.approx(log(10) * b**2 * sqrt(variance(events) / len(events)))
    assert found.a is not None
    assert 10 ** (found.a - found.b * begin) == pytest.approx(len(events))


def incomplete(seed: int, size: int = 20_000) -> Counter[int]:
    """Magnitudes with b = 1, of which a network finds half at 1.0: with a chance as in Ogata and Katsura (1993)."""
    draw, detected = Random(seed), NormalDist(1.0, 0.25)
    return binned([m for m in sample(1.0, 0.0, size, seed + 1) if draw.random() < detected.cdf(m)])


def test_completeness_b_value_a_value_and_uncertainty_are_the_known_ones() -> None:
    """Those of SeismoStats, for the same magnitudes."""
    counts = incomplete(0)
    found = gutenberg_richter(counts, completeness(counts))

    assert (found.completeness, found.events) == (1.3, 1001)
    values = (found.b, found.uncertainty, found.a)
    assert values == pytest.approx((0.9613533232754563, 0.029016573737346518, 4.250193397737411), rel=1e-12)


def test_the_b_value_of_binned_magnitudes_has_no_bias() -> None:
    """Utsu's correction gives 0.996 for 1, which two million events tell apart."""
    found = gutenberg_richter(binned(sample(1.0, 1.0, 10_000, 7)) + Counter(), Completeness(1.0))
    exact = Counter({10 + n: round(10**9 * 10 ** (-n / 10) * (1 - 10**-0.1)) for n in range(80)})

    assert gutenberg_richter(exact, Completeness(1.0)).b == pytest.approx(1.0, abs=1e-6)
    assert found.b == pytest.approx(1.0, abs=0.03)


def test_a_given_completeness_and_a_number_of_years_are_taken() -> None:
    counts = binned(sample(1.0, 1.0, 5_000, seed=5))
    found = gutenberg_richter(counts, Completeness.given(2.0), years=10)

    assert (found.completeness, found.events) == (2.0, sum(n for t, n in counts.items() if t >= 20))
    assert found.a is not None
    assert found.a_per_year == found.a - 1
    assert gutenberg_richter(counts, Completeness.given(1.0)).a_per_year is None
    for impossible in (2.05, 11.0, -3.0):
        with pytest.raises(BadUserInput, match="`completenessMagnitude` must be on a tenth"):
            Completeness.given(impossible)


def test_one_bin_alone_has_no_slope() -> None:
    found = gutenberg_richter({20: 100}, Completeness(2.0))

    assert (found.b, found.events) == (None, 100)
    assert found.no_estimate == "All events above the completeness are in one bin."


# Positive differences, and windows of time


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
        assert (window.first_at, window.last_at, window.events) == (begin, end, 100)
    first, last = windows[0], windows[-1]
    assert (first.b, first.uncertainty) == pytest.approx((0.7748146116973044, 0.07336411660795188), rel=1e-12)
    assert (last.b, last.uncertainty) == pytest.approx((1.399508765463546, 0.11813629357280596), rel=1e-12)


def test_a_window_without_a_slope_is_left_out_and_too_many_windows_are_refused() -> None:
    assert list(b_windows(range(100), [20] * 100, 2.0, 50, 50)) == []
    with pytest.raises(BadUserInput, match=f"more than {MOST_WINDOWS} windows"):
        list(b_windows(range(1000), drawn(1000, 1), 1.0, 50, 1))
