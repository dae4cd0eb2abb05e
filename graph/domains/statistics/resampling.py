"""Random samples of counts, drawn bin by bin: a sample of a million events costs as much as its bins. No I/O.

The same arguments always give the same numbers, so that an answer can be repeated.
"""

from collections.abc import Iterator, Mapping
from math import exp, floor, sqrt
from random import Random

from graph.domains.statistics.gutenberg_richter import Counts, b_value

SEED = 1966
NORMAL_FROM = 30.0  # variance from which on a binomial number is drawn from the normal distribution


def binomial(chance: Random, trials: int, probability: float) -> int:
    """The number of successes in independent trials.

    A small number is drawn exactly, by the inverse of the cumulative distribution. A large one is drawn
    from the normal distribution with the same mean and variance.

    Source: Kachitvichyanukul and Schmeiser (1988), Communications of the ACM 31, 216-222, algorithm BINV.
    """
    if probability > 0.5:
        return trials - binomial(chance, trials, 1 - probability)
    if trials <= 0 or probability <= 0:
        return 0
    variance = trials * probability * (1 - probability)
    if variance >= NORMAL_FROM:
        drawn = floor(trials * probability + sqrt(variance) * chance.gauss(0, 1) + 0.5)
        return min(max(drawn, 0), trials)
    odds = probability / (1 - probability)
    successes, left = 0, chance.random()
    term = (1 - probability) ** trials
    while left > term and successes < trials:
        left -= term
        successes += 1
        term *= odds * (trials - successes + 1) / successes
    return successes


def resampled(counts: Counts, chance: Random) -> dict[int, int]:
    """As many events as were counted, drawn from them with replacement."""
    events = sum(counts.values())
    sample: dict[int, int] = {}
    missing, left = events, events
    for tenths, count in counts.items():
        drawn = missing if count == left else binomial(chance, missing, count / left)
        if drawn:
            sample[tenths] = drawn
        missing -= drawn
        left -= count
        if not missing:
            break
    return sample


def exponential(events: int, beta_bin: float, chance: Random) -> list[int]:
    """So many events with exponential magnitudes: their number in each bin above the completeness.

    Args:
        beta_bin: the rate of the exponential distribution times the width of a bin.
    """
    in_next = 1 - exp(-beta_bin)
    sample: list[int] = []
    while events:
        drawn = binomial(chance, events, in_next)
        sample.append(drawn)
        events -= drawn
    return sample


def resampled_b_values(complete: Mapping[int, int], least: float, resamples: int) -> Iterator[float]:
    """The b-values of samples drawn with replacement from the events above the completeness.

    Source: Efron (1979), Annals of Statistics 7, 1-26.
    """
    chance = Random(SEED)  # noqa: S311 - no secret
    counts, begin = dict(sorted(complete.items())), round(least * 10)
    for _ in range(resamples):
        yield b_value(resampled(counts, chance), begin)


def percentile_interval(estimates: list[float], confidence: float) -> tuple[float, float]:
    """The quantiles between which the middle part of the estimates lies. The list is sorted."""
    estimates.sort()
    return quantile(estimates, (1 - confidence) / 2), quantile(estimates, (1 + confidence) / 2)


def quantile(ordered: list[float], part: float) -> float:
    """The quantile of sorted values, between two of them by a straight line.

    Source: Hyndman and Fan (1996), The American Statistician 50, 361-365, definition 7.
    """
    at = (len(ordered) - 1) * part
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
