"""How well a Gutenberg-Richter relation is supported: tests and resampling, which give way to other work."""

from typing import Annotated

from graph.core.described import described, value
from graph.core.errors import BadUserInput
from graph.domains.statistics.goodness_of_fit import (
    REJECTED_BELOW,
    SAMPLES,
    GoodnessOfFit,
    Tested,
    sample_above,
    simulated,
    tested,
)
from graph.domains.statistics.gutenberg_richter import Counts, above, mean_above, tinti_mulargia
from graph.domains.statistics.resampling import percentile_interval, resampled_b_values
from graph.work.account import charge_rows, give_way

RESAMPLES = 1_000
SAMPLES_AT_ONCE = 10  # some milliseconds
ROWS_PER_SAMPLE = 50  # tested, by the price of time: a sample takes as long

Confidence = Annotated[float, "The probability that the interval holds the true value, 0.5 … 0.9999."]


@value
class ConfidenceInterval:
    """The bounds of an estimate."""

    low: float = described("Lower bound.")
    high: float = described("Upper bound.")
    confidence: float = described("The probability that it holds the true value, 0 … 1.")


def check_confidence(confidence: float) -> None:
    """Raise `BadUserInput` unless it is a possible level of confidence."""
    if not 0.5 <= confidence <= 0.9999:
        raise BadUserInput("`confidence` must be from 0.5 to 0.9999, such as 0.95.")


async def goodness_of_fit(counts: Counts, least: float) -> GoodnessOfFit:
    """Test the events from a magnitude of completeness on, of which not all are in one bin."""
    await charge_rows(tested=SAMPLES * ROWS_PER_SAMPLE)
    sample = sample_above(counts, least)
    events = sum(sample)
    rate = tinti_mulargia(mean_above(above(counts, least), round(least * 10)))
    found, others = tested(sample), list[Tested]()
    for number, other in enumerate(simulated(events, rate)):
        others.append(other)
        if number % SAMPLES_AT_ONCE == 0:
            await give_way()
    change = found.b_change
    rises = None if change is None else sum((other.b_change or 0) >= change for other in others) / SAMPLES
    return GoodnessOfFit(
        distance=found.distance,
        p_value=sum(other.distance >= found.distance for other in others) / SAMPLES,
        scatter=found.scatter,
        scatter_p_value=sum(other.scatter >= found.scatter for other in others) / SAMPLES,
        b_change=change,
        b_change_p_value=rises,
        is_stable=None if rises is None else rises >= REJECTED_BELOW,
    )


async def bootstrap(counts: Counts, least: float, confidence: float) -> ConfidenceInterval:
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
    return ConfidenceInterval(low, high, confidence)
