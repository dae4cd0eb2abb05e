"""Statistics of the catalogue: counts by magnitude and by time, from the summaries.

A century takes a hundred small items. The events themselves are read only for the first and the last
day, if the time range cuts them.
"""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import date
from enum import Enum

from graph.core.days import date_of
from graph.core.errors import BadUserInput
from graph.core.spans import TimeSpan
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.magnitudes import GREATEST_BIN, MagnitudeRange, bin_of
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.statistics.gutenberg_richter import Completeness, GutenbergRichter, gutenberg_richter
from graph.domains.earthquakes.summaries import Summaries, Summary, promised_on
from graph.store.conditions import Compare, Condition, all_of
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Query
from graph.store.time_walk import Promise, items_of
from graph.work.account import charge_rows, give_way

MOST_PERIODS = 40_000  # a little more than the days of a century
DAYS_AT_ONCE = 32  # in the search for the strongest event


class Interval(Enum):
    """The length of the periods of a series."""

    DAY = 8
    MONTH = 6
    YEAR = 4  # the value is the number of a day bucket's characters that name the period


@dataclass(frozen=True, slots=True)
class Series:
    """The number of events in each period, without gaps. The time range may cut the first and the last period."""

    interval: Interval
    start: date | None  # of the first period; None if there is none
    counts: list[int]


