"""Plans queries by the summaries: the days that may hold a match, and how many matches are known without reading.

A criterion of a selection gives each day the least and the greatest number of its events that match. All
criteria together match at most as many as the strictest one, and at least as many as must match all of them:
of 10 events, 8 of which are strong and 7 of which are reviewed, at least 5 are both.

A day is read for a page if it may hold a match, and for a total only if the two numbers differ.

The streams of a view are counted one after the other, and a version may move to another one in between: it would be
counted twice, or not at all. So a total of several streams holds only if no version was stored while they were counted.
"""

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from sys import maxsize
from typing import NamedTuple

from graph.core.spans import TimeSpan, YearPart
from graph.domains.earthquakes.model import day_of
from graph.domains.earthquakes.revisions.live import event_sequence
from graph.domains.earthquakes.revisions.views import LATEST, Stream
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.selection.criteria import (
    ByMagnitude,
    ChangedSince,
    Criterion,
    Range,
    joint,
    joint_of_days,
)
from graph.domains.earthquakes.summaries import Bounds, Summaries, Summary
from graph.store.contract import Database
from graph.store.query import Partition
from graph.store.time_walk import Promise, Promises, count_of, items_of, reading_for
from graph.work.account import charge_rows, give_way

FEWEST_DAYS_FOR_FACETS = 32  # of a year: reading the facets of the year takes longer than reading fewer days


@dataclass(frozen=True, slots=True)
class MostRead:
    """How much may be done for a total."""

    days: int
    rows: int = 1_000_000  # that a store tests a filter on; SQLite takes two tenths of a second
    matches: int = 50_000  # that are read, where a part of the filter is tested here
    attempts: int = 5  # to count several streams while no version is stored


class Known(NamedTuple):
    """What the summaries tell of a total."""

    counted: int  # matches that need no reading
    unsure: list[Promise]  # the days to read for the others, in order of time


class PlannedDays(NamedTuple):
    """The days of a part of a year that may hold a match."""

    days: Sequence[str]  # day buckets
    bounds: Bounds
    rows: Sequence[int]  # that a usual filter takes as long to test, of each day

    def promises(self, prefix: str, *, forward: bool) -> Iterator[Promise]:
        """What the partitions of these days promise. A page that is soon full takes only the first of many."""
        for at in range(len(self.days)) if forward else reversed(range(len(self.days))):
            if (most := self.bounds.high[at]) > 0:
                yield (f"{prefix}{self.days[at]}",), most, self.rows[at]


