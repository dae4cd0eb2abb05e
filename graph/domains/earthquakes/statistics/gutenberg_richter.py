"""How often each magnitude occurs, and what follows from that: completeness and the b-value. No I/O.

Magnitudes are counted in bins of 0.1, named by their lower edges in tenths (see `magnitudes`). Most
networks report tenths, which stand on these edges. Either way of reading a bin's name, as the lower
edge of what is in it or as what was rounded to it, gives the same b-value: the events of a bin lie
half a bin above the name in the one, and those of the lowest bin begin half a bin below it in the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import e, log, log10, sqrt

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.magnitudes import GREATEST_BIN, LEAST_BIN, bin_of

BIN = 0.1
CORRECTION_TENTHS = 2
LEAST_EVENTS = 50
"""The least number for an estimate: with so many, the standard deviation of a b-value is a seventh of it."""

Counts = Mapping[int, int]
"""Lower edge of a bin in tenths → the number of its events."""


@dataclass(frozen=True, slots=True)
class MagnitudeBin:
    """The events of one bin."""

    magnitude: float  # the lower edge
    count: int
    cumulative: int  # of this bin and all above


@dataclass(frozen=True, slots=True)
class Completeness:
    """The magnitude from which on the catalogue seems to be complete."""

    magnitude: float | None = None  # None with a reason
    reason: str | None = None

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


@dataclass(frozen=True, slots=True)
class GutenbergRichter:
    """log10 N = a - b M above the completeness, with N events of at least magnitude M. None with a reason."""

    b: float | None = None
    uncertainty: float | None = None  # of b, one standard deviation
    a: float | None = None  # of the whole time range
    a_per_year: float | None = None
    events: int = 0  # in the estimate
    completeness: float | None = None
    reason: str | None = None


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
    return Completeness((_mode(counts) + CORRECTION_TENTHS * corrected) / 10)


def _mode(counts: Counts) -> int:
    """The bin with the most events, the lower one of equals."""
    return min(counts, key=lambda tenths: (-counts[tenths], tenths))


def above(counts: Counts, completeness: float) -> dict[int, int]:
    """The occupied bins from a magnitude of completeness on."""
    begin = round(completeness * 10)
    return {tenths: count for tenths, count in counts.items() if tenths >= begin and count}


def gutenberg_richter(counts: Counts, least: Completeness, *, years: float | None = None) -> GutenbergRichter:
    """The Gutenberg-Richter relation of the events from a magnitude of completeness on.

    The b-value is Aki's maximum likelihood estimate, log10(e) / (mean - least). For magnitudes in bins,
    `least` is half a bin lower, as by Utsu. The uncertainty is Shi and Bolt's.

    Args:
        years: the length of the time range, for `a_per_year`: a - log10(years).

    Source: Aki (1965), Bulletin of the Earthquake Research Institute 43, 237-239; Utsu (1966), Journal
        of the Faculty of Science, Hokkaido University, series VII, 2, 359-376; Shi and Bolt (1982),
        Bulletin of the Seismological Society of America 72, 1677-1687.
    """
    if least.magnitude is None:
        return GutenbergRichter(reason=least.reason)
    complete = {tenths / 10: count for tenths, count in above(counts, least.magnitude).items()}
    events = sum(complete.values())
    none = GutenbergRichter(events=events, completeness=least.magnitude)
    if events < LEAST_EVENTS:
        return _because(none, _too_few(events, "reach the magnitude of completeness"))
    if len(complete) == 1:
        return _because(none, "All events above the completeness are in one bin.")
    b = utsu(complete, least.magnitude)
    a = log10(events) + b * least.magnitude
    yearly = a - log10(years) if years else None
    return GutenbergRichter(b, shi_bolt(b, complete), a, yearly, events, least.magnitude)


def utsu(magnitudes: Mapping[float, int], least: float) -> float:
    """The b-value of the number of events of each magnitude from `least` on, of which not all are in the bin `least`.

    Source: Aki (1965) and Utsu (1966), as above.
    """
    mean = sum(magnitude * count for magnitude, count in magnitudes.items()) / sum(magnitudes.values())
    return log10(e) / (mean - (least - BIN / 2))


def shi_bolt(b: float, magnitudes: Mapping[float, int]) -> float:
    """The standard deviation of a b-value, from the number of events of each magnitude.

    Source: Shi and Bolt (1982), equation 5, whose 2.30 is the natural logarithm of 10.
    """
    events = sum(magnitudes.values())
    mean = sum(magnitude * count for magnitude, count in magnitudes.items()) / events
    squares = sum((magnitude - mean) ** 2 * count for magnitude, count in magnitudes.items())
    return log(10) * b**2 * sqrt(squares / (events * (events - 1)))


def _because(found: GutenbergRichter, reason: str) -> GutenbergRichter:
    return GutenbergRichter(events=found.events, completeness=found.completeness, reason=reason)


def _too_few(events: int, what: str) -> str:
    return f"Only {events} events {what}; an estimate needs {LEAST_EVENTS}."
