"""Whether there are as many great events as a Gutenberg-Richter relation expects. No I/O.

The distance between cumulative distributions hardly shows the greatest events of a large sample: four among forty
thousand move it by a ten-thousandth, however unlikely they are by the relation.
"""

from dataclasses import dataclass

from graph.domains.statistics.gutenberg_richter import Counts, above
from graph.domains.statistics.poisson import regularised_gamma

FEW = 10
"""The most events of a magnitude, expected or counted, that are compared."""


@dataclass(frozen=True, slots=True)
class GreatEvents:
    """The magnitude from which on the number of events is the least likely by a relation."""

    magnitude: float
    events: int  # of at least this magnitude
    expected: float  # by the relation
    p_value: float  # of a number so far off at any of the magnitudes that were tested


def great_events(counts: Counts, least: float, b: float) -> GreatEvents:
    """Compare the number of great events with a relation.

    From each magnitude on, of which there are few events or the relation expects few, their number is compared
    with the Poisson distribution, on both sides. The p-value is that of the least likely number times the number
    of comparisons: Bonferroni's bound. It is too great rather than too small, since the numbers of neighbouring
    magnitudes depend on each other.

    Args:
        least: the magnitude of completeness.
        b: the b-value of the events from there on.
    """
    complete = above(counts, least)
    begin, events = round(least * 10), sum(complete.values())
    compared: list[tuple[float, int, int, float]] = []
    for tenths in range(begin, max(complete) + 2):  # up to the first magnitude without an event
        expected = events * 10 ** (-b * (tenths - begin) / 10)
        number = sum(count for at, count in complete.items() if at >= tenths)
        if min(number, expected) <= FEW:
            more = regularised_gamma(number, expected) if number else 1.0  # the probability of so many or more
            fewer = 1 - regularised_gamma(number + 1, expected)
            compared.append((min(more, fewer), tenths, number, expected))
    probability, tenths, number, expected = min(compared)
    return GreatEvents(tenths / 10, number, expected, min(1.0, 2 * len(compared) * probability))
