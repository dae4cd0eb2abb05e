"""What the catalogue says as a whole: counts by magnitude and by time, from the summaries.

A century takes a hundred small items. Only of the first and the last day, where a window cuts
them, are the events themselves read.
"""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import date
from enum import Enum

from graph.days import date_of, day_bucket, day_span
from graph.earthquakes.gutenberg_richter import Completeness, GutenbergRichter, gutenberg_richter
from graph.earthquakes.magnitudes import GREATEST_BIN, MagnitudeRange, bin_of
from graph.earthquakes.model import Event
from graph.earthquakes.selection import Selection
from graph.earthquakes.summaries import Summaries, Summary
from graph.earthquakes.table import TIME_ORDERED, day_partition
from graph.errors import BadUserInput
from graph.store.conditions import Compare, Condition, all_of
from graph.store.contract import Item, Table

MOST_PERIODS = 40_000  # a little more than the days of a century
DAYS_AT_ONCE = 32  # of which the strongest event is looked for


class Interval(Enum):
    """The length of the periods of a series."""

    DAY = 8
    MONTH = 6
    YEAR = 4  # characters of a day bucket that name the period


@dataclass(frozen=True, slots=True)
class Series:
    """How many events each period has, without a gap. The first and the last one may be cut by the window."""

    interval: Interval
    start: date | None  # of the first period; None where there is none
    counts: list[int]


