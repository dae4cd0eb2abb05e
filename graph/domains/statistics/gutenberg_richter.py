"""How often each magnitude occurs, and what follows from that: completeness and the b-value. No I/O.

Magnitudes are counted in bins of 0.1, named by their lower edges in tenths (see `magnitudes`). Most
networks report tenths, which stand on these edges. Either way of reading a bin's name, as the lower
edge of what is in it or as what was rounded to it, gives the same b-value, which depends only on how
many bins an event lies above the lowest one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, log1p, log10, sqrt

from graph.core.described import described, optional, value
from graph.core.errors import BadUserInput
from graph.domains.earthquakes.magnitudes import GREATEST_BIN, LEAST_BIN, bin_of

BIN = 0.1
CORRECTION_TENTHS = 2
LEAST_EVENTS = 50
"""The least number for an estimate: with so many, the standard deviation of a b-value is a seventh of it."""

Counts = Mapping[int, int]
"""Lower edge of a bin in tenths → the number of its events."""


@value
class MagnitudeBin:
    """The events of a magnitude bin of 0.1."""

    magnitude: float = described("Lower edge: a bin 4.5 has the magnitudes from 4.5 to below 4.6.")
    count: int = described("Events of this bin.")
    cumulative: int = described("Events of this bin and of all higher bins.")


@value
class Completeness:
    """The magnitude from which on the catalogue seems to be complete."""

    magnitude: float | None = optional(
        "By maximum curvature, the bin with the most events: Wiemer and Wyss (2000), BSSA 90, 859-869; "
        "0.2 higher, unless `corrected` is false."
    )
    reason: str | None = optional("Why there is no estimate; null if there is one.")

    @classmethod
    def given(cls, magnitude: float) -> "Completeness":
        """The completeness that a caller states.

        Raises:
            BadUserInput: It is not on a tenth, or no possible magnitude.
        """
        tenths, on_edge = bin_of(magnitude)
        if not on_edge or not LEAST_BIN <= tenths <= GREATEST_BIN:
            raise BadUserInput("`completenessMagnitude` must be on a tenth from -2 to 10, such as 2.5.")
        return cls(tenths / 10)


@dataclass(frozen=True)
class GutenbergRichter:
    """log10 N = a - b M above the completeness, with N events of at least magnitude M. None with a reason."""

    b: float | None = optional(
        "b-value by maximum likelihood for bins of 0.1, ln(1 + 0.1 / (mean - completeness)) / (0.1 ln 10), "
        "with magnitudes cut to tenths: Tinti and Mulargia (1987), BSSA 77, 2125-2134."
    )
    uncertainty: float | None = optional(
        "Standard deviation of b, 2.30 b² times that of the mean: Shi and Bolt (1982), BSSA 72, 1677-1687."
    )
    a: float | None = optional("a-value for the whole time range: log10 N where M is 0.")
    a_per_year: float | None = optional("a-value for a year of 365.25 days: a - log10 of the years of the time range.")
    events: int = described("The number of events in the estimate.", default=0)
    completeness: float | None = optional("The magnitude of completeness of the estimate; null if there is none.")
    no_estimate: str | None = None  # why


def distribution(counts: Counts) -> list[MagnitudeBin]:
    """The bins from the least occurring magnitude to the greatest, with empty ones."""
    occupied = [tenths for tenths, count in counts.items() if count]
    bins: list[MagnitudeBin] = []
    cumulative = 0
    for tenths in range(max(occupied), min(occupied) - 1, -1) if occupied else ():
        cumulative += counts.get(tenths, 0)
        bins.append(MagnitudeBin(tenths / 10, counts.get(tenths, 0), cumulative))
    return bins[::-1]


def completeness(counts: Counts, *, corrected: bool = True) -> Completeness:
    """The magnitude of completeness by maximum curvature: the bin with the most events, the lower one of equals.

    Args:
        corrected: add 0.2, since events are also missing above the maximum.

    Source: Wiemer and Wyss (2000), Bulletin of the Seismological Society of America 90, 859-869; the
        correction is of Woessner and Wiemer (2005), ibid. 95, 684-698.
    """
    if (events := sum(counts.values())) < LEAST_EVENTS:
        return Completeness(reason=_too_few(events, "are selected"))
    mode = min(counts, key=lambda tenths: (-counts[tenths], tenths))  # the lower one of equals
    return Completeness((mode + CORRECTION_TENTHS * corrected) / 10)


def above(counts: Counts, completeness: float) -> dict[int, int]:
    """The occupied bins from a magnitude of completeness on."""
    begin = round(completeness * 10)
    return {tenths: count for tenths, count in counts.items() if tenths >= begin and count}


def gutenberg_richter(counts: Counts, least: Completeness, *, years: float | None = None) -> GutenbergRichter:
    """The Gutenberg-Richter relation of the events from a magnitude of completeness on.

    The uncertainty is Shi and Bolt's.

    Args:
        years: the length of the time range, for `a_per_year`: a - log10(years).

    Source: Gutenberg and Richter (1944), Bulletin of the Seismological Society of America 34, 185-188.
    """
    if least.magnitude is None:
        return GutenbergRichter(no_estimate=least.reason)
    complete = above(counts, least.magnitude)
    events = sum(complete.values())
    none = GutenbergRichter(events=events, completeness=least.magnitude)
    if events < LEAST_EVENTS:
        return _because(none, _too_few(events, "reach the magnitude of completeness"))
    if len(complete) == 1:
        return _because(none, "All events above the completeness are in one bin.")
    b = b_value(complete, round(least.magnitude * 10))
    a = log10(events) + b * least.magnitude
    yearly = a - log10(years) if years else None
    return GutenbergRichter(b, shi_bolt(b, complete), a, yearly, events, least.magnitude)


def b_value(bins: Counts, least: int) -> float:
    """The b-value of events in bins from `least` on: the maximum likelihood estimate for bins.

    Aki's estimate with Utsu's correction takes the middle of a bin for the mean of its events, which lies below it, and
    so gives 0.996 for 1. This one is exact.

    Args:
        least: the bin of the completeness, which must not have all of the events.

    Source: Tinti and Mulargia (1987), Bulletin of the Seismological Society of America 77, 2125-2134.
    """
    return tinti_mulargia(mean_above(bins, least)) / BIN / log(10)


def mean_above(bins: Counts, least: int) -> float:
    """The mean distance of events from a bin, in bins; half an event's in place of none, so that a rate is finite."""
    return max(sum((at - least) * count for at, count in bins.items()), 0.5) / sum(bins.values())


def tinti_mulargia(mean_bins: float) -> float:
    """The rate of an exponential distribution times a bin's width: the exact estimate from counts in bins.

    Args:
        mean_bins: the mean distance of the events from the lowest bin, in bins; more than 0.
    """
    return log1p(1 / mean_bins)


def shi_bolt(b: float, bins: Counts) -> float:
    """The standard deviation of a b-value, from the number of events of each bin.

    Source: Shi and Bolt (1982), Bulletin of the Seismological Society of America 72, 1677-1687, equation 5, whose 2.30
        is the natural logarithm of 10.
    """
    events = sum(bins.values())
    mean = sum(at * count for at, count in bins.items()) / events
    squares = sum((at - mean) ** 2 * count for at, count in bins.items())
    return log(10) * b**2 * BIN * sqrt(squares / (events * (events - 1)))


def _because(found: GutenbergRichter, reason: str) -> GutenbergRichter:
    return GutenbergRichter(events=found.events, completeness=found.completeness, no_estimate=reason)


def _too_few(events: int, what: str) -> str:
    return f"Only {events} events {what}; an estimate needs {LEAST_EVENTS}."
