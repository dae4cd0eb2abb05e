"""Whether magnitudes above the completeness follow the exponential distribution that a b-value stands for. No I/O."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import exp
from random import Random

from graph.domains.statistics.gutenberg_richter import Counts, above, b_value, shi_bolt, tinti_mulargia
from graph.domains.statistics.resampling import SEED, exponential

SAMPLES = 400  # simulated; a p-value is known to 0.025 at worst
STABLE_BINS = 5  # half a magnitude


@dataclass(frozen=True, slots=True)
class GoodnessOfFit:
    """The results of tests of a sample above its magnitude of completeness.

    A p-value is the part of truly exponential samples that are at least as unusual.
    """

    distance: float  # of Kolmogorov and Smirnov, between the two cumulative distributions, 0 to 1
    p_value: float  # of the distance
    scatter: float  # the variance, as a part of that of an exponential sample with the same mean
    scatter_p_value: float  # of so great a scatter
    b_change: float | None  # of b over half a magnitude, in standard deviations; None with too few events
    b_change_p_value: float | None  # of so great a rise
    is_stable: bool | None  # whether that is no unusual one


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


@dataclass(frozen=True, slots=True)
class Tested:
    """What tests find of a sample."""

    distance: float
    scatter: float
    b_change: float | None


def tested(sample: list[int]) -> Tested:
    """Compare a sample with exponential ones."""
    return Tested(fitted_distance(sample), scatter(sample), b_change(sample))


def scatter(sample: list[int]) -> float:
    """The variance of the magnitudes, as a part of that of an exponential sample in bins with the same mean.

    Magnitudes of several slopes scatter more.

    Source: Greenwood (1946), Journal of the Royal Statistical Society 109, 85-110, whose statistic grows with this one.
    """
    events = sum(sample)
    mean = sum(number * count for number, count in enumerate(sample)) / events
    squares = sum((number - mean) ** 2 * count for number, count in enumerate(sample))
    return squares / events / (mean * (mean + 1)) if mean else 1.0


def b_change(sample: list[int]) -> float | None:
    """How far the mean of b over completenesses up to half a magnitude higher is above b, in standard deviations of b.

    A b-value that still rises with the completeness is of an incomplete sample. None if a higher
    completeness leaves no b-value.

    Source: Cao and Gao (2002), Geophysical Research Letters 29 (9), 48-1; the comparison with the
        standard deviation is of Woessner and Wiemer (2005), BSSA 95, 684-698.
    """
    estimates: list[float] = []
    uncertainty = 0.0
    for begin in range(STABLE_BINS):
        complete = {number: count for number, count in enumerate(sample[begin:]) if count}
        if len(complete) < 2:
            return None
        estimates.append(b_value(complete, 0))
        if not begin:
            uncertainty = shi_bolt(estimates[0], complete)
    return (sum(estimates) / STABLE_BINS - estimates[0]) / uncertainty


def fitted_distance(sample: list[int]) -> float:
    """The distance from the exponential distribution that fits best; 0 if all events are in the lowest bin."""
    above_lowest = sum(number * count for number, count in enumerate(sample))
    if not above_lowest:
        return 0.0
    return ks_distance(sample, tinti_mulargia(above_lowest / sum(sample)))


def simulated(events: int, beta_bin: float) -> Iterator[Tested]:
    """What the tests find of samples that are truly exponential.

    The rate is estimated anew for each, as it was for the data: else the test of the distance would accept too much. So
    it is Lilliefors' test. The samples are in bins as the data are, so the data need no dithering, which spreads their
    magnitudes over the bins for a test of continuous ones.

    Source: Lilliefors (1969), Journal of the American Statistical Association 64, 387-389; Clauset, Shalizi and Newman
        (2009), SIAM Review 51, 661-703, section 4.1; Herrmann and Marzocchi (2021), Seismological Research Letters 92,
        909-922, for dithering.
    """
    chance = Random(SEED)  # noqa: S311 - no secret
    for _ in range(SAMPLES):
        yield tested(exponential(events, beta_bin, chance))


def sample_above(counts: Counts, least: float) -> list[int]:
    """The number of events in each bin from the magnitude of completeness to the greatest."""
    complete, begin = above(counts, least), round(least * 10)
    return [complete.get(tenths, 0) for tenths in range(begin, max(complete) + 1)]
