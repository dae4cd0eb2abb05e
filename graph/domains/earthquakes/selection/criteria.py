"""What the conditions of a selection tell about the number of matching events, of a year and of each day. No I/O."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import add, sub
from typing import ClassVar, NamedTuple

from graph.core.spans import TimeSpan
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


@dataclass(frozen=True, slots=True)
class InTime:
    """Events in a range of time."""

    by_facets: ClassVar[bool] = False

    span: TimeSpan

    def of_year(self, summary: Summary, facets: Mapping[str, int] | None) -> Range:
        parts = list(self.span.years({summary.item["year"]: summary}))
        return Range(summary.events if parts and parts[0].is_whole else 0, summary.events if parts else 0)

    def of_days(self, year: YearOfDays, places: range) -> Bounds:
        within = year.between(self.span.first, self.span.last)
        high = [year.events[place] if place in within else 0 for place in places]
        low = [0 if year.days[place] in self.span.cut else most for place, most in zip(places, high, strict=True)]
        return Bounds(low, high)

    def price(self, year: YearOfDays, places: range) -> int:
        return len(places)


@dataclass(frozen=True, slots=True)
class _Several:
    """Some criteria that are looked at together."""

    criteria: tuple["Criterion", ...]

    @property
    def by_facets(self) -> bool:
        return any(each.by_facets for each in self.criteria)

    def price(self, year: YearOfDays, places: range) -> int:
        return len(places) + sum([each.price(year, places) for each in self.criteria])


@dataclass(frozen=True, slots=True)
class InAll(_Several):
    """Events that match all criteria of a selection."""

    is_whole: bool  # whether these are the whole selection; otherwise perhaps no event matches

    def of_year(self, summary: Summary, facets: Mapping[str, int] | None) -> Range:
        low, high = joint(summary.events, [each.of_year(summary, facets) for each in self.criteria])
        return Range(low if self.is_whole else 0, high)

    def of_days(self, year: YearOfDays, places: range) -> Bounds:
        events = year.events[places.start : places.stop]
        low, high = joint_of_days(events, [each.of_days(year, places) for each in self.criteria])
        return Bounds(low if self.is_whole else [0] * len(places), high)


@dataclass(frozen=True, slots=True)
class InAny(_Several):
    """Events that match one of some criteria."""

    def of_year(self, summary: Summary, facets: Mapping[str, int] | None) -> Range:
        lows, highs = zip(*[each.of_year(summary, facets) for each in self.criteria], strict=True)
        return Range(max(lows), min(sum(highs), summary.events))

    def of_days(self, year: YearOfDays, places: range) -> Bounds:
        lows, highs = zip(*[each.of_days(year, places) for each in self.criteria], strict=True)
        some = [sum(most) for most in zip(*highs, strict=True)]
        return Bounds(
            [max(least) for least in zip(*lows, strict=True)],
            list(map(min, some, year.events[places.start : places.stop])),
        )


@dataclass(frozen=True, slots=True)
class InNone:
    """Events that do not match a criterion."""

    criterion: InAll

    @property
    def by_facets(self) -> bool:
        return self.criterion.by_facets

    def of_year(self, summary: Summary, facets: Mapping[str, int] | None) -> Range:
        low, high = self.criterion.of_year(summary, facets)
        return Range(summary.events - high, summary.events - low)

    def of_days(self, year: YearOfDays, places: range) -> Bounds:
        events, (low, high) = year.events[places.start : places.stop], self.criterion.of_days(year, places)
        return Bounds(list(map(sub, events, high)), list(map(sub, events, low)))

    def price(self, year: YearOfDays, places: range) -> int:
        return len(places) + self.criterion.price(year, places)


Criterion = ByMagnitude | ByFacet | ByArea | OnDays | ChangedSince | InTime | InAll | InAny | InNone


def joint(events: int, bounds: Sequence[Range]) -> Range:
    """The bounds of the number of events that match all criteria, from those of each."""
    if not bounds:
        return Range(events, events)
    low = sum([least for least, _ in bounds]) - (len(bounds) - 1) * events
    return Range(max(low, 0), min([greatest for _, greatest in bounds]))


def joint_of_days(events: Sequence[int], bounds: Sequence[Bounds]) -> Bounds:
    """The same for each day."""
    if len(bounds) < 2:
        return bounds[0] if bounds else Bounds(events, events)
    others = len(bounds) - 1
    lows = zip(events, *[each.low for each in bounds], strict=True)
    low = [max(sum(least) - others * of_day, 0) for of_day, *least in lows]
    return Bounds(low, list(map(min, *[each.high for each in bounds])))


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