class Statistics:
    """Statistics of a selection by time and magnitude. Each is computed when it is called."""

    def __init__(self, database: Database, summaries: Summaries, selection: Selection, *, most_days_read: int) -> None:
        """Prepare the statistics of a selection.

        Raises:
            BadUserInput: The magnitudes are not on tenths.
        """
        if not selection.summarised:
            raise BadUserInput("`minMagnitude` and `maxMagnitude` must be on a tenth here, such as 4.5.")
        self._database = database
        self._summaries = summaries
        self._selection = selection
        self._most_days_read = most_days_read
        self._span = TimeSpan.of(*selection.span)
        self._of_cut_days: _CutDays | None = None
        self._counts: Counter[int] | None = None

    async def counts(self) -> Counter[int]:
        """Lower edge of a magnitude bin, in tenths → the number of its events."""
        if self._counts is None:
            counts: Counter[int] = Counter()
            async for _, summary in self._summarised(by_day=False):
                counts.update(summary.bins(self._selection.magnitudes))
            counts.update((await self._cut_days()).bins)
            self._counts = +counts
        return self._counts

    def gutenberg_richter(self, counts: Counter[int], least: Completeness) -> GutenbergRichter:
        """The relation of these counts. A greatest magnitude would cut them, and make the slope too steep."""
        maximum = self._selection.magnitudes.maximum
        if maximum is not None and maximum * 10 < GREATEST_BIN:
            return GutenbergRichter(reason="It takes all great events: leave out `maxMagnitude`.")
        return gutenberg_richter(counts, least)

    async def series(self, interval: Interval) -> Series:
        """The number of events in each period: over the time range or, where it is open, to the outermost event.

        Raises:
            BadUserInput: There are too many periods.
        """
        if self._span.is_empty:
            return Series(interval, None, [])
        counts: Counter[int] = Counter()  # by the number of the period
        async for name, count in self._counted(by_day=interval is not Interval.YEAR):
            counts[_number(name[: interval.value])] += count
        for day, count in (await self._cut_days()).days.items():
            counts[_number(day[: interval.value])] += count
        first, last = min(counts, default=None), max(counts, default=None)
        if self._selection.start_ms is not None:
            first = _number(self._span.first[: interval.value])
        if self._selection.end_ms is not None:
            last = _number(self._span.last[: interval.value])
        if first is None or last is None or first > last:
            return Series(interval, None, [])
        if last - first >= MOST_PERIODS:
            raise BadUserInput(f"That is more than {MOST_PERIODS:,} periods: take a longer `interval`.")
        series = [0] * (last - first + 1)
        for number, count in counts.items():
            series[number - first] = count
        return Series(interval, _start(interval, first), series)

    async def largest(self, attributes: frozenset[str] | None = None) -> Event | None:
        """The event with the greatest magnitude, the latest of equals.

        None if there is no event, or if finding it could take too many days.

        Args:
            attributes: the needed ones, beside the position; None for all.
        """
        needed = None if attributes is None else attributes | {"mag"}
        counts = await self.counts()
        if not counts:
            return None
        greatest = self._selection.magnitudes.maximum
        top = MagnitudeRange(max(counts) / 10, greatest)
        days = [day async for day, summary in self._summarised(by_day=True, only=top) if summary.matching(top)]
        days = sorted([*days, *self._span.cut], reverse=True)
        largest: Item | None = None
        better: Condition = Compare("mag", ">=", max(counts) / 10)
        for at in range(0, len(days), DAYS_AT_ONCE):
            if at + DAYS_AT_ONCE > self._most_days_read < len(days):
                return None
            promises = [await self._promise(day, top) for day in days[at : at + DAYS_AT_ONCE]]
            query = self._query(all_of(self._selection.condition, better), needed)
            found: Item | None = None
            async for items in items_of(self._database, query, promises):
                found = max([*items, *([found] if found else [])], key=_by_magnitude_and_time, default=None)
            if found is not None:
                largest, better = found, Compare("mag", ">", found["mag"])
                if found["mag"] == greatest:
                    break  # no selected event has a greater one
        return Event.reading(needed)(largest) if largest else None

    async def _summarised(
        self, *, by_day: bool, only: MagnitudeRange | None = None
    ) -> AsyncIterator[tuple[str, Summary]]:
        """The summaries of the days that the time range covers as a whole, and unless `by_day`, of whole years.

        Args:
            only: leave out years without such magnitudes.
        """
        for part in self._span.years(await self._summaries.years()):
            if only and not part.value.matching(only):
                continue
            if part.is_whole and not by_day:
                yield part.year, part.value
                continue
            days = (await self._summaries.days(part.year, part.value)).days
            await charge_rows(tested=len(days))
            for day, of_day in part.whole_days(days):
                yield day, of_day
            await give_way()

    async def _counted(self, *, by_day: bool) -> AsyncIterator[tuple[str, int]]:
        """The whole days with selected events, and their numbers; unless `by_day`, whole years where possible."""
        async for name, summary in self._summarised(by_day=by_day):
            if count := summary.matching(self._selection.magnitudes):
                yield name, count

    async def _cut_days(self) -> "_CutDays":
        """The selected events of the days that the time range cuts."""
        if self._of_cut_days is None:
            counted = _CutDays()
            promises = [await self._promise(day, self._selection.magnitudes) for day in self._span.cut]
            query = self._query(self._selection.condition, frozenset({"mag"}))
            async for items in items_of(self._database, query, promises):
                counted.bins.update(bin_of(item["mag"])[0] for item in items)
                counted.days.update(item["dayBucket"] for item in items)
            self._of_cut_days = counted
        return self._of_cut_days

    def _query(self, where: Condition | None, attributes: frozenset[str] | None) -> Query:
        return Query(
            entity=EVENT,
            index=TIME_ORDERED,
            between=self._selection.span,
            where=where,
            attributes=attributes,
        )

    async def _promise(self, day: str, magnitudes: MagnitudeRange) -> Promise:
        """The promise of one day, by its summary."""
        of_year = (await self._summaries.years()).get(day[:4])
        of_day = (await self._summaries.days(day[:4], of_year)).days.get(day) if of_year else None
        return promised_on(day, of_day.may_match(magnitudes) if of_day else 0)


@dataclass(frozen=True, slots=True)
class _CutDays:
    """The counts of the selected events on the days that the time range cuts."""

    bins: Counter[int] = field(default_factory=Counter)  # lower edge of a magnitude bin, in tenths
    days: Counter[str] = field(default_factory=Counter)  # day buckets


def _by_magnitude_and_time(item: Item) -> tuple[float, int]:
    return item["mag"], item["eventTsMs"]


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