class Statistics:
    """Statistics of a selection by time and magnitude, each of them computed when it is asked for."""

    def __init__(self, table: Table, summaries: Summaries, selection: Selection, *, most_days_read: int) -> None:
        """Say of what.

        Raises:
            BadUserInput: The magnitudes are not on tenths.
        """
        if not selection.summarised:
            raise BadUserInput("`minMagnitude` and `maxMagnitude` must be on a tenth here, such as 4.5.")
        self._table = table
        self._summaries = summaries
        self._selection = selection
        self._most_days_read = most_days_read
        first_ms, last_ms = selection.span
        self._is_empty = first_ms > last_ms  # bounds beyond the calendar, which no day has
        self._first, self._last = ("", "") if self._is_empty else (day_bucket(first_ms), day_bucket(last_ms))
        self._cut: list[str] = []  # the days of which only a part lies within the window
        if not self._is_empty:
            cut = {self._first} if day_span(self._first)[0] < first_ms else set()
            self._cut = sorted(cut | {self._last} if day_span(self._last)[1] > last_ms else cut)
        self._events_of_cut_days: list[Item] | None = None
        self._counts: Counter[int] | None = None

    async def counts(self) -> Counter[int]:
        """Lower edge of a magnitude bin, in tenths → how many events it has."""
        if self._counts is None:
            counts: Counter[int] = Counter()
            async for _, summary in self._summarised(by_day=False):
                counts.update(summary.bins(self._selection.magnitudes))
            counts.update(bin_of(item["mag"])[0] for item in await self._cut_events())
            self._counts = +counts
        return self._counts

    def gutenberg_richter(self, counts: Counter[int], least: Completeness) -> GutenbergRichter:
        """The relation of these counts, where no greatest magnitude cuts them, which would pass for a steep slope."""
        maximum = self._selection.magnitudes.maximum
        if maximum is not None and maximum * 10 < GREATEST_BIN:
            return GutenbergRichter(reason="It takes all great events: leave out `maxMagnitude`.")
        return gutenberg_richter(counts, least)

    async def series(self, interval: Interval) -> Series:
        """How many events each period has: of the window, and where that is open, from the first event or to the last.

        Raises:
            BadUserInput: There are too many periods.
        """
        counts: Counter[str] = Counter()
        if interval is Interval.YEAR:
            async for name, summary in self._summarised(by_day=False):
                counts[name[: interval.value]] += summary.matching(self._selection.magnitudes)
        else:
            for day, count in await self._counts_of_days():
                counts[day[: interval.value]] += count
        counts.update(item["dayBucket"][: interval.value] for item in await self._cut_events())
        known = sorted(+counts)
        first = self._first[: interval.value] if self._selection.start_ms is not None else known[0] if known else None
        last = self._last[: interval.value] if self._selection.end_ms is not None else known[-1] if known else None
        if self._is_empty or first is None or last is None or first > last:
            return Series(interval, None, [])
        begin, end = _number(first), _number(last)
        if end - begin >= MOST_PERIODS:
            raise BadUserInput(f"That is more than {MOST_PERIODS:,} periods: take a longer `interval`.")
        series = [0] * (end - begin + 1)
        for name in known:
            series[_number(name) - begin] = counts[name]
        return Series(interval, date_of(f"{first}0101"[:8]), series)

    async def largest(self) -> Event | None:
        """The event with the greatest magnitude, the latest one of equals.

        None where there is none, or where it may stand on more days than may be read.
        """
        counts = await self.counts()
        if not counts:
            return None
        greatest = self._selection.magnitudes.maximum
        top = MagnitudeRange(max(counts) / 10, greatest)
        days = [day async for day, summary in self._summarised(by_day=True, only=top) if summary.matching(top)]
        days = sorted([*days, *self._cut], reverse=True)
        largest: Item | None = None
        better: Condition = Compare("mag", ">=", max(counts) / 10)
        for at in range(0, len(days), DAYS_AT_ONCE):
            if at + DAYS_AT_ONCE > self._most_days_read < len(days):
                return None
            page = await self._table.query_many(
                TIME_ORDERED,
                [day_partition(day) for day in days[at : at + DAYS_AT_ONCE]],
                between=self._selection.span,
                where=all_of(self._selection.condition, better),
            )
            found = max(page.items, key=lambda item: (item["mag"], item["eventTsMs"]), default=None)
            if found is not None:
                largest, better = found, Compare("mag", ">", found["mag"])
                if found["mag"] == greatest:
                    break  # no event that is selected has more
        return Event(largest) if largest else None

    async def _summarised(
        self, *, by_day: bool, only: MagnitudeRange | None = None
    ) -> AsyncIterator[tuple[str, Summary]]:
        """The summaries of what lies within the window whole: of days, and unless `by_day`, of years.

        Args:
            only: leave out years that have no such magnitude.
        """
        for year, summary in (await self._summaries.years()).items():
            begin, end = max(self._first, f"{year}0101"), min(self._last, f"{year}1231")
            if begin > end or (only and not summary.matching(only)):
                continue
            if not by_day and (begin, end) == (f"{year}0101", f"{year}1231") and not {begin, end} & {*self._cut}:
                yield year, summary
                continue
            for day, of_day in (await self._summaries.days(year, summary)).days.items():
                if begin <= day <= end and day not in self._cut:
                    yield day, of_day

    async def _counts_of_days(self) -> list[tuple[str, int]]:
        """How many selected events each day has that lies within the window whole, where it has any."""
        counts: list[tuple[str, int]] = []
        for year, summary in (await self._summaries.years()).items():
            if self._first[:4] <= year <= self._last[:4]:
                days = (await self._summaries.days(year, summary)).matching(self._selection.magnitudes)
                within = days.between(self._first, self._last)
                counts += zip(days.days[within], days.counts[within], strict=True)
        return [(day, count) for day, count in counts if day not in self._cut]

    async def _cut_events(self) -> list[Item]:
        """The selected events of the days that the window cuts."""
        if self._events_of_cut_days is None:
            page = await self._table.query_many(
                TIME_ORDERED,
                [day_partition(day) for day in self._cut],
                between=self._selection.span,
                where=self._selection.condition,
            )
            self._events_of_cut_days = page.items
        return self._events_of_cut_days


def _number(period: str) -> int:
    """The place of a period, named by the first characters of its day buckets, among all of its length."""
    match len(period):
        case 8:
            return date_of(period).toordinal()
        case 6:
            return int(period[:4]) * 12 + int(period[4:])
        case _:
            return int(period)
