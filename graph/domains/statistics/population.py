"""The selected events, counted by magnitude and time, and read where counts do not suffice.

A selection by time and magnitude is counted from the summaries: a century takes a hundred small items.
They count events of all types, so the events that are no earthquakes are read and subtracted; a summary
that counts types names the days that have any. Every other selection is counted from its events.

The events are read at most once, for all parts of the statistics together, and only so many of them.
"""

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import cached_property

from graph.core.days import DAY_MS, day_bucket, day_span
from graph.core.errors import QueryTooComplex
from graph.core.spans import TimeSpan
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.magnitudes import Bin, MagnitudeRange, bin_of
from graph.domains.earthquakes.revisions.views import LATEST, PRESENT, Stream, View
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.summaries import Summaries, Summary
from graph.domains.statistics.events import Events, is_earthquake
from graph.domains.statistics.in_order import in_order
from graph.domains.statistics.once import once
from graph.domains.statistics.other_types import ByFacet, DayCounts, K, OtherTypes, facet_counts
from graph.store.conditions import Condition, all_of
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Needed, Query
from graph.store.time_walk import Promise, Promises, items_of, reading_for
from graph.work.account import charge_rows, give_way

TESTED_PER_EVENT = 10
"""A filter may be tested on so many times more events than may be read: a store is that much faster."""

COUNTED_AT_ONCE = 5_000  # days and bins, in some milliseconds
SAMPLE = 5_000  # events that show the networks of a greater selection
YEAR_MS = 365.25 * DAY_MS

PlanOf = Callable[[Selection, Stream], AsyncGenerator[Promises, None]]
"""Lists the days of a stream that may hold a version of a selection, in order of time, some at a time."""


@dataclass(frozen=True, slots=True)
class TooManyEvents:
    """There are more events than statistics may read, or test a filter on."""

    most: int
    is_testing: bool = False

    @property
    def limit(self) -> str:
        """What was exceeded."""
        if self.is_testing:
            return f"A filter is tested on at most {self.most:,} events"
        return f"It takes the events themselves, of which at most {self.most:,} are read"

    @property
    def reason(self) -> str:
        """What to do."""
        return f"{self.limit}: narrow the time range, the magnitudes or the area."


