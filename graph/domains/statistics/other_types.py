"""Counts for statistics: events that are no earthquakes, which the summaries count by magnitude too, and facets.

The summaries name the days that have any, if they count types: an event's type is `earthquake`, or absent,
or another one. The events of other types are a few in a hundred, and stay the same while the year's summary
does, so those of a whole year are kept. Cells and texts are counted by facets, where events are too many to be read.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

from cachetools import FIFOCache

from graph.core.spans import TimeSpan, YearPart
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.facets import COARSE_CELL, TextFacet
from graph.domains.earthquakes.magnitudes import Bin, MagnitudeRange, bin_of
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.summaries import CACHED_YEARS, Summaries, Summary
from graph.domains.earthquakes.summaries.facets_of_days import Facets
from graph.domains.statistics.events import EARTHQUAKE, is_earthquake
from graph.geography.cells import cell_of, coarse_of
from graph.store.conditions import AnyOf, Compare, all_of
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Query
from graph.store.time_walk import Promise, items_of
from graph.work.account import charge_rows, give_way

USUALLY_ONE_IN = 20
"""Of USGS's events, one in forty is no earthquake. Where there are more, a reading takes more pages."""

OTHER_TYPE = AnyOf((Compare("type", "<", EARTHQUAKE), Compare("type", ">", EARTHQUAKE)))

DayCounts = Counter[tuple[str, Bin]]
"""Day bucket and bin → a number of events."""

K = TypeVar("K")


class CountedBy(NamedTuple, Generic[K]):
    """What events are counted by."""

    attributes: frozenset[str]
    key: Callable[[Item], K]


class ByFacet(NamedTuple, Generic[K]):
    """What events are counted by that facets count, too."""

    read: CountedBy[K]
    prefix: str  # of the names that a year counts
    of_name: Callable[[str], K]  # the rest of such a name → what is counted
    of_days: Callable[[Facets, range], Iterable[tuple[K, int]]]


def by_text(facet: TextFacet) -> ByFacet[str]:
    """Counts a text by what follows its attribute in its names: empty for none, with `~` for unusual ones."""
    prefix = f"{facet.attribute}:"
    return ByFacet(
        CountedBy(
            frozenset({facet.attribute}), lambda item: facet.name(item.get(facet.attribute)).removeprefix(prefix)
        ),
        prefix,
        str,
        lambda facets, places: facets.texts(prefix, places),
    )


DAY_AND_BIN = CountedBy(frozenset({"mag"}), lambda item: (item["dayBucket"], bin_of(item["mag"])))
BY_COARSE_CELL = ByFacet(
    CountedBy(frozenset({"lat", "lon"}), lambda item: coarse_of(cell_of(item["lat"], item["lon"]))),
    COARSE_CELL,
    int,
    lambda facets, places: ((coarse_of(cell), count) for cell, count in facets.cells(places)),
)


