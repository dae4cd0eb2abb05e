"""How many events a year brings, with the uncertainty of counting. No I/O."""

from collections.abc import Sequence

from graph.core.described import described, value
from graph.core.errors import BadUserInput
from graph.domains.earthquakes.magnitudes import GREATEST_BIN, LEAST_BIN, bin_of
from graph.domains.statistics.gutenberg_richter import Counts
from graph.domains.statistics.poisson import garwood

MOST_MAGNITUDES = 50


@value
class EventRate:
    """The number of events in a year with at least a magnitude."""

    magnitude: float = described("The least magnitude.")
    events: int = described("Events of the whole time range with at least this magnitude.")
    per_year: float = described("Events in a year of 365.25 days.")
    low: float = described(
        "Lower bound of the rate behind it, events in a year, if events are independent: "
        "Garwood (1936), Biometrika 28, 437-442."
    )
    high: float = described("Upper bound of the rate, events in a year.")


def rates(counts: Counts, years: float, magnitudes: Sequence[float] | None, confidence: float) -> list[EventRate]:
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


def _rate(counts: Counts, least: int, years: float, confidence: float) -> EventRate:
    events = sum(count for tenths, count in counts.items() if tenths >= least)
    low, high = garwood(events, confidence)
    return EventRate(least / 10, events, events / years, low / years, high / years)


def _tenths(magnitude: float) -> int:
    tenths, on_edge = bin_of(magnitude)
    if not on_edge or not LEAST_BIN <= tenths <= GREATEST_BIN:
        raise BadUserInput("`magnitudes` must be on tenths from -2 to 10, such as 4.5.")
    return tenths
