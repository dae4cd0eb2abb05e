"""Seismic moment from magnitudes. No I/O."""

from collections.abc import Mapping
from math import fsum, log10

from graph.core.described import described, value
from graph.domains.statistics.gutenberg_richter import BIN, Counts


@value
class SeismicMoment:
    """The sum of seismic moments, as if each magnitude were a moment magnitude: log10 M0 = 1.5 M + 9.05, Hanks and
    Kanamori (1979), JGR 84, 2348-2350."""

    newton_metres: float = described("The sum, N m.")
    magnitude: float | None = described("The moment magnitude of one event with that moment; null without events.")
    events: int = described("The number of events.")
    binned: int = described(
        "Events whose magnitude is taken from the middle of its bin of 0.1, at most 0.05 off. It is 0 "
        "unless there are too many events to read, and for magnitudes on tenths."
    )


def moment_of(magnitude: float) -> float:
    """The seismic moment in newton metres, 10 ** (1.5 M + 9.05).

    Source: Hanks and Kanamori (1979), Journal of Geophysical Research 84, 2348-2350: M = 2/3 log10 M0 - 10.7,
        with M0 in dyne centimetres, of which 10 million are a newton metre.
    """
    return 10 ** (1.5 * (magnitude + 10.7) - 7)


def magnitude_of(moment: float) -> float:
    """The moment magnitude of a seismic moment in newton metres; the inverse of `moment_of`."""
    return (log10(moment) + 7) / 1.5 - 10.7


def seismic_moment(known: Mapping[float, int], binned: Counts) -> SeismicMoment:
    """The sum over events.

    Args:
        known: magnitude → the number of events with it.
        binned: the events of which only the bin is known. They count as if they stood in its middle.
    """
    exact = [count * moment_of(magnitude) for magnitude, count in known.items()]
    middle = [count * moment_of(tenths / 10 + BIN / 2) for tenths, count in binned.items()]
    total, number = fsum([*exact, *middle]), sum(binned.values())
    return SeismicMoment(total, magnitude_of(total) if total else None, sum(known.values()) + number, number)
