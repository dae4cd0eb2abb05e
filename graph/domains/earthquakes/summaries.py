"""The number of events of each day and each year, by magnitude. They plan queries and count totals.

A summary is an item of its own. The transaction that inserts events also adds them to it, so it is
never behind the events. For a query it is only a plan, since an index may lag behind it.

The entities `DAY_SUMMARY` and `YEAR_SUMMARY` have the same attributes: `events`, their number;
`bin<tenths>`, the number in that 0.1-magnitude bin; `edge<tenths>`, the number exactly on the bin's
lower edge; `past<tenths>` and `gone<tenths>`, the number of superseded versions and of versions in which
an event is deleted; `changedAt`, when it was last written, epoch milliseconds; `revision`, the number of
writes. Every change of a day changes its year too, so a year's item is the version of its days: cached days
are valid while their year is unchanged, in any process.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from cachetools import FIFOCache

from graph.domains.earthquakes.entities import DAY_SUMMARY, YEAR_SUMMARY
from graph.domains.earthquakes.magnitudes import Bin, MagnitudeRange, bin_of
from graph.domains.earthquakes.model import day_of, is_deleted, is_listed
from graph.store.contract import Database, Update
from graph.store.entity import Item, Key
from graph.store.query import Query
from graph.store.time_walk import Promise
from graph.work.account import give_way

RANGES_REMEMBERED = 8  # ranges of magnitudes for each year; each takes memory for every day
CACHED_YEARS = 150  # a year of 366 busy days takes about 0.5 MB


def year_key(year: str) -> Key:
    """The primary key of a year's summary."""
    return YEAR_SUMMARY.key_for(year)


def day_key(bucket: str) -> Key:
    """The primary key of a day's summary."""
    return DAY_SUMMARY.key_for(bucket[:4], bucket)


def year_of(key: Key) -> Key:
    """The primary key of the year that a day's summary belongs to; a year belongs to itself."""
    return year_key(key.values[0])


Counted = Literal["bin", "past", "gone"]
"""The counts by magnitude: events, superseded versions, and versions in which an event is deleted."""

Alike = tuple[Counted, str, Bin]
"""What is counted, the day, and the bin of the magnitude."""


class SummaryChanges:
    """The changes of summaries by one transaction."""

    def __init__(self) -> None:
        # There are many more events than bins of days, so events of one bin are counted first.
        self._alike: Counter[Alike] = Counter()

    def add(self, item: Item) -> None:
        """Count a new event."""
        self._alike["bin", item["dayBucket"], bin_of(item["mag"])] += 1

    def replace(self, before: Item, after: Item) -> None:
        """Count the next version of an event, and the superseded one."""
        if is_listed(before):
            self._alike["bin", before["dayBucket"], bin_of(before["mag"])] -= 1
            self._alike["past", before["dayBucket"], bin_of(before["mag"])] += 1
        if is_listed(after):
            self.add(after)
        elif is_deleted(after):
            self._alike["gone", day_of(after["dayBucket"]), bin_of(after["mag"])] += 1

    def updates(self, now: int) -> list[Update]:
        """One update for each summary. `now` is in epoch milliseconds."""
        return [
            Update(key, set={"changedAt": now}, add={"events": 0, **_not_zero(counts), "revision": 1})
            for key, counts in tally(self._alike).items()
        ]


def _not_zero(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: number for name, number in counts.items() if number}


def tally(alike: Mapping[Alike, int]) -> dict[Key, Counter[str]]:
    """Key of a summary → its counts, from the number of those that are alike."""
    counts: dict[Key, Counter[str]] = {}
    for (name, day, (tenths, on_edge)), number in alike.items():
        for key in (day_key(day), year_key(day[:4])):
            counted = counts.setdefault(key, Counter())
            counted[f"{name}{tenths}"] += number
            if name == "bin":
                counted["events"] += number
                if on_edge:
                    counted[f"edge{tenths}"] += number
    return counts


@dataclass(frozen=True, slots=True)
class Bins:
    """Counts by magnitude."""

    tenths: "array[int]"  # lower edges, ascending
    totals: "array[int]"  # the counts of the bins before each, and at last of all

    @classmethod
    def of(cls, item: Item, counted: Counted) -> "Bins":
        """The counts of a summary."""
        at = len(counted)
        counts = sorted((int(name[at:]), int(count)) for name, count in item.items() if name.startswith(counted))
        # A foreign event that no summary counted may have been revised.
        totals = accumulate(max(count, 0) for _, count in counts)
        return cls(array("h", [tenths for tenths, _ in counts]), array("Q", [0, *totals]))

    def total(self, bins: range) -> int:
        """The sum of these bins."""
        begin, end = bisect_left(self.tenths, bins.start), bisect_left(self.tenths, bins.stop)
        return self.totals[max(begin, end)] - self.totals[begin]


