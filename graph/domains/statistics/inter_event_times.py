"""The times between one event and the next. No I/O."""

from collections.abc import Sequence
from itertools import pairwise
from math import fsum, sqrt
from statistics import fmean

from graph.core.described import described, optional, value
from graph.core.errors import BadUserInput
from graph.domains.statistics.resampling import quantile

MOST_QUANTILES = 50


@value
class TimeQuantile:
    """A quantile of times."""

    part: float = described("The part of all times that do not exceed it, 0 … 1.")
    seconds: float = described("The time, seconds.")


@value
class InterEventTimes:
    """The times between one event and the next."""

    number: int = described("The number of times, one less than of events.", default=0)
    mean_seconds: float | None = optional("Their mean, seconds.")
    coefficient_of_variation: float | None = optional(
        "Standard deviation over mean: 1 for independent events, more for clusters such as aftershocks, "
        "less for regular events. Kagan and Jackson (1991), GJI 104, 117-133."
    )
    quantiles: tuple[TimeQuantile, ...] = described(
        "The quantiles, by straight lines between times: Hyndman and Fan (1996), Am. Stat. 50, 361-365, definition 7.",
        default=(),
    )
    reason: str | None = optional("Why there are none; null if there are.")


def inter_event_times(times: Sequence[int], parts: Sequence[float]) -> InterEventTimes:
    """The mean, the coefficient of variation and quantiles of the times between events.

    The coefficient is the standard deviation over the mean: 1 for independent events, more for clusters
    such as aftershocks, less for events that come regularly.

    Args:
        times: origin times in order, epoch milliseconds.
        parts: of the quantiles, 0 to 1.

    Raises:
        BadUserInput: A quantile is not possible, or there are too many.

    Source: Kagan and Jackson (1991), Geophysical Journal International 104, 117-133.
    """
    if len(parts) > MOST_QUANTILES or any(not 0 <= part <= 1 for part in parts):
        raise BadUserInput(f"`quantiles` takes at most {MOST_QUANTILES} values from 0 to 1.")
    if len(times) < 2:
        return InterEventTimes(reason=f"Only {len(times)} events are selected; a time between two needs 2.")
    gaps = sorted((later - earlier) / 1000 for earlier, later in pairwise(times))
    mean = fmean(gaps)
    # `statistics.pstdev` computes with fractions, which takes thirty times as long.
    varied = sqrt(fsum((gap - mean) ** 2 for gap in gaps) / len(gaps)) / mean if mean else None
    return InterEventTimes(len(gaps), mean, varied, tuple(TimeQuantile(part, quantile(gaps, part)) for part in parts))