@dataclass(eq=False)
class Population:
    """The events of a selection: earthquakes alone, unless the selection names types."""

    database: Database
    summaries: Summaries
    other_types: OtherTypes
    plan: PlanOf
    selection: Selection
    attributes: frozenset[str]  # that the events are needed with, of `READABLE`
    most_events: int  # to read
    view: View = PRESENT

    @cached_property
    def span(self) -> TimeSpan:
        """The days of the time range."""
        return TimeSpan.of(*self.selection.span)

    async def lacks_greater(self) -> bool:
        """Whether the selection's greatest magnitude leaves out events.

        Raises:
            QueryTooComplex: As of `bins`.
        """
        greatest = self.selection.magnitudes.maximum
        if greatest is None:
            return False
        ends = (replace(self.selection, magnitudes=MagnitudeRange(greatest, end)) for end in (greatest, None))
        at, from_there = (replace(self, selection=selection) for selection in ends)
        return await from_there.total() > await at.total()

    @once
    async def bins(self) -> Counter[Bin]:
        """Bin of a magnitude, and whether it is exactly on the edge → the number of events.

        Raises:
            QueryTooComplex: Counting takes more events than may be read.
        """
        counts: Counter[Bin] = Counter()
        if not self.is_summarised:
            for magnitude, count in Counter((await self.read()).magnitudes).items():
                counts[bin_of(magnitude)] += count
            return counts
        async for _, summary in self.summarised(by_day=False):
            for tenths, count in summary.bins(self.selection.magnitudes).items():
                on_edge = min(count, int(summary.item.get(f"edge{tenths}", 0)))
                counts[tenths, True] += on_edge
                counts[tenths, False] += count - on_edge
        for (_, at), count in (await self._cut_days()).items():
            counts[at] += count
        for number, ((_, at), count) in enumerate((await self._others()).items()):
            counts[at] -= count
            if number % COUNTED_AT_ONCE == 0:
                await give_way()
        return +counts

    @once
    async def events(self) -> Events | TooManyEvents:
        """The events, with the needed attributes."""
        planned: dict[Stream, list[Promise]] = {stream: [] for stream in self.view.streams}
        tested = 0
        most_tested = self.most_events * (1 if self.is_summarised else TESTED_PER_EVENT)
        for stream, promises in planned.items():
            async for promise in self._promises(stream):
                promises.append(promise)
                tested += promise[2]
                if tested > most_tested:
                    return TooManyEvents(most_tested, is_testing=not self.is_summarised)
        events = Events(self.attributes)
        keep = self.selection.keep
        versions: list[list[Item]] = []  # of each stream, if they have to be merged
        for stream, promises in planned.items():
            versions.append([])
            async for items in self._items(promises, self.selection.condition, self.attributes, stream):
                kept = items if keep is None else filter(keep.holds, items)
                if len(planned) == 1:
                    events.add(kept, self.holds)
                else:
                    versions[-1] += kept
                if len(events) + sum(map(len, versions)) > self.most_events:
                    return TooManyEvents(self.most_events)
        async for some in in_order(versions):
            events.add(some, self.holds)
        return events

    @once
    async def _others(self) -> DayCounts:
        """Day and bin → the number of events that are no earthquakes."""
        return await self.other_types.counts(self.selection)

    @once
    async def _cut_days(self) -> DayCounts:
        """Day and bin → the number of events of any type on the days that the time range cuts."""
        counts: DayCounts = Counter()
        promises = await self._promises_of_cut_days()
        async for items in self._items(promises, self.selection.condition, frozenset({"mag"})):
            counts.update((item["dayBucket"], bin_of(item["mag"])) for item in items)
        return counts

    @property
    def is_summarised(self) -> bool:
        """Whether the summaries count it: by time and magnitudes on tenths, whatever else selections can hold."""
        plain = Selection(self.selection.start_ms, self.selection.end_ms, self.selection.magnitudes)
        return self.view == PRESENT and self.selection == plain and plain.magnitudes.on_tenths

    def holds(self, item: Item) -> bool:
        """Whether an event of the selection counts, by its type."""
        return self._names_types or is_earthquake(item.get("type"))

    @cached_property
    def _names_types(self) -> bool:
        return _names_types(self.selection)

    async def tenths(self) -> Counter[int]:
        """Lower edge of a magnitude bin, in tenths → the number of its events."""
        counts: Counter[int] = Counter()
        for (tenths, _), count in (await self.bins()).items():
            counts[tenths] += count
        return counts

    async def total(self) -> int:
        """The number of events."""
        return (await self.bins()).total()

    async def days(self, *, years: bool = False) -> Counter[str]:
        """Day bucket → the number of its events; with `years`, also year → its number, of years as a whole."""
        counts: Counter[str] = Counter()
        if not self.is_summarised:
            numbers = Counter([time // DAY_MS for time in (await self.read()).times])
            return Counter({day_bucket(number * DAY_MS): count for number, count in numbers.items()})
        async for name, summary in self.summarised(by_day=not years):
            if count := summary.matching(self.selection.magnitudes):
                counts[name] = count
        for day, _ in (await self._cut_days()).elements():
            counts[day] += 1
        for number, ((day, _), count) in enumerate((await self._others()).items()):
            counts[day if day in counts else day[:4]] -= count
            if number % COUNTED_AT_ONCE == 0:
                await give_way()
        return +counts

    async def years(self) -> float | None:
        """The length of the time range in years of 365.25 days; None without events and without bounds.

        Where the range is open, it begins with the day of the first event, or ends with that of the last.
        """
        start, end = self.selection.start_ms, self.selection.end_ms
        if start is None or end is None:
            first, last = await self.outermost_days()
            if first is None or last is None:
                return None
            start = day_span(first)[0] if start is None else start
            end = day_span(last)[1] if end is None else end
        return (end - start + 1) / YEAR_MS

    async def read(self) -> Events:
        """The events.

        Raises:
            QueryTooComplex: There are more than may be read.
        """
        events = await self.events()
        if isinstance(events, TooManyEvents):
            raise QueryTooComplex(events.reason)
        return events

    @property
    def has_facets(self) -> bool:
        """Whether facets count it: by time alone."""
        return self.is_summarised and self.selection.magnitudes.everything

    async def counted_by(self, by: ByFacet[K]) -> Counter[K] | None:
        """The number of its events by a facet; None if the facets do not count all of them."""
        counts = await facet_counts(self.summaries, self.span, by) if self.has_facets else None
        if counts is None:
            return None
        async for items in self._items(await self._promises_of_cut_days(), None, by.read.attributes):
            counts.update(map(by.read.key, items))
        counts.subtract(await self.other_types.counted_by(self.selection, by.read))
        return +counts

    async def sample(self) -> Events:
        """Some events that show the networks: all if there are few, or those of days that are spread evenly."""
        if not self.is_summarised or await self.total() <= min(SAMPLE, self.most_events):
            return await self.read()
        promises = [promise async for promise in self._promises()]
        every = -(-sum(events for _, events, _ in promises) // SAMPLE)
        events = Events(self.attributes | {"net"})
        async for items in self._items(promises[every // 2 :: every], self.selection.condition, events.attributes):
            events.add(items, self.holds)
            if len(events) >= SAMPLE:
                break
        return events

    async def summarised(
        self, *, by_day: bool, only: MagnitudeRange | None = None
    ) -> AsyncIterator[tuple[str, Summary]]:
        """The summaries of the days that the time range covers as a whole, and unless `by_day`, of whole years.

        Args:
            only: leave out years without such magnitudes.
        """
        for part in self.span.years(await self.summaries.years()):
            if only and not part.value.matching(only):
                continue
            if part.is_whole and not by_day:
                yield part.year, part.value
                continue
            year = await self.summaries.days(part.year, part.value)
            await charge_rows(tested=len(year.days))
            for place in year.between(part.first, part.last):
                if (day := year.days[place]) not in part.cut:
                    yield day, year.summaries[place]
            await give_way()

    async def promise(self, day: str, magnitudes: MagnitudeRange) -> Promise:
        """The promise of one day, by its summary."""
        of_year = (await self.summaries.years()).get(day[:4])
        of_day = (await self.summaries.days(day[:4], of_year)).summary(day) if of_year else None
        most = of_day.may_match(magnitudes) if of_day else 0
        return (day,), most, most

    async def _promises_of_cut_days(self) -> list[Promise]:
        return [await self.promise(day, self.selection.magnitudes) for day in self.span.cut]

    async def outermost_days(self) -> tuple[str | None, str | None]:
        """The first and the last day with events."""
        days = await self.days(years=True)
        first, last = min(days, default=None), max(days, default=None)
        if first is None or last is None:
            return None, None
        if len(first) == 4 or len(last) == 4:
            outer = {first[:4], last[:4]}
            parts = [part for part in self.span.years(await self.summaries.years()) if part.year in outer]
            of_days: Counter[str] = Counter({day: count for day, count in days.items() if len(day) == 8})
            for part in parts:
                if part.is_whole:
                    year = await self.summaries.days(part.year, part.value)
                    for day, summary in zip(year.days, year.summaries, strict=True):
                        of_days[day] += summary.matching(self.selection.magnitudes)
            for (day, _), count in (await self._others()).items():
                if (len(first) == 4 and day[:4] == first) or (len(last) == 4 and day[:4] == last):
                    of_days[day] -= count
            first, last = min(+of_days), max(+of_days)
        return first, last

    async def _promises(self, stream: Stream = LATEST) -> AsyncIterator[Promise]:
        """The days of a stream that may hold an event."""
        async with aclosing(self.plan(self.selection, stream)) as plan:
            async for some in plan:
                for promise in some:
                    yield promise

    def _items(
        self,
        promises: Iterable[Promise],
        where: Condition | None,
        attributes: frozenset[str],
        stream: Stream = LATEST,
    ) -> AsyncIterator[Sequence[Item]]:
        """The items of some days of a stream, with the attributes and their type."""
        query = replace(self.query(all_of(where, stream.condition), attributes | {"type"}), entity=stream.entity)
        keep = self.selection.keep
        return items_of(self.database, reading_for(query, keep) if keep else query, promises)

    def query(self, where: Condition | None, attributes: Needed) -> Query:
        """The query for the events of any days."""
        return Query(entity=EVENT, index=TIME_ORDERED, between=self.selection.span, where=where, attributes=attributes)


def _names_types(selection: Selection) -> bool:
    """Whether a selection, or one in it, names types."""
    return selection.types is not None or any(map(_names_types, selection.nested))