class Summary:
    """The number of events of a day or a year, by magnitude."""

    __slots__ = ("_bins", "item")

    def __init__(self, item: Item) -> None:
        self.item = item
        self._bins: dict[Counted, Bins] = {}  # made when first needed

    @property
    def events(self) -> int:
        """The number of events of any magnitude."""
        return int(self.item["events"])

    def may_match(self, magnitudes: MagnitudeRange, counted: Counted = "bin") -> int:
        """An upper bound of the number of events in the range, or of what else is counted."""
        if counted == "bin" and magnitudes.everything:
            return self.events
        if (bins := self._bins.get(counted)) is None:
            bins = self._bins[counted] = Bins.of(self.item, counted)
        return bins.total(magnitudes.bins)

    def changed_since(self, time_ms: int | None) -> bool:
        """Whether it may have changed at this time or later. Version 0.1 did not store when."""
        return time_ms is None or bool(self.item.get("changedAt", time_ms) >= time_ms)

    def bins(self, magnitudes: MagnitudeRange) -> dict[int, int]:
        """Lower edge in tenths → how many of the bin's events lie in a range whose ends are on tenths."""
        counts = {tenths: int(self.item.get(f"bin{tenths}", 0)) for tenths in magnitudes.bins}
        if magnitudes.maximum is not None and counts:
            greatest = max(counts)
            counts[greatest] = int(self.item.get(f"edge{greatest}", 0))
        return counts

    def matching(self, magnitudes: MagnitudeRange) -> int:
        """The number of events in a range whose ends are on tenths."""
        matching_bins = self.may_match(magnitudes)
        if magnitudes.maximum is None or not (bins := magnitudes.bins):
            return matching_bins
        return matching_bins - int(self.item.get(f"bin{bins[-1]}", 0)) + int(self.item.get(f"edge{bins[-1]}", 0))


def promised_on(day: str, events: int) -> Promise:
    """A day with so many events in a range of magnitudes. An index by magnitude reads only these."""
    return (day,), events, events


@dataclass(frozen=True, slots=True)
class DayCounts:
    """The numbers of events of some days, in order of time."""

    days: list[str]  # day buckets
    counts: list[int]
    totals: list[int]  # the sum of the counts before each day, and last the sum of all

    @classmethod
    def of(cls, days: Mapping[str, Summary], count: Callable[[Summary], int]) -> "DayCounts":
        """The days that have events."""
        some = [(day, number) for day, summary in days.items() if (number := count(summary)) > 0]
        numbers = [number for _, number in some]
        return cls([day for day, _ in some], numbers, [0, *accumulate(numbers)])

    def promises(self, days: slice, *, forward: bool, prefix: str = "") -> Iterator[Promise]:
        """These days, in order of time or in reverse. An index by magnitude reads only the counted events.

        Args:
            prefix: of the days' names in partitions.
        """
        names, counts = self.days[days], self.counts[days]
        if prefix:
            names = [f"{prefix}{name}" for name in names]
        if not forward:
            names.reverse()
            counts.reverse()
        return zip(zip(names, strict=True), counts, counts, strict=True)

    def between(self, first: str, last: str) -> slice:
        """The places of the days from `first` to `last`, both included."""
        return slice(bisect_left(self.days, first), bisect_right(self.days, last))

    def total(self, days: slice) -> int:
        """The events of these days."""
        begin, end = days.start, max(days.start, days.stop)
        return int(self.totals[end] - self.totals[begin])


class YearOfDays:
    """The days of one year that have or had events, as of one version of the year's summary."""

    def __init__(self, version: Item, items: Iterable[Item]) -> None:
        self.version = version
        self.days: dict[str, Summary] = {item["day"]: Summary(item) for item in items}
        self._may_match: FIFOCache[tuple[Counted, range], DayCounts] = FIFOCache(RANGES_REMEMBERED)  # by bins
        self._matching: FIFOCache[MagnitudeRange, DayCounts] = FIFOCache(RANGES_REMEMBERED)

    def may_match(self, magnitudes: MagnitudeRange, counted: Counted = "bin") -> DayCounts:
        """Upper bounds for the days that may have matches."""
        key = counted, magnitudes.bins
        try:
            return self._may_match[key]
        except KeyError:
            counts = DayCounts.of(self.days, lambda summary: summary.may_match(magnitudes, counted))
            self._may_match[key] = counts
            return counts

    def changed_since(self, time_ms: int, days: DayCounts) -> DayCounts:
        """Those of the days that may have changed at this time or later."""
        some = dict(zip(days.days, days.counts, strict=True))
        return DayCounts.of(
            {day: self.days[day] for day in some if self.days[day].changed_since(time_ms)},
            lambda summary: some[summary.item["day"]],
        )

    def matching(self, magnitudes: MagnitudeRange) -> DayCounts:
        """The number of events of each day in a range whose ends are on tenths."""
        try:
            return self._matching[magnitudes]
        except KeyError:
            counts = DayCounts.of(self.days, lambda summary: summary.matching(magnitudes))
            self._matching[magnitudes] = counts
            return counts


class Summaries:
    """Reads the stored summaries."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._years: FIFOCache[str, YearOfDays] = FIFOCache(CACHED_YEARS)
        self._summaries: dict[str, Summary] = {}  # of the years, as of the database's revision
        self._revision: object | None = None

    async def years(self) -> dict[str, Summary]:
        """Year, `YYYY` → its summary, in order of time."""
        revision = await self._database.revision()
        if revision is None or revision != self._revision:
            page = await self._database.query(Query(entity=YEAR_SUMMARY))
            self._summaries = {item["year"]: Summary(item) for item in page.items}
            self._revision = revision
        return self._summaries

    async def days(self, year: str, summary: Summary) -> YearOfDays:
        """The days of a year, as of this summary of it."""
        version = summary.item
        cached = self._years.get(year)
        if cached is None or (cached.version is not version and cached.version != version):
            await give_way()
            page = await self._database.query(Query(entity=DAY_SUMMARY, partitions=((year,),)))
            cached = YearOfDays(version, page.items)
            if sum(day.item["events"] for day in cached.days.values()) != version["events"]:
                return cached  # an ingest wrote between the two reads: use these days once, but do not cache them
            self._years[year] = cached
        return cached
