"""The days of a year in columns, so that a plan of many years takes a microsecond a day. No I/O."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import sub
from typing import NamedTuple, Protocol

from cachetools import FIFOCache

from graph.domains.earthquakes.magnitudes import GREATEST_BIN, LEAST_BIN
from graph.domains.earthquakes.summaries.facets_of_days import Facets
from graph.domains.earthquakes.summaries.summary import Counted, Summary
from graph.store.entity import Item

BOUNDS_REMEMBERED = 8  # for each year; each takes memory for every day

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


def quarter_of(day: str) -> int:
    """The quarter of the year, from 0, that a day lies in."""
    return (int(day[4:6]) - 1) // 3


class YearOfDays:
    """The days of one year that have or had events, as of one version of the year's summary, in order of time."""

    def __init__(self, version: Item, items: Iterable[Item]) -> None:
        self.version = version
        self.summaries = [Summary(item) for item in items]
        self.days: list[str] = [summary.item["day"] for summary in self.summaries]  # day buckets
        self.events = [summary.events for summary in self.summaries]
        self._begins = [bisect_left(self.days, f"{version['year']}{month:02}") for month in (1, 4, 7, 10, 13)]
        self._facets: dict[int, Facets] = {}  # by quarter, from 0, as far as filters have needed them
        self._below: dict[tuple[Counted, int], Column] = {}  # made when first needed, at most one for each bin
        self._on_edge: dict[int, Column] = {}
        self._remembered: FIFOCache[tuple[DayCriterion, range], Bounds] = FIFOCache(BOUNDS_REMEMBERED)

    def summary(self, day: str) -> Summary | None:
        """The summary of a day."""
        return next((self.summaries[place] for place in self.between(day, day)), None)

    def between(self, first: str, last: str) -> range:
        """The places of the days from `first` to `last`, both included."""
        return range(bisect_left(self.days, first), bisect_right(self.days, last))

    def quarters(self, places: range) -> list[int]:
        """The quarters of the year, from 0, that have days at these places."""
        first, last, begins = places.start, places.stop, self._begins
        return [quarter for quarter in range(4) if max(begins[quarter], first) < min(begins[quarter + 1], last)]

    def without_facets(self, places: range) -> range:
        """The days whose facets must be read for those at these places: those of whole quarters."""
        unread = [quarter for quarter in self.quarters(places) if quarter not in self._facets]
        return range(self._begins[unread[0]], self._begins[unread[-1] + 1]) if unread else range(0)

    def add_facets(self, quarter: int, items: Iterable[Item]) -> None:
        """Add the facets of the days of a quarter."""
        places = range(self._begins[quarter], self._begins[quarter + 1])
        self._facets[quarter] = Facets(items, {place: self.summaries[place] for place in places})

    def facets(self, places: range) -> Iterator[Facets]:
        """The facets of the days at these places, and of others. They were read before."""
        return map(self._facets.__getitem__, self.quarters(places))

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
