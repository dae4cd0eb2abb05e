"""Statistics beside SeismoStats. The first tier holds fixed values of it."""

import warnings
from collections import Counter
from random import Random

import numpy as np
import pytest

from graph.domains.statistics.b_positive import b_positive, b_windows
from graph.domains.statistics.goodness_of_fit import ks_distance, sample_above
from graph.domains.statistics.gutenberg_richter import BIN, completeness, gutenberg_richter
from graph.domains.statistics.resampling import SEED, exponential
from tests.domains.statistics.test_goodness_of_fit import geometric, mixed
from tests.domains.statistics.test_gutenberg_richter import drawn, incomplete

with warnings.catch_warnings():  # of what its own libraries deprecated
    warnings.simplefilter("ignore")
    from seismostats.analysis import (
        BPositiveBValueEstimator,
        ClassicAValueEstimator,
        ClassicBValueEstimator,
        estimate_mc_maxc,
    )
    from seismostats.analysis.estimate_mc import ks_test_gr


def magnitudes_of(counts: Counter[int]) -> np.ndarray:
    """The lower edges of the bins of every event, as SeismoStats takes them."""
    return np.array([tenths / 10 for tenths, count in sorted(counts.items()) for _ in range(count)])


@pytest.mark.parametrize("seed", range(3))
def test_completeness_b_value_a_value_and_uncertainty_are_those_of_seismostats(seed: int) -> None:
    counts = incomplete(seed)
    magnitudes = magnitudes_of(counts)
    least, _ = estimate_mc_maxc(magnitudes, fmd_bin=0.1)
    classic_b, classic_a = ClassicBValueEstimator(), ClassicAValueEstimator()
    classic_b.calculate(magnitudes, mc=least, delta_m=0.1)
    classic_a.calculate(
        magnitudes[magnitudes >= least - 0.05], mc=least, delta_m=0.1, m_ref=0.0, b_value=classic_b.b_value
    )

    found = gutenberg_richter(counts, completeness(counts))

    assert found.completeness == pytest.approx(least)
    assert found.events == classic_b.n
    assert found.b == pytest.approx(classic_b.b_value)
    assert found.uncertainty == pytest.approx(classic_b.std)
    assert found.a == pytest.approx(classic_a.a_value)


@pytest.mark.parametrize("seed", range(3))
def test_b_positive_and_its_uncertainty_are_those_of_seismostats(seed: int) -> None:
    tenths = drawn(2000, seed)
    for least in (1, 2, 5):
        theirs = BPositiveBValueEstimator()
        theirs.calculate(np.array(tenths) / 10, mc=1.0, delta_m=0.1, dmc=least / 10)

        found = b_positive(tenths, least)

        assert found.b == pytest.approx(theirs.b_value)
        assert found.uncertainty == pytest.approx(theirs.std, rel=2e-3)
        assert found.differences == theirs.n


def test_the_b_value_of_each_window_is_that_of_seismostats() -> None:
    tenths = [*drawn(500, 1, b=0.7), *drawn(500, 2, b=1.4)]
    complete = [tenth for tenth in tenths if tenth >= 12]

    for number, window in enumerate(b_windows(range(1000), tenths, 1.2, 100, 50)):
        theirs = ClassicBValueEstimator()
        theirs.calculate(np.array(complete[number * 50 : number * 50 + 100]) / 10, mc=1.2, delta_m=0.1)
        assert window.b == pytest.approx(theirs.b_value)
        assert window.uncertainty == pytest.approx(theirs.std)


@pytest.mark.parametrize("sample", [geometric(800, 0.23, 10, 3), mixed(5)], ids=["exponential", "mixed"])
def test_the_distance_is_that_of_seismostats(sample: Counter[int]) -> None:
    for b in (0.7, 0.9, 1.1):
        _, expected, _ = ks_test_gr(magnitudes_of(sample), mc=1.0, delta_m=0.1, b_value=b, ks_ds=[1.0])

        assert ks_distance(sample_above(sample, 1.0), b * np.log(10) * BIN) == pytest.approx(expected)


def test_distances_of_exponential_samples_are_those_of_seismostats_for_a_known_b_value() -> None:
    """Without estimating b anew for each sample, their quantiles are those that SeismoStats simulates."""
    np.random.seed(1)
    magnitudes = np.array([1.0, 1.1, 2.0] * 100)
    _, _, theirs = ks_test_gr(magnitudes, mc=1.0, delta_m=0.1, b_value=1.0, n=1500)
    chance, rate = Random(SEED), np.log(10) * BIN
    ours = [ks_distance(exponential(300, rate, chance), rate) for _ in range(1500)]

    assert np.quantile(ours, [0.1, 0.5, 0.9]) == pytest.approx(np.quantile(theirs, [0.1, 0.5, 0.9]), rel=0.06)
