"""The number of events in each period of a time range. No I/O."""

from collections import Counter
from collections.abc import Mapping
from datetime import date

from graph.core.days import date_of
from graph.core.described import Described, described, value
from graph.core.errors import BadUserInput

MOST_PERIODS = 40_000  # a little more than the days of a century


class Interval(Described):
    """The length of the periods of a series, UTC.

    So many first characters of a day bucket name the period.
    """

    _value_: int

    DAY = 8, "A day."
    MONTH = 6, "A month."
    YEAR = 4, "A year."


@value
class Series:
    """The number of events in each period, without gaps."""

    interval: Interval = described("The length of a period.")
    start: date | None = described("First day of the first period, UTC; null if there is none.")
    counts: list[int] = described(
        "The events of each period, zeros included. The time range may cut the first and the last period."
    )


def series_of(counted: Mapping[str, int], interval: Interval, *, first_day: str | None, last_day: str | None) -> Series:
    """The number of events in each period.

    Args:
        counted: day bucket, or year for whole years if the interval is a year → the number of its events.
        first_day: the day bucket on which the series begins; None for the first event's.
        last_day: likewise.

    Raises:
        BadUserInput: There are too many periods.
    """
    counts: Counter[int] = Counter()  # by the number of the period
    for name, count in counted.items():
        counts[_number(name[: interval.value])] += count
    first = min(counts, default=None) if first_day is None else _number(first_day[: interval.value])
    last = max(counts, default=None) if last_day is None else _number(last_day[: interval.value])
    if first is None or last is None or first > last:
        return Series(interval, None, [])
    if last - first >= MOST_PERIODS:
        raise BadUserInput(f"That is more than {MOST_PERIODS:,} periods: take a longer `interval`.")
    series = [0] * (last - first + 1)
    for number, count in counts.items():
        series[number - first] = count
    return Series(interval, _start(interval, first), series)


def _number(period: str) -> int:
    """The number of a period among all periods of its length. It is named by the start of its day buckets."""
    match len(period):
        case 8:
            return date_of(period).toordinal()
        case 6:
            return int(period[:4]) * 12 + int(period[4:])
        case _:
            return int(period)


def _start(interval: Interval, number: int) -> date:
    """The first day of a period, by its number."""
    match interval:
        case Interval.DAY:
            return date.fromordinal(number)
        case Interval.MONTH:
            return date((number - 1) // 12, (number - 1) % 12 + 1, 1)
        case _:
            return date(number, 1, 1)
