"""How many events a year brings, with the uncertainty of counting. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.magnitudes import GREATEST_BIN, LEAST_BIN, bin_of
from graph.domains.statistics.gutenberg_richter import Counts
from graph.domains.statistics.poisson import garwood

MOST_MAGNITUDES = 50


@dataclass(frozen=True, slots=True)
class Rate:
    """The number of events of at least a magnitude in a year of 365.25 days."""

    magnitude: float
    events: int  # in the whole time range
    per_year: float
    low: float  # a year
    high: float  # a year


def rates(counts: Counts, years: float, magnitudes: Sequence[float] | None, confidence: float) -> list[Rate]:
    """The rates of the events of at least some magnitudes, each with an exact Poisson interval.

    Args:
        magnitudes: by default each whole one between the least and the greatest counted bin.

    Raises:
        BadUserInput: A magnitude is not on a tenth, or there are too many.
    """
    if magnitudes is None:
        tenths = list(range(-(-min(counts, default=10) // 10) * 10, max(counts, default=0) + 1, 10))
    elif len(magnitudes) > MOST_MAGNITUDES:
        raise BadUserInput(f"`magnitudes` takes at most {MOST_MAGNITUDES} values.")
    else:
        tenths = [_tenths(magnitude) for magnitude in magnitudes]
    return [_rate(counts, least, years, confidence) for least in tenths]


def _rate(counts: Counts, least: int, years: float, confidence: float) -> Rate:
    events = sum(count for tenths, count in counts.items() if tenths >= least)
    low, high = garwood(events, confidence)
    return Rate(least / 10, events, events / years, low / years, high / years)


def _tenths(magnitude: float) -> int:
    tenths, on_edge = bin_of(magnitude)
    if not on_edge or not LEAST_BIN <= tenths <= GREATEST_BIN:
        raise BadUserInput("`magnitudes` must be on tenths from -2 to 10, such as 4.5.")
    return tenths
