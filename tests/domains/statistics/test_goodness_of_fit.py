"""Whether samples are exponential, and their great events fit. The distances are those of SeismoStats.

How far b-values can be trusted, by network and mixed.
"""

from collections import Counter
from dataclasses import replace
from math import log
from random import Random
from statistics import fmean, pstdev

import pytest

from graph.domains.statistics import assessment
from graph.domains.statistics.events import is_earthquake
from graph.domains.statistics.goodness_of_fit import GoodnessOfFit, b_change, ks_distance, sample_above, scatter
from graph.domains.statistics.great_events import GreatEvents, great_events
from graph.domains.statistics.gutenberg_richter import (
    BIN,
    Completeness,
    completeness,
    gutenberg_richter,
    tinti_mulargia,
)
from graph.domains.statistics.networks import Mixture, Network, mixture, network_of
from graph.domains.statistics.reliability import Reliability, Verdict, verdict
from graph.domains.statistics.resampling import binomial, exponential
from tests.effort import rounds


def geometric(events: int, beta_bin: float, begin: int, seed: int) -> Counter[int]:
    """So many events in bins, of an exponential distribution from a bin on."""
    drawn = exponential(events, beta_bin, Random(seed))
    return Counter({begin + number: count for number, count in enumerate(drawn) if count})


def mixed(seed: int) -> Counter[int]:
    """Events of a dense network, complete from 1.0, and of one of the whole world, complete from 4.5."""
    return geometric(1000, 0.23, 10, seed) + geometric(300, 0.23, 45, seed + 1)


def test_the_distance_is_the_known_one() -> None:
    for sample, b, expected in (
        (geometric(800, 0.23, 10, 3), 0.7, 0.1398436569296283),
        (geometric(800, 0.23, 10, 3), 1.1, 0.031014858712801963),
        (mixed(5), 0.7, 0.22722109687689496),
        (mixed(5), 1.1, 0.2372796019433142),
    ):
        assert ks_distance(sample_above(sample, 1.0), b * log(10) * BIN) == pytest.approx(expected, rel=1e-12)


@pytest.mark.repeated
async def test_one_exponential_sample_in_ten_is_below_a_p_value_of_a_tenth() -> None:
    samples = [geometric(200, 0.23, 10, seed) for seed in range(rounds(60, at_least=25))]
    p_values = [(await assessment.goodness_of_fit(sample, 1.0)).p_value for sample in samples]

    assert 1 <= sum(p < 0.1 for p in p_values) <= len(samples) / 5
    assert fmean(p_values) == pytest.approx(0.5, abs=0.12)


async def test_a_mixture_is_never_taken_for_an_exponential_sample() -> None:
    for seed in range(5):
        found = await assessment.goodness_of_fit(mixed(seed), 1.0)
        assert (found.p_value, found.distance > 0.1) == (0.0, True)


async def test_the_same_events_have_the_same_p_value_and_interval() -> None:
    sample = geometric(500, 0.23, 10, 1)

    assert await assessment.goodness_of_fit(sample, 1.0) == await assessment.goodness_of_fit(sample, 1.0)
    assert await assessment.bootstrap(sample, 1.0, 0.9) == await assessment.bootstrap(sample, 1.0, 0.9)


def test_the_rate_of_binned_magnitudes_is_exact() -> None:
    drawn = exponential(10**7, 0.23, Random(1))
    mean = sum(number * count for number, count in enumerate(drawn)) / 10**7

    assert tinti_mulargia(mean) == pytest.approx(0.23, rel=0.002)