class Planner:
    """Plans the queries of a catalogue."""

    def __init__(self, summaries: Summaries, *, fewest_days_for_facets: int) -> None:
        self._summaries = summaries
        self._fewest_days_for_facets = fewest_days_for_facets

    async def days(
        self,
        selection: Selection,
        stream: Stream,
        *,
        forward: bool,
        start: Partition | None = None,
        by_facets: bool = True,
    ) -> AsyncGenerator[Promises, None]:
        """The days that may hold a selected version, some at a time.

        Args:
            start: the partition to begin with.
            by_facets: whether to read facets. It is not worth it where other criteria leave only few versions.
        """
        first = start[0].removeprefix(stream.prefix) if start else None
        span = TimeSpan.of(*selection.span).starting_on(first, forward=forward)
        criteria = [each for each in _criteria(selection, stream) if by_facets or not each.by_facets]
        async for part, _ in self._years(span, criteria, forward=forward):
            planned = await self._days(part, criteria, selection.weight)
            yield planned.promises(stream.prefix, forward=forward)
            await give_way()

    async def days_of_any(
        self, streams: Sequence[Stream], selection: Selection, *, forward: bool
    ) -> AsyncGenerator[tuple[str, int], None]:
        """The days that may hold a selected version in any stream, each with the number that it probably holds.

        A view has at most one version of an event, so that is the number of the first stream that has the day.
        """
        async with AsyncExitStack() as stack:
            plans = [self.days(selection, stream, forward=forward) for stream in streams]
            planned = [_flattened(await stack.enter_async_context(aclosing(plan))) for plan in plans]
            next_of = [await anext(days, None) for days in planned]
            while heads := [_day_of(promise) for promise in next_of if promise]:
                day = min(heads) if forward else max(heads)
                at = [number for number, promise in enumerate(next_of) if promise and _day_of(promise) == day]
                yield day, next(promise[1] for number in at if (promise := next_of[number]))
                for number in at:
                    next_of[number] = await anext(planned[number], None)

    async def known(self, selection: Selection, stream: Stream, most: MostRead) -> Known | None:
        """What the summaries tell of the number of selected versions; None if more must be read for the others."""
        span, criteria = TimeSpan.of(*selection.span), _criteria(selection, stream)
        is_counted = selection.is_counted and stream == LATEST
        counted, unsure, rows, matches = 0, list[Promise](), 0, 0
        most_matches = most.matches if selection.keep else maxsize
        async for part, of_year in self._years(span, criteria):
            if part.is_whole and is_counted and of_year.low == of_year.high:
                counted += of_year.low
                continue
            planned = await self._days(part, criteria, selection.weight)
            days, (low, high) = planned.days, planned.bounds
            places: Sequence[int] = range(len(days))
            if is_counted and low == high:  # then only the days that the span covers in part are unsure
                places = [at for at in sorted({0, len(days) - 1}) if days and days[at] in part.cut]
                counted += sum(low) - sum([low[at] for at in places])
            for at in places:
                if is_counted and low[at] == high[at] and days[at] not in part.cut:
                    counted += low[at]
                elif high[at] > 0:
                    unsure.append(((f"{stream.prefix}{days[at]}",), high[at], planned.rows[at]))
                    rows += planned.rows[at]
                    matches += high[at]
            if len(unsure) > most.days or rows > most.rows or matches > most_matches:
                return None
            await give_way()
        return Known(counted, unsure)

    async def counts(self, selection: Selection, stream: Stream) -> Summary:
        """The summed counts by magnitude of the years that may hold a selected version."""
        span, criteria = TimeSpan.of(*selection.span), _criteria(selection, stream)
        counts = Counter[str]()
        async for part, _ in self._years(span, criteria):
            counts.update(part.value.by_magnitude(stream.counted))
        return Summary(counts)

    async def _years(
        self, span: TimeSpan, criteria: Sequence[Criterion], *, forward: bool = True
    ) -> AsyncIterator[tuple[YearPart[Summary], Range]]:
        """The years that may have matches, each with the least and the greatest number of its matches."""
        parts: Iterable[YearPart[Summary]] = span.years(await self._summaries.years(), forward=forward)
        facets = {}
        if any(criterion.by_facets for criterion in criteria):
            parts = list(parts)
            facets = await self._summaries.facets_of({part.year: part.value for part in parts})
        for part in parts:
            of_year = facets.get(part.year)
            bounds = [criterion.of_year(part.value, of_year) for criterion in criteria]
            of_all = joint(part.value.events, bounds)
            if of_all.high > 0:
                yield part, of_all

    async def _days(self, part: YearPart[Summary], criteria: Sequence[Criterion], weight: int) -> PlannedDays:
        """The days of a part of a year.

        Args:
            weight: of the filter. A row counts so many times.
        """
        year = await self._summaries.days(part.year, part.value)
        places = year.between(part.first, part.last)
        chosen = criteria
        if part.days < self._fewest_days_for_facets:
            chosen = [criterion for criterion in criteria if not criterion.by_facets]
        if any(criterion.by_facets for criterion in chosen):
            await self._summaries.read_facets(year, places)
        await charge_rows(tested=len(places) + sum([year.price(criterion, places) for criterion in chosen]))
        every = []
        for criterion in chosen:
            await give_way()
            every.append(year.bounds(criterion, places))
        events = year.events[places.start : places.stop]
        of_all = joint_of_days(events, every)
        if len(chosen) < len(criteria):
            of_all = Bounds([0] * len(places), of_all.high)  # for all that is known, no event matches
        rows: Sequence[int] = events
        for criterion, bounds in zip(chosen, every, strict=True):
            if isinstance(criterion, ByMagnitude):
                rows = bounds.high  # an index by magnitude leads to these
        if weight > 1:
            rows = [weight * each for each in rows]
        return PlannedDays(year.days[places.start : places.stop], of_all, rows)


def _criteria(selection: Selection, stream: Stream) -> list[Criterion]:
    """The criteria for the days of a stream. Facets count only events, not their superseded versions."""
    criteria: list[Criterion] = []
    if stream.counted != "bin" or not selection.magnitudes.everything:
        criteria.append(ByMagnitude(selection.magnitudes, stream.counted))
    if stream.counted == "bin":
        criteria += selection.criteria
    if selection.updated_since_ms is not None:
        criteria.append(ChangedSince(selection.updated_since_ms, stream.counted))
    return criteria


async def _flattened(plan: AsyncGenerator[Promises, None]) -> AsyncGenerator[Promise, None]:
    async for some in plan:
        for promise in some:
            yield promise


def _day_of(promise: Promise) -> str:
    """The day of a partition, whose name may have a prefix."""
    return day_of(promise[0][0])


EVERYTHING = MostRead(maxsize, maxsize, maxsize, attempts=50)
"""For a count that is needed."""


async def count_at_rest(
    database: Database, planner: Planner, selection: Selection, streams: Sequence[Stream], most: MostRead
) -> int | None:
    """The number of selected versions, counted while none was stored; None if that failed, or takes too much.

    Raises:
        QueryTooComplex: The operation in progress may not read so many.
    """
    if len(streams) == 1:
        return await _count(database, planner, selection, streams, most)
    sequence = event_sequence(database)
    latest = await sequence.latest()
    for _ in range(most.attempts):
        total, before = await _count(database, planner, selection, streams, most), latest
        if total is None or (latest := await sequence.latest()) == before:
            return total
    return None


async def _count(
    database: Database, planner: Planner, selection: Selection, streams: Sequence[Stream], most: MostRead
) -> int | None:
    total = 0
    for stream in streams:
        known = await planner.known(selection, stream, most)
        if known is None:
            return None
        total += known.counted
        query = stream.query(selection, frozenset())
        if (keep := selection.keep) is None:
            total += await count_of(database, query, known.unsure)
            continue
        async for items in items_of(database, reading_for(query, keep), known.unsure):
            total += sum(map(keep.holds, items))
    return total
