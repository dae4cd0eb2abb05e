"""Reads events in the order of magnitude, then time, then event id. No index has this order.

The magnitudes are divided into levels: each tenth, and what lies between two tenths. Summaries tell how many events
each level has at most. So the levels are read from one end, as many at a time as promise a full page, then four times
as many each time, and from days that may have such events. They are read whole, but only the page's are kept.

The events of one exact magnitude are in order of time. So a level of one magnitude that has more events than
needed is walked in order of time. It costs what a page of it costs, however many events it has.
"""

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from heapq import nlargest, nsmallest
from itertools import pairwise
from math import copysign, inf, nextafter
from typing import NamedTuple

from graph.core.errors import QueryTooComplex
from graph.core.paging import Position
from graph.domains.earthquakes.catalogue.planning import Planner
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import GREATEST_MAG, LEAST_MAG, POSSIBLE_ID, POSSIBLE_TIME, Event, EventVersion
from graph.domains.earthquakes.revisions.merged_walk import MergedWalk
from graph.domains.earthquakes.revisions.views import Stream
from graph.domains.earthquakes.selection import Selection
from graph.store.attributes import Real
from graph.store.between import Between, ItemsFound
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.ordering import Order
from graph.store.query import Query
from graph.store.time_walk import items_of, reading_for
from graph.store.values import LEAST_MAGNITUDE

BY_MAGNITUDE = Order("magnitudes", Real("mag", least=LEAST_MAG, greatest=GREATEST_MAG), POSSIBLE_TIME, POSSIBLE_ID)

MagnitudePlace = tuple[float, int, str]
"""Magnitude, origin time in epoch milliseconds, event id."""


def magnitude_place(item: Position) -> MagnitudePlace:
    """The place of an event in the order by magnitude. An engine may return 2 for the magnitude 2.0."""
    return float(item["mag"]), item["eventTsMs"], item["eventId"]


class EventByMagnitude(Event):
    """An event in a list by magnitude. Its item is read with the magnitude, whatever else is needed."""

    cursor = BY_MAGNITUDE.cursors()


class EventVersionByMagnitude(EventVersion):
    """A version in such a list."""

    cursor = BY_MAGNITUDE.cursors()


IN_ORDER: dict[type[Event], type[Event]] = {Event: EventByMagnitude, EventVersion: EventVersionByMagnitude}
"""The records of a view → those of its list by magnitude."""

GROWTH = 4  # a plan of many years takes as long as some thousand rows, so it is not made often
FEW = 5000  # versions; the facets of a year take as long to read
SPARE = 1000  # versions in memory beside those of the page


class Level(NamedTuple):
    """A range of magnitudes, one or some levels."""

    least: float
    greatest: float
    most: int = 0  # versions that it may have, of any other attributes

    @property
    def is_one(self) -> bool:
        """Whether it is one magnitude."""
        return self.least == self.greatest

    @property
    def magnitudes(self) -> MagnitudeRange:
        """The same range for a selection."""
        return MagnitudeRange(self.least, self.greatest)