def test_a_b_value_that_rises_with_the_completeness_is_not_stable() -> None:
    complete = geometric(5000, 0.23, 10, 2)
    thinned = Counter({tenths: count * min(tenths - 5, 10) // 10 for tenths, count in complete.items()})

    assert abs(b_change(sample_above(complete, 1.0)) or 9) < 1.5
    assert (b_change(sample_above(thinned, 1.0)) or 0) > 3
    assert b_change([90, 0, 10]) is None, "above 1.2 there is one bin alone"


def slopes(events: int, seed: int) -> tuple[Counter[int], float]:
    """Events of two slopes, half of them of b = 0.7 and of b = 1.4, all complete from 1.0."""
    return geometric(events // 2, 0.161, 10, seed) + geometric(events // 2, 0.322, 10, seed + 10_000), 1.0


def fading(events: int, seed: int) -> tuple[Counter[int], float]:
    """Events with b = 1, of which a network finds more and more over a magnitude, and their completeness."""
    chance, found = Random(seed), Counter[int]()
    for tenths, count in geometric(round(3.6 * events), 0.23, 8, seed).items():
        found[tenths] += binomial(chance, count, min(1.0, (tenths - 7) / 10))
    return +found, completeness(found).magnitude or 0.0


async def good(samples: list[tuple[Counter[int], float]]) -> int:
    """How many of them are `GOOD`."""
    verdicts = []
    for counts, least in samples:
        b = gutenberg_richter(counts, Completeness(least)).b or 0.0
        fit = await assessment.goodness_of_fit(counts, least)
        verdicts.append(verdict(fit, None, great_events(counts, least, b)).reliability)
    return verdicts.count(Reliability.GOOD)


@pytest.mark.parametrize("seed", range(4))
async def test_the_tests_tell_mixed_slopes_from_missing_events(seed: int) -> None:
    mixed_slopes, incomplete = [
        await assessment.goodness_of_fit(*sample) for sample in (slopes(2000, seed), fading(5000, seed))
    ]

    assert mixed_slopes.scatter > 1 > incomplete.scatter
    assert (mixed_slopes.scatter_p_value < 0.05, mixed_slopes.is_stable) == (True, True)
    assert (incomplete.scatter_p_value < 0.05, incomplete.is_stable) == (False, False)


async def test_most_exponential_samples_are_good_and_most_others_are_not() -> None:
    """The table of the documents has more samples."""
    assert await good([(geometric(500, 0.23, 10, seed), 1.0) for seed in range(30)]) >= 25
    assert await good([slopes(500, seed) for seed in range(30)]) <= 10
    assert await good([fading(500, seed) for seed in range(30)]) <= 11


def test_scatter_in_numbers() -> None:
    assert scatter([50, 50]) == pytest.approx(0.25 / (0.5 * 1.5))
    assert scatter([100]) == 1.0


@pytest.mark.parametrize("events", [100, 1000])
async def test_a_bootstrap_interval_is_as_wide_as_the_standard_deviation_says(events: int) -> None:
    sample = geometric(events, 0.23, 10, 4)
    found = gutenberg_richter(sample, Completeness(1.0))
    interval = await assessment.bootstrap(sample, 1.0, 0.95)

    assert found.b is not None
    assert found.uncertainty is not None
    assert interval.low < found.b < interval.high
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * found.uncertainty, rel=0.15)


@pytest.mark.parametrize(("trials", "probability"), [(1, 0.5), (40, 0.1), (50, 0.9), (1000, 0.01), (10_000, 0.3)])
def test_a_binomial_number_has_its_mean_and_variance(trials: int, probability: float) -> None:
    chance = Random(9)
    drawn = [binomial(chance, trials, probability) for _ in range(4000)]

    assert 0 <= min(drawn) <= max(drawn) <= trials
    deviation = (trials * probability * (1 - probability)) ** 0.5
    assert fmean(drawn) == pytest.approx(trials * probability, abs=4 * deviation / 4000**0.5)
    assert pstdev(drawn) == pytest.approx(deviation, rel=0.06)


# Great events


SAMPLES = 200


def test_the_least_likely_number_has_the_known_chance() -> None:
    found = great_events(geometric(1000, 0.2303, 10, 1) + Counter({60: 3}), 1.0, 1.0)

    assert (found.magnitude, found.events) == (6.0, 3)
    assert found.expected == pytest.approx(0.01003)
    assert found.p_value == pytest.approx(1.0348492222094091e-05, rel=1e-9), "SciPy's"


def test_missing_great_events_are_seen_too() -> None:
    """Of a catalogue that was cut, or whose magnitudes saturate."""
    counts = geometric(40_000, 0.2303, 10, 1)
    cut = Counter({tenths: count for tenths, count in counts.items() if tenths < 40})

    found = great_events(cut, 1.0, 1.0)

    assert (found.magnitude, found.events) == (4.0, 0)
    assert found.expected == pytest.approx(40, rel=0.01)
    assert found.p_value < 1e-12


@pytest.mark.parametrize("events", [60, 1000, 40_000])
def test_exponential_samples_are_objected_to_in_one_case_of_twenty_at_most(events: int) -> None:
    objected = 0
    for seed in range(SAMPLES):
        counts = geometric(events, 0.23, 10, seed)
        b = gutenberg_richter(counts, Completeness(1.0)).b
        assert b is not None
        found = great_events(counts, 1.0, b)
        objected += found.p_value < 0.05

    assert objected <= SAMPLES / 20


FITS = GoodnessOfFit(0.01, 0.5, 1.0, 0.5, 0.3, 0.4, True)
ONE = Mixture((Network("ci", 300, 200, 1.0),), (), 0.0)


def test_a_verdict_is_the_worst_of_its_tests() -> None:
    networks = (Network("us", 9, 9, 4.5), Network("ci", 9, 9, 1.0))
    for fit, mixed, expected in (
        (FITS, ONE, Reliability.GOOD),
        (FITS, None, Reliability.GOOD),
        (replace(FITS, distance=0.2, p_value=0.0), ONE, Reliability.POOR),
        (replace(FITS, p_value=0.0), ONE, Reliability.DOUBTFUL),
        (replace(FITS, distance=0.2, p_value=0.01), ONE, Reliability.GOOD),
        (replace(FITS, is_stable=False), ONE, Reliability.DOUBTFUL),
        (replace(FITS, is_stable=None), ONE, Reliability.GOOD),
        (replace(FITS, scatter_p_value=0.055), ONE, Reliability.DOUBTFUL),
        (FITS, Mixture(networks, (), 0.0), Reliability.GOOD),
        (FITS, Mixture(networks, networks[:1], 0.5), Reliability.POOR),
    ):
        found = verdict(fit, mixed)

        assert found.reliability is expected, (fit, mixed)
        assert (found.reason is None) is (expected is Reliability.GOOD)


def test_a_reason_names_great_events_and_claims_no_smaller_part_than_was_simulated() -> None:
    """Of 400 samples, one is a quarter of a percent."""
    assert verdict(FITS, ONE, GreatEvents(6.0, 4, 0.195, 0.003)) == Verdict(
        Reliability.DOUBTFUL,
        "The great events do not fit: 4 have at least magnitude 6.0, where the relation expects 0.2.",
    )
    assert verdict(FITS, ONE, GreatEvents(6.0, 1, 0.195, 0.4)) == Verdict(Reliability.GOOD)

    for fit, said in (
        (replace(FITS, scatter=1.3, scatter_p_value=0.0), "The magnitudes scatter more than exponential ones"),
        (replace(FITS, b_change=1.04, is_stable=False), "its mean is 1.04 standard deviations higher. Small events"),
        (replace(FITS, distance=0.2, p_value=0.0), "as at most 0.25% of exponential samples are"),
    ):
        assert said in (verdict(fit, ONE).reason or "")


def test_a_network_is_incomplete_if_its_maximum_lies_well_above_the_completeness() -> None:
    dense = [("ci", 10)] * 60 + [("ci", 12)] * 40
    near = [("nc", 12)] * 30
    far = [("us", 13)] * 30
    few = [("pr", 25)] * 3 + [("hv", 13)] * 19

    found = mixture([*dense, *near, *far, *few], 1.0)

    assert [network.network for network in found.incomplete] == ["us"]
    assert found.part == 30 / 182
    assert found.is_harmful
    assert found.networks[0] == Network("ci", 100, 100, 1.0, 1.0)
    assert not mixture([*dense, *near], 1.0).is_harmful
    assert not mixture(far, 1.0).is_harmful, "one network is no mixture"
    assert not mixture([*dense, *far], None).is_harmful


def test_a_few_events_are_of_an_incomplete_network_if_all_of_them_are_great() -> None:
    """As in a week of Alaska: 19 events of the whole world's network from 2.5 on, among 250 from 1.3 on."""
    found = mixture([("ak", 13)] * 250 + [("us", 25)] * 19, 1.3)

    assert [each.network for each in found.incomplete] == ["us"]
    assert found.is_harmful
    assert "us (2.5), with 7% of the events" in (verdict(FITS, found).reason or "")


def test_a_network_is_the_sources_own_or_the_letters_of_the_id() -> None:
    for event_id, net, network in (
        ("nc73919986", None, "nc"),
        ("ismpkansas70232", None, "ismpkansas"),
        ("ak023a1b2c3", None, "ak"),
        ("usp000hvnu", "us", "us"),
        ("ci37211552", "nc", "nc"),
        ("12345", None, "12345"),
    ):
        assert network_of({"eventId": event_id} | ({"net": net} if net else {})) == network


def test_an_event_without_another_type_is_an_earthquake() -> None:
    assert all(map(is_earthquake, (None, "", "earthquake", "Earthquake", "EARTHQUAKE", "earthquake ")))
    assert not any(map(is_earthquake, ("quarry blast", "explosion", "ice quake", "Quarry_Blast", "earthquakes")))
