"""What the conditions of a selection tell about the number of matching events, of a year and of each day. No I/O."""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from operator import add, sub
from typing import ClassVar, NamedTuple

from graph.domains.earthquakes.facets import Names, coarse_name
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.summaries import Bounds, Counted, Summary, YearOfDays, add_entries
from graph.geography.cells import Cells


class Range(NamedTuple):
    """The least and the greatest number of matching events."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class ByMagnitude:
    """Events, or superseded or deleted versions, in a range of magnitudes."""

    by_facets: ClassVar[bool] = False

    magnitudes: MagnitudeRange
    counted: Counted = "bin"

    def of_year(self, summary: Summary, facets: Mapping[str, int] | None) -> Range:
        return Range(summary.matching(self.magnitudes), summary.may_match(self.magnitudes, self.counted))

    def of_days(self, year: YearOfDays, places: range) -> Bounds:
        # As `Summary.matching` and `Summary.may_match`, for all days at once.
        magnitudes, events = self.magnitudes, year.events[places.start : places.stop]
        if magnitudes.everything:
            return Bounds(
                events, events if self.counted == "bin" else year.number(magnitudes.bins, places, self.counted)
            )
        inner = magnitudes.inner_bins
        low = year.number(inner, places)
        if magnitudes.maximum is not None and inner.stop >= inner.start:
            low = list(map(add, low, year.on_edge(inner.stop, places)))
        high = year.number(magnitudes.bins, places, self.counted)
        if self.counted == "bin":
            if (first := magnitudes.bin_without_edge) is not None:
                high = list(map(sub, high, year.on_edge(first, places)))
            if (last := magnitudes.bin_of_edge) is not None:
                beyond = map(sub, year.number(range(last, last + 1), places), year.on_edge(last, places))
                high = list(map(sub, high, beyond))
        return Bounds(low, high)

    def price(self, year: YearOfDays, places: range) -> int:
        return 2 * len(places)


@dataclass(frozen=True, slots=True)
class ByFacet:
    """Events with one of some names of a facet."""

    by_facets: ClassVar[bool] = True

    names: Names

    def of_year(self, summary: Summary, facets: Mapping[str, int] | None) -> Range:
        if facets is None:
            return Range(0, summary.events)
        high = sum([facets.get(name, 0) for name in self.names.possible])
        return Range(sum([facets.get(name, 0) for name in self.names.sure]), high)

    def of_days(self, year: YearOfDays, places: range) -> Bounds:
        entries = {name: [facets.of(name, places) for facets in year.facets(places)] for name in self.names.possible}
        sure = [entries.pop(name) for name in self.names.sure]
        return _bounds(year, places, chain(*sure), chain(*entries.values()))

    def price(self, year: YearOfDays, places: range) -> int:
        of = [facets.of for facets in year.facets(places)]
        return len(places) + sum([len(entries(name, places)) for name in self.names.possible for entries in of])


@dataclass(frozen=True, slots=True)
class ByArea:
    """Events in an area."""

    by_facets: ClassVar[bool] = True

    cells: Cells

    def of_year(self, summary: Summary, facets: Mapping[str, int] | None) -> Range:
        if facets is None:
            return Range(0, summary.events)
        return Range(0, sum([facets.get(coarse_name(cell), 0) for cell in self.cells.coarse]))

    def of_days(self, year: YearOfDays, places: range) -> Bounds:
        facets = list(year.facets(places))
        covered, crossed = self.cells.covered, self.cells.crossed
        sure, possible = ([some.of_cells(runs) for some in facets] for runs in (covered, crossed))
        return _bounds(year, places, chain(*sure), chain(*possible))

    def price(self, year: YearOfDays, places: range) -> int:
        return len(places) + sum(
            [len(some) for each in year.facets(places) for some in each.of_cells(self.cells.touched)]
        )


@dataclass(frozen=True, slots=True)
class OnDays:
    """Events on some days."""

    by_facets: ClassVar[bool] = False

    days: frozenset[str]  # day buckets

    def of_year(self, summary: Summary, facets: Mapping[str, int] | None) -> Range:
        return Range(0, summary.events if any(day[:4] == summary.item["year"] for day in self.days) else 0)

    def of_days(self, year: YearOfDays, places: range) -> Bounds:
        high = [year.events[place] if year.days[place] in self.days else 0 for place in places]
        return Bounds([0] * len(high), high)

    def price(self, year: YearOfDays, places: range) -> int:
        return len(places)


@dataclass(frozen=True, slots=True)
class ChangedSince:
    """Events, or superseded or deleted versions, that were recorded or updated in place at a time or later."""

    by_facets: ClassVar[bool] = False

    time_ms: int
    counted: Counted = "bin"

    def of_year(self, summary: Summary, facets: Mapping[str, int] | None) -> Range:
        return Range(0, self._most(summary))

    def of_days(self, year: YearOfDays, places: range) -> Bounds:
        high = list(map(self._most, year.summaries[places.start : places.stop]))
        return Bounds([0] * len(high), high)

    def price(self, year: YearOfDays, places: range) -> int:
        return len(places)

    def _most(self, summary: Summary) -> int:
        return summary.may_match(MagnitudeRange(), self.counted) if summary.changed_since(self.time_ms) else 0


Criterion = ByMagnitude | ByFacet | ByArea | OnDays | ChangedSince


def _bounds(year: YearOfDays, places: range, sure: Iterable["array[int]"], possible: Iterable["array[int]"]) -> Bounds:
    """The bounds for some days, from the entries of events that surely match, and of others that may.

    Facets tell nothing of a day if they do not count all its events.
    """
    counts = [0] * len(year.days)
    add_entries(counts, sure)
    low = counts[places.start : places.stop]
    add_entries(counts, possible)
    high = counts[places.start : places.stop]
    for facets in year.facets(places):
        for place in facets.uncounted:
            if place in places:
                low[place - places.start], high[place - places.start] = 0, year.events[place]
    return Bounds(low, high)