@dataclass(frozen=True, slots=True)
class MagnitudeWalk:
    """The selected versions of several streams, in order of magnitude."""

    database: Database
    planner: Planner
    selection: Selection
    streams: Sequence[Stream]
    query_of: Callable[[Selection, Stream], Query]  # for the selected versions of a stream; it reads their magnitudes
    in_time: Callable[[Selection], MergedWalk]  # the walk through the same versions in order of time

    async def read(self, size: int, within: Between, *, forward: bool) -> ItemsFound:
        """The first versions between two places; with `forward`, the smallest ones.

        Raises:
            QueryTooComplex: The operation in progress may not read so many.
        """
        items: list[Item] = []
        more, partitions = False, 0
        start = within.after if forward else within.before
        wanted = size + 1 + (start is not None)  # the event at the start is promised, too
        try:
            async with aclosing(self._windows(wanted, within, forward=forward)) as windows:
                async for window in windows:
                    read = self._walk if window.is_one else self._sort
                    found = await read(window, size - len(items), within, forward=forward)
                    items += found.items
                    more, partitions = found.more, partitions + found.partitions
                    if more:
                        break
        except QueryTooComplex as error:
            raise QueryTooComplex(
                "Too many events would have to be read to order them by magnitude: "
                "narrow the time range or the range of magnitudes, or order by time."
            ) from error
        return ItemsFound(items, more, partitions)

    async def _windows(self, wanted: int, within: Between, *, forward: bool) -> AsyncGenerator[Level, None]:
        """The magnitudes to read, one range after the other."""
        counts = [(await self.planner.counts(self.selection, stream), stream.counted) for stream in self.streams]
        levels = list(_levels(self._span(within)))
        some: list[Level] = []
        for level in levels if forward else reversed(levels):
            most = sum(summary.may_match(level.magnitudes, counted) for summary, counted in counts)
            if not most:
                continue
            if some and level.is_one and most > wanted:
                yield _together(some)
                some, wanted = [], wanted * GROWTH
            some.append(level._replace(most=most))
            if sum(each.most for each in some) >= wanted:
                yield _together(some)
                some, wanted = [], wanted * GROWTH
        if some:
            yield _together(some)

    def _span(self, within: Between) -> Level:
        """The selected magnitudes between two places."""
        selected = self.selection.magnitudes
        lows = [LEAST_MAG, selected.minimum, within.after[0] if within.after else None]
        highs = [GREATEST_MAG, selected.maximum, within.before[0] if within.before else None]
        return Level(max(low for low in lows if low is not None), min(high for high in highs if high is not None))

    async def _walk(self, level: Level, size: int, within: Between, *, forward: bool) -> ItemsFound:
        """The first versions of one magnitude."""
        walk = self.in_time(replace(self.selection, magnitudes=level.magnitudes))
        return await walk.read(size, within.among(level.least), forward=forward)

    async def _sort(self, level: Level, size: int, within: Between, *, forward: bool) -> ItemsFound:
        """The first versions of a range. All of them are read."""
        first, count = nsmallest if forward else nlargest, size + 1
        best: dict[MagnitudePlace, Item] = {}
        selection, partitions = replace(self.selection, magnitudes=level.magnitudes), 0
        for stream in self.streams:
            async with aclosing(self._read(selection, stream, by_facets=level.most > FEW)) as read:
                async for items, days in read:
                    partitions += days
                    placed = ((magnitude_place(item), item) for item in items)
                    best |= {place: item for place, item in placed if within.holds(place)}
                    if len(best) > count + SPARE:
                        best = {place: best[place] for place in first(count, best)}
        found = [best[place] for place in first(count, best)]
        return ItemsFound(found[:size], len(found) > size, partitions)

    async def _read(
        self, selection: Selection, stream: Stream, *, by_facets: bool
    ) -> AsyncGenerator[tuple[Sequence[Item], int], None]:
        """The selected versions of a stream, some at a time, and the number of days that are read for them."""
        query, keep = self.query_of(selection, stream), selection.keep
        days = self.planner.days(selection, stream, forward=True, by_facets=by_facets)
        async with aclosing(days) as plan:
            async for planned in plan:
                promises = list(planned)
                yield [], len(promises)
                async for items in items_of(self.database, reading_for(query, keep) if keep else query, promises):
                    yield list(filter(keep.holds, items)) if keep else items, 0


def _levels(span: Level) -> Iterator[Level]:
    """The levels from one magnitude to another, in ascending order. Both are levels of their own, too."""
    low, high = span.least, span.greatest
    if low > high:
        return
    tenths = [tenth / 10 for tenth in span.magnitudes.bins]
    cuts = sorted({low, *(tenth for tenth in tenths if low < tenth < high), high})
    yield Level(low, low)
    for below, cut in pairwise(cuts):
        inside = Level(_beside(below, inf), _beside(cut, -inf))
        if inside.least <= inside.greatest:
            yield inside
        yield Level(cut, cut)


def _beside(mag: float, towards: float) -> float:
    """The next number that can be stored. Those closest to zero cannot."""
    beside = nextafter(mag, towards)
    if 0 < abs(beside) < LEAST_MAGNITUDE:
        return 0.0 if mag else copysign(LEAST_MAGNITUDE, beside)
    return beside


def _together(levels: Sequence[Level]) -> Level:
    least, greatest, most = zip(*levels, strict=True)
    return Level(min(least), max(greatest), sum(most))
