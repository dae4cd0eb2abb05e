"""How well a Gutenberg-Richter relation is supported: tests and resampling, which give way to other work."""

from dataclasses import dataclass

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.statistics.goodness_of_fit import (
    SAMPLES,
    GoodnessOfFit,
    b_change,
    ks_distance,
    sample_above,
    simulated_distances,
    tinti_mulargia,
)
from graph.domains.earthquakes.statistics.gutenberg_richter import Counts, above
from graph.domains.earthquakes.statistics.resampling import percentile_interval, resampled_b_values
from graph.work.account import charge_rows, give_way

RESAMPLES = 1_000
SAMPLES_AT_ONCE = 10  # some milliseconds
ROWS_PER_SAMPLE = 50  # tested, by the price of time: a sample takes as long


@dataclass(frozen=True, slots=True)
class Interval:
    """The bounds of an estimate."""

    low: float
    high: float
    confidence: float  # 0 to 1


def check_confidence(confidence: float) -> None:
    """Raise `BadUserInput` unless it is a possible level of confidence."""
    if not 0.5 <= confidence <= 0.9999:
        raise BadUserInput("`confidence` must be from 0.5 to 0.9999, such as 0.95.")


async def goodness_of_fit(counts: Counts, least: float) -> GoodnessOfFit:
    """Test the events from a magnitude of completeness on, of which not all are in one bin."""
    await charge_rows(tested=SAMPLES * ROWS_PER_SAMPLE)
    sample = sample_above(counts, least)
    events = sum(sample)
    rate = tinti_mulargia(sum(number * count for number, count in enumerate(sample)) / events)
    distance = ks_distance(sample, rate)
    as_far = 0
    for number, simulated in enumerate(simulated_distances(events, rate)):
        as_far += simulated >= distance
        if number % SAMPLES_AT_ONCE == 0:
            await give_way()
    change = b_change(counts, least)
    return GoodnessOfFit(distance, as_far / SAMPLES, change, None if change is None else change <= 1)


async def bootstrap(counts: Counts, least: float, confidence: float) -> Interval:
    """The interval of a b-value by resampling the events from a magnitude of completeness on.

    Raises:
        BadUserInput: The confidence is not possible.
    """
    check_confidence(confidence)
    await charge_rows(tested=RESAMPLES * ROWS_PER_SAMPLE)
    estimates: list[float] = []
    for estimate in resampled_b_values(above(counts, least), least, RESAMPLES):
        estimates.append(estimate)
        if len(estimates) % SAMPLES_AT_ONCE == 0:
            await give_way()
    low, high = percentile_interval(estimates, confidence)
    return Interval(low, high, confidence)
