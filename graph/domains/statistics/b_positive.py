"""The b-value of the differences between one magnitude and the next, and b-values of windows of time. No I/O."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from graph.core.described import described, instant, optional, value
from graph.core.errors import BadUserInput
from graph.domains.statistics.gutenberg_richter import LEAST_EVENTS, b_value, shi_bolt

MOST_WINDOWS = 500


@value
class BPositive:
    """The b-value of the differences between each magnitude and the one before, of those that are positive.

    It needs no magnitude of completeness, and is right also where that changes, as after a great earthquake:
    van der Elst (2021), JGR Solid Earth 126, e2020JB021027.
    """

    b: float | None = optional(
        "b-value by maximum likelihood for bins of 0.1: Tinti and Mulargia (1987), BSSA 77, 2125-2134."
    )
    uncertainty: float | None = optional(
        "Standard deviation of b, from the differences: Shi and Bolt (1982), BSSA 72, 1677-1687."
    )
    differences: int = described("The number of differences in the estimate.", default=0)
    reason: str | None = optional("Why there is no estimate; null if there is one.")


@value
class BValueWindow:
    """The b-value of some events that follow one another."""

    first_at: int = instant("Origin time of the first event.")
    last_at: int = instant("Origin time of the last event.")
    events: int = described("The number of events.")
    b: float = described("b-value, as that of the relation.")
    uncertainty: float = described("Standard deviation of b.")


@value
class BOverTime:
    """The b-value of one window of events after the other."""

    windows: tuple[BValueWindow, ...] = described(f"The windows in order of time, at most {MOST_WINDOWS}.", default=())
    reason: str | None = optional("Why there is no window; null if there is one.")


def b_positive(tenths: Sequence[int], least_bins: int) -> BPositive:
    """The b-value of the differences to the event before, of those that are at least so many bins.

    An event right after a greater one may be missed, so the completeness changes with time. A greater one
    is hardly missed: so positive differences are exponential with the same rate, whatever the completeness.
    The uncertainty is that of Shi and Bolt for the differences.

    Args:
        tenths: the bins of the events, in order of time.
        least_bins: at least 1.

    Source: van der Elst (2021), Journal of Geophysical Research: Solid Earth 126, e2020JB021027.
    """
    differences = Counter(later - earlier for earlier, later in pairwise(tenths) if later - earlier >= least_bins)
    number = differences.total()
    if number < LEAST_EVENTS:
        return BPositive(
            differences=number,
            reason=f"Only {number} magnitudes exceed the one before; an estimate needs {LEAST_EVENTS}.",
        )
    if max(differences) == least_bins:
        return BPositive(differences=number, reason="All positive differences are equal.")
    b = b_value(differences, least_bins)
    return BPositive(b, shi_bolt(b, differences), number)


def b_windows(
    times: Sequence[int], tenths: Sequence[int], least: float, size: int, step: int
) -> Iterator[BValueWindow]:
    """The b-values of windows of `size` events above the completeness, each `step` events after the one before.

    A window whose events are all in one bin is left out.

    Args:
        times: epoch milliseconds, in order.
        tenths: the bins of the same events.

    Raises:
        BadUserInput: There are too many windows.
    """
    begin = round(least * 10)
    complete = [(time, tenth) for time, tenth in zip(times, tenths, strict=True) if tenth >= begin]
    starts = range(0, len(complete) - size + 1, step)
    if len(starts) > MOST_WINDOWS:
        raise BadUserInput(f"That is more than {MOST_WINDOWS} windows: take a greater `events` or `step`.")
    for start in starts:
        window = complete[start : start + size]
        bins = Counter(tenth for _, tenth in window)
        if len(bins) > 1:
            b = b_value(bins, begin)
            yield BValueWindow(window[0][0], window[-1][0], size, b, shi_bolt(b, bins))
