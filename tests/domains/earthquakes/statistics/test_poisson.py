"""Poisson intervals and rates, beside scipy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammainc
from scipy.stats import chi2, gamma

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.statistics.poisson import NORMAL_FROM, gamma_quantile, garwood, regularised_gamma
from graph.domains.earthquakes.statistics.rates import MOST_MAGNITUDES, Rate, rates


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
@pytest.mark.parametrize("probability", [0.00005, 0.025, 0.5, 0.975, 0.99995])
def test_the_quantiles_of_great_numbers_are_right_to_a_millionth(shape: int, probability: float) -> None:
    assert gamma_quantile(shape, probability) == pytest.approx(gamma.ppf(probability, shape), rel=1e-6)


def test_intervals_are_the_published_ones() -> None:
    """Those of Garwood's table (1936) for 95 %."""
    assert garwood(0, 0.95) == pytest.approx((0.0, 3.689), abs=5e-4)
    assert garwood(1, 0.95) == pytest.approx((0.0253, 5.572), abs=5e-4)
    assert garwood(10, 0.95) == pytest.approx((4.795, 18.390), abs=5e-4)


def test_a_rate_is_of_all_events_from_its_magnitude_on() -> None:
    counts = {12: 5, 20: 3, 45: 2}
    found = rates(counts, 2.0, [1.2, 2.0, 5.0], 0.95)

    assert [(rate.events, rate.per_year) for rate in found] == [
        (10, 5.0),
        (5, 2.5),
        (0, 0.0),
    ]
    assert found[0].low == pytest.approx(4.795 / 2, abs=5e-4)
    assert found[0].high == pytest.approx(18.390 / 2, abs=5e-4)
    assert [rate.magnitude for rate in rates(counts, 2.0, None, 0.95)] == [2.0, 3.0, 4.0]
    assert [rate.magnitude for rate in rates({-12: 5, 11: 1}, 2.0, None, 0.95)] == [-1.0, 0.0, 1.0]
    assert rates({}, 2.0, None, 0.95) == list[Rate]()


@pytest.mark.parametrize("magnitudes", [[2.05], [11.0], [1.0] * (MOST_MAGNITUDES + 1)])
def test_rates_of_impossible_magnitudes_are_refused(magnitudes: list[float]) -> None:
    with pytest.raises(BadUserInput, match="`magnitudes`"):
        rates({20: 1}, 1.0, magnitudes, 0.95)