class OtherTypes:
    """Counts the events that are no earthquakes."""

    def __init__(self, database: Database, summaries: Summaries) -> None:
        self._database = database
        self._summaries = summaries
        self._years: FIFOCache[tuple[str, CountedBy[Any]], tuple[Item, Counter[Any]]] = FIFOCache(2 * CACHED_YEARS)

    async def counts(self, selection: Selection) -> DayCounts:
        """The events of other types, in the time range and the magnitudes of a selection.

        Args:
            selection: by time and by magnitudes on tenths.
        """
        counts: DayCounts = Counter()
        for part in TimeSpan.of(*selection.span).years(await self._summaries.years()):
            if not most_others(part.value) or not part.value.may_match(selection.magnitudes):
                continue
            if part.is_whole and (selection.magnitudes.everything or self._known(part, DAY_AND_BIN) is not None):
                of_year = await self._year(part, DAY_AND_BIN)
                counts.update({at: count for at, count in of_year.items() if _lies_in(at[1], selection.magnitudes)})
            else:
                counts.update(await self._read(part, selection, DAY_AND_BIN))
            await give_way()
        return counts

    async def counted_by(self, selection: Selection, by: CountedBy[K]) -> Counter[K]:
        """The events of other types by something else.

        Args:
            selection: by time alone.
        """
        counts: Counter[K] = Counter()
        for part in TimeSpan.of(*selection.span).years(await self._summaries.years()):
            if most_others(part.value):
                counts.update(await (self._year(part, by) if part.is_whole else self._read(part, selection, by)))
                await give_way()
        return counts

    def _known(self, part: YearPart[Summary], by: CountedBy[K]) -> Counter[K] | None:
        """What is kept of a year, if the year is unchanged."""
        version, counts = self._years.get((part.year, by), (None, None))
        return counts if version == part.value.item else None

    async def _year(self, part: YearPart[Summary], by: CountedBy[K]) -> Counter[K]:
        """The counts of a whole year and all magnitudes."""
        if (known := self._known(part, by)) is not None:
            return known
        counts = await self._read(part, Selection(), by)
        # An index may lag behind the summary: counts are kept only if they are what the summary says.
        if counts.total() == most_others(part.value):
            self._years[part.year, by] = part.value.item, counts
        return counts

    async def _read(self, part: YearPart[Summary], selection: Selection, by: CountedBy[K]) -> Counter[K]:
        """The counts of a part of a year, from the events."""
        promises: list[Promise] = []
        year = await self._summaries.days(part.year, part.value)
        for place in year.between(part.first, part.last):
            summary = year.summaries[place]
            if others := most_others(summary):
                matching = summary.may_match(selection.magnitudes)
                promises.append(((year.days[place],), min(others, matching // USUALLY_ONE_IN + 1), matching))
        query = Query(
            entity=EVENT,
            index=TIME_ORDERED,
            between=selection.span,
            where=all_of(selection.condition, OTHER_TYPE),
            attributes=by.attributes | {"type"},
        )
        counts: Counter[K] = Counter()
        async for items in items_of(self._database, query, promises):
            counts.update(by.key(item) for item in items if not is_earthquake(item["type"]))
        return counts


def most_others(summary: Summary) -> int:
    """The events of a day or a year of another type than `earthquake`; all events, if it does not count types."""
    return summary.events - int(summary.item.get(f"type:{EARTHQUAKE}", 0)) - int(summary.item.get("type:", 0))


def _lies_in(of: Bin, magnitudes: MagnitudeRange) -> bool:
    """Whether the events of a bin lie in a range whose ends are on tenths."""
    tenths, on_edge = of
    if tenths not in magnitudes.bins:
        return False
    return magnitudes.maximum is None or tenths < magnitudes.bins[-1] or on_edge


async def facet_counts(summaries: Summaries, span: TimeSpan, by: ByFacet[K]) -> Counter[K] | None:
    """The number of events of all types, on the days that the span covers as a whole.

    None if the facets do not count all of them.
    """
    counts: Counter[K] = Counter()
    whole: dict[str, Summary] = {}
    for part in span.years(await summaries.years()):
        if part.is_whole:
            whole[part.year] = part.value
        elif not await _add_days(counts, summaries, part, by):
            return None
    facets = await summaries.facets_of(whole)
    if len(facets) < len(whole):
        return None
    for item in facets.values():
        await charge_rows(tested=len(item))
        await give_way()
        for name, count in item.items():
            if name.startswith(by.prefix):
                counts[by.of_name(name[len(by.prefix) :])] += count
    return counts


async def _add_days(counts: Counter[K], summaries: Summaries, part: YearPart[Summary], by: ByFacet[K]) -> bool:
    """Add the days of a part of a year. Returns whether the facets count all of their events."""
    year = await summaries.days(part.year, part.value)
    days = year.between(part.first, part.last)
    places = range(
        days.start + (bool(days) and year.days[days.start] in part.cut),
        days.stop - (len(days) > 1 and year.days[days.stop - 1] in part.cut),
    )
    await summaries.read_facets(year, places)
    for facets in year.facets(places):
        if any(place in places for place in facets.uncounted):
            return False
        await charge_rows(tested=facets.size)
        for key, count in by.of_days(facets, places):
            counts[key] += count
        await give_way()
    return True
