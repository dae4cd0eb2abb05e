"""Whether magnitudes above the completeness follow the exponential distribution that a b-value stands for. No I/O."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import exp, log1p
from random import Random

from graph.domains.earthquakes.statistics.gutenberg_richter import Counts, above, shi_bolt, utsu
from graph.domains.earthquakes.statistics.resampling import SEED, exponential

SAMPLES = 400  # simulated; a p-value is known to 0.025 at worst
STABLE_BINS = 5  # half a magnitude


@dataclass(frozen=True, slots=True)
class GoodnessOfFit:
    """The results of two tests of a sample above its magnitude of completeness."""

    distance: float  # of Kolmogorov and Smirnov, between the two cumulative distributions, 0 to 1
    p_value: float  # the part of truly exponential samples that lie at least as far off
    b_change: float | None  # of b over half a magnitude, in standard deviations; None with too few events
    is_stable: bool | None  # whether that is at most one


def tinti_mulargia(mean_bins: float) -> float:
    """The rate of an exponential distribution times a bin's width: the exact estimate from counts in bins.

    Args:
        mean_bins: the mean distance of the events from the lowest bin, in bins; more than 0.

    Source: Tinti and Mulargia (1987), Bulletin of the Seismological Society of America 77, 2125-2134.
    """
    return log1p(1 / mean_bins)


def ks_distance(sample: list[int], beta_bin: float) -> float:
    """The greatest distance between two cumulative distributions, at the upper edges of the bins.

    Args:
        sample: the number of events in each bin, from the lowest on.
        beta_bin: the rate of the exponential distribution times the width of a bin.
    """
    events = sum(sample)
    return max(
        abs(counted / events + exp(-beta_bin * number) - 1)
        for number, counted in enumerate(accumulate(sample), start=1)
    )


def fitted_distance(sample: list[int]) -> float:
    """The distance from the exponential distribution that fits best; 0 if all events are in the lowest bin."""
    above_lowest = sum(number * count for number, count in enumerate(sample))
    if not above_lowest:
        return 0.0
    return ks_distance(sample, tinti_mulargia(above_lowest / sum(sample)))


def simulated_distances(events: int, beta_bin: float) -> Iterator[float]:
    """The distances of samples that are truly exponential, each from the distribution that fits it best.

    The rate is estimated anew for each, as it was for the data: else the test would accept too much.

    Source: Clauset, Shalizi and Newman (2009), SIAM Review 51, 661-703, section 4.1.
    """
    chance = Random(SEED)  # noqa: S311 - no secret
    for _ in range(SAMPLES):
        yield fitted_distance(exponential(events, beta_bin, chance))


def sample_above(counts: Counts, least: float) -> list[int]:
    """The number of events in each bin from the magnitude of completeness to the greatest."""
    complete, begin = above(counts, least), round(least * 10)
    return [complete.get(tenths, 0) for tenths in range(begin, max(complete) + 1)]


def b_change(counts: Counts, least: float) -> float | None:
    """How far b is from its mean over completenesses up to half a magnitude higher, in standard deviations of b.

    A b-value that still rises with the completeness is of an incomplete sample. None if a higher
    completeness leaves no b-value.

    Source: Cao and Gao (2002), Geophysical Research Letters 29 (9), 48-1; the comparison with the
        standard deviation is of Woessner and Wiemer (2005), BSSA 95, 684-698.
    """
    begin = round(least * 10)
    estimates: list[float] = []
    uncertainty = 0.0
    for tenths in range(begin, begin + STABLE_BINS):
        complete = {at / 10: count for at, count in above(counts, tenths / 10).items()}
        if len(complete) < 2:
            return None
        estimates.append(utsu(complete, tenths / 10))
        if tenths == begin:
            uncertainty = shi_bolt(estimates[0], complete)
    return abs(sum(estimates) / STABLE_BINS - estimates[0]) / uncertainty
