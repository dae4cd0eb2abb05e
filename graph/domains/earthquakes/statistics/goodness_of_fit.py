"""Whether magnitudes above the completeness follow the exponential distribution that a b-value stands for. No I/O."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import exp, sqrt
from random import Random

from graph.domains.earthquakes.statistics.gutenberg_richter import (
    LEAST_EVENTS,
    Counts,
    above,
    b_value,
    shi_bolt,
    tinti_mulargia,
)
from graph.domains.earthquakes.statistics.resampling import SEED, exponential

SAMPLES = 400  # simulated; a p-value is known to 0.025 at worst
STABLE_BINS = 5  # half a magnitude


@dataclass(frozen=True, slots=True)
class GoodnessOfFit:
    """The results of tests of a sample above its magnitude of completeness.

    A p-value is the part of truly exponential samples that are at least as unusual.
    """

    distance: float  # of Kolmogorov and Smirnov, between the two cumulative distributions, 0 to 1
    p_value: float  # of the distance
    b_change: float | None  # of b over half a magnitude, in standard deviations; None with too few events
    is_stable: bool | None  # whether that is at most one
    scatter: float = 1.0  # the variance, as a part of that of an exponential sample with the same mean
    scatter_p_value: float = 1.0  # of a scatter so far from 1 on its side, doubled
    drift: float = 0.0  # the mean of b's changes at each higher completeness, in their standard deviations
    drift_p_value: float = 1.0  # of a drift so far from 0 on its side, doubled


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
    drift: float


def tested(sample: list[int]) -> Tested:
    """Compare a sample with exponential ones."""
    return Tested(fitted_distance(sample), scatter(sample), drift(sample))


def scatter(sample: list[int]) -> float:
    """The variance of the magnitudes, as a part of that of an exponential sample in bins with the same mean.

    Magnitudes of several slopes scatter more. Where small events are missing, or great ones, they scatter less.
    """
    events = sum(sample)
    mean = sum(number * count for number, count in enumerate(sample)) / events
    squares = sum((number - mean) ** 2 * count for number, count in enumerate(sample))
    return squares / events / (mean * (mean + 1)) if mean else 1.0


def drift(sample: list[int]) -> float:
    """How b changes as the completeness rises: the mean over all that leave enough events.

    Each change counts in its own standard deviation. The events of a higher completeness are among those of the
    lowest one, so the variance of a change is the difference of the variances of both.

    Source: Tormann, Wiemer and Mignan (2014), Journal of Geophysical Research: Solid Earth 119, 2036-2054, whose index
        of non-linearity compares the scatter of these b-values with their uncertainty. It is mostly below its limit of
        1, for mixtures too; this mean has the sign of what is wrong, and is compared with simulated samples.
    """
    events, distance = sum(sample), sum(number * count for number, count in enumerate(sample))
    first_rate = first_variance = total = 0.0
    changes = 0
    for number, count in enumerate(sample):
        if events < LEAST_EVENTS or not distance:
            break
        mean = distance / events
        rate, variance = tinti_mulargia(mean), 1 / (events * mean * (mean + 1))
        if number == 0:
            first_rate, first_variance = rate, variance
        elif variance > first_variance:
            total += (rate - first_rate) / sqrt(variance - first_variance)
            changes += 1
        events -= count
        distance -= events  # the others are a bin nearer to the next completeness
    return total / changes if changes else 0.0


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
        complete = above(counts, tenths / 10)
        if len(complete) < 2:
            return None
        estimates.append(b_value(complete, tenths))
        if tenths == begin:
            uncertainty = shi_bolt(estimates[0], complete)
    return abs(sum(estimates) / STABLE_BINS - estimates[0]) / uncertainty
