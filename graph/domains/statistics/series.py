"""The number of events in each period of a time range. No I/O."""

from collections import Counter
from collections.abc import Mapping
from datetime import date

from graph.core.days import DAY_MS, EPOCH, HOUR_MS, date_of
from graph.core.described import DescribedText, described, instant, optional, value
from graph.core.errors import BadUserInput

MOST_PERIODS = 40_000  # a little more than the days of a century


class SeriesInterval(DescribedText):
    """The length of the periods of a series, UTC."""

    HOUR = "HOUR", "An hour."
    DAY = "DAY", "A day."
    WEEK = "WEEK", "A week, which begins on Monday."
    MONTH = "MONTH", "A month."
    YEAR = "YEAR", "A year."


@value
class Series:
    """The number of events in each period, without gaps."""

    interval: SeriesInterval = described("The length of a period.")
    starts_at: int | None = instant("The start of the first period; null if there is none.", default=None)
    counts: tuple[int, ...] = described(
        "The events of each period, zeros included. The time range may cut the first and the last period.", default=()
    )
    reason: str | None = optional("Why there are no counts by hour; null if there are.")


def series_of(counted: Mapping[str, int], interval: SeriesInterval, *, first: str | None, last: str | None) -> Series:
    """The number of events in each period.

    Args:
        counted: an hour, `YYYYMMDDHH`, a day bucket or a year → the number of its events. An interval takes
            those that are not longer.
        first: the hour in which the series begins; None for the first event's.
        last: likewise.

    Raises:
        BadUserInput: There are too many periods.
    """
    counts: Counter[int] = Counter()  # by the number of the period
    for name, count in counted.items():
        counts[_number(name, interval)] += count
    begin = min(counts, default=None) if first is None else _number(first, interval)
    end = max(counts, default=None) if last is None else _number(last, interval)
    if begin is None or end is None or begin > end:
        return Series(interval)
    _check_length(end - begin)
    return Series(interval, _start(interval, begin), tuple([counts[number] for number in range(begin, end + 1)]))


def check_length(first: str, last: str, interval: SeriesInterval) -> None:
    """Raise `BadUserInput` if there are too many periods from one hour or day bucket to another."""
    _check_length(_number(last, interval) - _number(first, interval))


def _check_length(periods: int) -> None:
    if periods >= MOST_PERIODS:
        raise BadUserInput(f"That is more than {MOST_PERIODS:,} periods: take a longer `interval`.")


def _number(name: str, interval: SeriesInterval) -> int:
    """The number of a period among all periods of its length."""
    match interval:
        case SeriesInterval.HOUR:
            return date_of(name[:8]).toordinal() * 24 + int(name[8:] or 0)
        case SeriesInterval.DAY:
            return date_of(name[:8]).toordinal()
        case SeriesInterval.WEEK:
            return (date_of(name[:8]).toordinal() - 1) // 7  # the first day of the calendar is a Monday
        case SeriesInterval.MONTH:
            return int(name[:4]) * 12 + int(name[4:6])
        case SeriesInterval.YEAR:
            return int(name[:4])


def _start(interval: SeriesInterval, number: int) -> int:
    """The start of a period, by its number, epoch milliseconds."""
    match interval:
        case SeriesInterval.HOUR:
            return (number - EPOCH * 24) * HOUR_MS
        case SeriesInterval.DAY:
            days = number
        case SeriesInterval.WEEK:
            days = number * 7 + 1
        case SeriesInterval.MONTH:
            days = date((number - 1) // 12, (number - 1) % 12 + 1, 1).toordinal()
        case SeriesInterval.YEAR:
            days = date(number, 1, 1).toordinal()
    return (days - EPOCH) * DAY_MS
