"""The days of a year in columns, so that a plan of many years takes a microsecond a day. No I/O."""

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from operator import sub
from typing import NamedTuple, Protocol

from cachetools import FIFOCache

from graph.domains.earthquakes.facets import CELL
from graph.domains.earthquakes.magnitudes import GREATEST_BIN, LEAST_BIN
from graph.domains.earthquakes.summaries import Counted, Summary
from graph.store.entity import Item

BOUNDS_REMEMBERED = 8  # for each year; each takes memory for every day

COUNT_BITS = 22  # of an entry; a day with more events cannot be stored
COUNT_MASK = (1 << COUNT_BITS) - 1


Column = Sequence[int]
"""A number of each day."""


class Bounds(NamedTuple):
    """The least and the greatest number of matching events on each of some following days."""

    low: Column
    high: Column


class DayCriterion(Protocol):
    """A condition that bounds the number of matching events on each day. Equal ones give equal bounds."""

    def of_days(self, year: "YearOfDays", places: range) -> Bounds:
        """The bounds for the days at these places of a year."""

    def price(self, year: "YearOfDays", places: range) -> int:
        """The number of counts that `of_days` looks at."""


class Facets:
    """The facets of the days of a year, by name.

    An entry tells the number of events of a name on one day: `place of the day << COUNT_BITS | number`. The
    entries of a name are in order of time. Those of all cells are in one array, cell after cell, since a year may
    have ten thousand cells with a few entries each.
    """

    def __init__(self, items: Iterable[Item], summaries: Sequence[Summary]) -> None:
        """Take the facets of those days that have summaries. Both are in order of time."""
        place_of = {summary.item["day"]: place for place, summary in enumerate(summaries)}
        counted = set[int]()
        self._named: defaultdict[str, array[int]] = defaultdict(partial(array, "I"))
        for item in items:
            if (place := place_of.get(item["day"])) is None:
                continue
            if item.get("revision", 0) == summaries[place].item.get("revision"):
                counted.add(place)
            at = place << COUNT_BITS
            for name, count in item.items():
                if count.__class__ is int and count > 0:
                    self._named[name].append(at | count)
        self.uncounted = sorted({*place_of.values()} - counted)  # places of days whose facets do not count all events
        cells = {int(name[len(CELL) :]): self._named.pop(name) for name in list(self._named) if name.startswith(CELL)}
        self._cells = array("I", sorted(cells))
        self._of_cells, self._begins = array("I"), array("I", [0])
        for cell in self._cells:
            self._of_cells.extend(cells[cell])
            self._begins.append(len(self._of_cells))

    def of(self, name: str, places: range) -> "array[int]":
        """The entries of a name on some days."""
        entries = self._named.get(name, _NONE)
        begin = bisect_left(entries, places.start << COUNT_BITS)
        return entries[begin : bisect_left(entries, places.stop << COUNT_BITS, begin)]

    def of_cells(self, runs: Iterable[range]) -> Iterator["array[int]"]:
        """The entries of all cells in some runs, on any day."""
        cells, begins = self._cells, self._begins
        for run in runs:
            first = bisect_left(cells, run.start)
            yield self._of_cells[begins[first] : begins[bisect_left(cells, run.stop, first)]]


_NONE: "array[int]" = array("I")


def add_entries(counts: list[int], entries: Iterable["array[int]"]) -> None:
    """Add entries to the counts of the days of a year."""
    for entry in chain.from_iterable(entries):
        counts[entry >> COUNT_BITS] += entry & COUNT_MASK


class YearOfDays:
    """The days of one year that have or had events, as of one version of the year's summary, in order of time."""

    def __init__(self, version: Item, items: Iterable[Item]) -> None:
        self.version = version
        self.summaries = [Summary(item) for item in items]
        self.days: list[str] = [summary.item["day"] for summary in self.summaries]  # day buckets
        self.events = [summary.events for summary in self.summaries]
        self.facets: Facets | None = None  # until a filter needs them
        self._below: dict[tuple[Counted, int], Column] = {}  # made when first needed, at most one for each bin
        self._on_edge: dict[int, Column] = {}
        self._remembered: FIFOCache[tuple[DayCriterion, range], Bounds] = FIFOCache(BOUNDS_REMEMBERED)

    def summary(self, day: str) -> Summary | None:
        """The summary of a day."""
        return next((self.summaries[place] for place in self.between(day, day)), None)

    def between(self, first: str, last: str) -> range:
        """The places of the days from `first` to `last`, both included."""
        return range(bisect_left(self.days, first), bisect_right(self.days, last))

    def number(self, bins: range, places: range, counted: Counted = "bin") -> Column:
        """The number of events in these bins on some days, or of what else is counted."""
        if bins.stop <= bins.start:
            return [0] * len(places)
        days = slice(places.start, places.stop)
        return list(
            map(sub, self._number_below(counted, bins.stop)[days], self._number_below(counted, bins.start)[days])
        )

    def on_edge(self, tenths: int, places: range) -> Column:
        """The number of events exactly on the lower edge of a bin, on some days."""
        if not LEAST_BIN <= tenths <= GREATEST_BIN:
            return [0] * len(places)
        if (column := self._on_edge.get(tenths)) is None:
            column = self._on_edge[tenths] = array("q", [summary.on_edge(tenths) for summary in self.summaries])
        return column[places.start : places.stop]

    def _number_below(self, counted: Counted, tenths: int) -> Column:
        """The number of events in the bins below this one, on each day."""
        key = counted, min(max(tenths, LEAST_BIN), GREATEST_BIN + 1)
        if (column := self._below.get(key)) is None:
            column = self._below[key] = array("q", [each.counts(counted).below(key[1]) for each in self.summaries])
        return column

    def bounds(self, criterion: DayCriterion, places: range) -> Bounds:
        """The bounds that a criterion gives for some days."""
        key = criterion, places
        try:
            return self._remembered[key]
        except KeyError:
            bounds = self._remembered[key] = criterion.of_days(self, places)
            return bounds

    def price(self, criterion: DayCriterion, places: range) -> int:
        """The number of counts that finding the bounds looks at."""
        return 0 if (criterion, places) in self._remembered else criterion.price(self, places)
