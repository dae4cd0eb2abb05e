"""Poisson intervals and rates, beside published values and those of SciPy."""

import pytest

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.statistics.poisson import gamma_quantile, garwood, regularised_gamma
from graph.domains.earthquakes.statistics.rates import MOST_MAGNITUDES, Rate, rates


def test_the_incomplete_gamma_function_and_its_quantiles_are_the_known_ones() -> None:
    for shape, part, expected in (
        (1, 0.5, 0.3934693402873665),
        (3, 2.0, 0.938031195583341),
        (100, 0.9, 0.15822098918643007),
        (3000, 1.01, 0.7095217782388564),
    ):
        assert regularised_gamma(shape, shape * part) == pytest.approx(expected, rel=1e-9)
    for great, probability, quantile in (
        (10**4, 0.00005, 9615.64415641737),
        (10**4, 0.975, 10196.941824999883),
        (10**6, 0.975, 1001960.9109654503),
        (10**8, 0.00005, 99961098.793283),
    ):
        assert gamma_quantile(great, probability) == pytest.approx(quantile, rel=1e-6)


def test_intervals_are_the_published_ones() -> None:
    """Those of Garwood's table (1936) for 95 %, and by quantiles of chi-square."""
    assert garwood(0, 0.95) == pytest.approx((0.0, 3.689), abs=5e-4)
    assert garwood(1, 0.95) == pytest.approx((0.0253, 5.572), abs=5e-4)
    assert garwood(10, 0.95) == pytest.approx((4.795, 18.390), abs=5e-4)
    assert garwood(5, 0.9999) == pytest.approx((0.3830233603470568, 20.473811900340785), rel=1e-9)
    assert garwood(57, 0.5) == pytest.approx((51.74254680406695, 62.93922004950092), rel=1e-9)
    assert garwood(3000, 0.999) == pytest.approx((2823.0397251839036, 3184.5416816388906), rel=1e-9)


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


def test_rates_of_impossible_magnitudes_are_refused() -> None:
    for magnitudes in ([2.05], [11.0], [1.0] * (MOST_MAGNITUDES + 1)):
        with pytest.raises(BadUserInput, match="`magnitudes`"):
            rates({20: 1}, 1.0, magnitudes, 0.95)
