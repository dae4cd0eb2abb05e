"""Statistics beside SciPy and NumPy. The first tier holds fixed values of them."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammainc
from scipy.stats import chi2, gamma, poisson

from graph.domains.statistics.great_events import great_events
from graph.domains.statistics.inter_event_times import inter_event_times
from graph.domains.statistics.poisson import NORMAL_FROM, gamma_quantile, garwood, regularised_gamma
from tests.domains.statistics.test_goodness_of_fit import geometric


@given(st.integers(1, 3000), st.floats(0.01, 3.0))
def test_the_incomplete_gamma_function_is_that_of_scipy(shape: int, part: float) -> None:
    assert regularised_gamma(shape, shape * part) == pytest.approx(gammainc(shape, shape * part), rel=1e-9, abs=1e-12)


@given(st.integers(0, 3000), st.floats(0.5, 0.9999))
def test_an_interval_is_by_quantiles_of_chi_square(events: int, confidence: float) -> None:
    low, high = garwood(events, confidence)
    tail = (1 - confidence) / 2

    assert low == pytest.approx(chi2.ppf(tail, 2 * events) / 2 if events else 0.0, rel=1e-9)
    assert high == pytest.approx(chi2.ppf(1 - tail, 2 * events + 2) / 2, rel=1e-9)


@pytest.mark.parametrize("shape", [NORMAL_FROM, 10**5, 10**6, 10**8])
def test_the_quantiles_of_great_numbers_are_right_to_a_millionth(shape: int) -> None:
    for probability in (0.00005, 0.025, 0.5, 0.975, 0.99995):
        assert gamma_quantile(shape, probability) == pytest.approx(gamma.ppf(probability, shape), rel=1e-6)


def test_the_least_likely_number_of_great_events_is_that_of_scipy() -> None:
    counts = geometric(1000, 0.2303, 10, 1) + Counter({60: 3})
    probabilities = []
    for tenths in range(10, 62):
        number, mean = sum(count for at, count in counts.items() if at >= tenths), 1003 * 10 ** (1 - tenths / 10)
        if min(number, mean) <= 10:
            probabilities.append(min(poisson.sf(number - 1, mean), poisson.cdf(number, mean)))

    assert great_events(counts, 1.0, 1.0).p_value == pytest.approx(2 * len(probabilities) * min(probabilities))


@given(st.lists(st.integers(0, 10**9), min_size=2, max_size=50).map(sorted))
def test_times_between_events_are_those_of_numpy(times: list[int]) -> None:
    parts = (0.0, 0.05, 0.5, 0.95, 1.0)
    found = inter_event_times(times, parts)
    gaps = np.diff(times) / 1000

    assert found.number == len(gaps)
    assert found.mean_seconds == pytest.approx(gaps.mean())
    assert [each.seconds for each in found.quantiles] == pytest.approx(list(np.quantile(gaps, parts)))
    if gaps.mean():
        assert found.coefficient_of_variation == pytest.approx(gaps.std() / gaps.mean())
