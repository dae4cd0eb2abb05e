"""Whether magnitudes above the completeness follow the exponential distribution that a b-value stands for. No I/O."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import exp
from random import Random

from graph.core.described import described, value
from graph.domains.statistics.gutenberg_richter import Counts, above, b_value, shi_bolt, tinti_mulargia
from graph.domains.statistics.resampling import SEED, exponential

SAMPLES = 400  # simulated; a p-value is known to 0.025 at worst
STABLE_BINS = 5  # half a magnitude
REJECTED_BELOW = 0.05  # p-value; of truly exponential samples, one in twenty is below it


@value
class GoodnessOfFit:
    """Tests of whether the magnitudes above the completeness are exponential."""

    distance: float = described(
        "Kolmogorov-Smirnov distance of the cumulative distribution from the exponential one, 0 … 1."
    )
    p_value: float = described(
        f"The part of {SAMPLES} simulated exponential samples, each with its own fit, that are at least as far off: "
        "Lilliefors (1969), JASA 64, 387-389, for samples in bins, which need no dithering."
    )
    scatter: float = described(
        "The variance of the magnitudes, as a part of that of exponential ones: more than 1 where the events mix "
        "slopes."
    )
    scatter_p_value: float = described(
        "The part of the simulated samples that scatter at least as much: Greenwood (1946), JRSS 109, 85-110."
    )
    b_change: float | None = described(
        "How far the mean of b over completenesses up to half a magnitude higher is above b, in standard deviations of "
        "b: Cao and Gao (2002), GRL 29 (9), 48-1. Null with too few events above."
    )
    b_change_p_value: float | None = described(
        "The part of the simulated samples whose b rises at least as much. Null like `bChange`."
    )
    is_stable: bool | None = described(
        f"Whether `bChangePValue` is at least {REJECTED_BELOW}: else small events are missing."
    )


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
