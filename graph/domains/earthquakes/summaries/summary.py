"""The number of events of each day and each year, by magnitude and by facet. They plan queries and count totals.

A summary is an item of its own. The transaction that inserts events also adds them to it, so it is
never behind the events. For a query it is only a plan, since an index may lag behind it.

**A summary counts exactly the events that have a number (`arrival`).** What another program writes has none. Each
transaction that gives an event its number counts it, and what takes the place of an event without a number subtracts
nothing. So no event is counted twice, whoever finds it first, and no count falls below zero.

`DAY_SUMMARY` and `YEAR_SUMMARY` have the same attributes: `events`, their number; `bin<tenths>`, the number
in that 0.1-magnitude bin; `edge<tenths>`, the number exactly on the bin's lower edge; `past<tenths>` and
`gone<tenths>`, the number of superseded versions and of versions in which an event is deleted;
`type:<type>`, the number of that type; `changedAt`, when it was last written, epoch milliseconds; `revision`,
the number of writes. Every change of a day changes its year too, so a year's item is the version of its days:
cached days are valid while their year is unchanged, in any process.

`DAY_FACETS` and `YEAR_FACETS` count the same events by `facets.facet_names`. Only filters that need them read
them. They have the `revision` of the summary whose events they count; an older or no revision means that they
do not count all of them.
"""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Literal

from graph.domains.earthquakes.entities import DAY_FACETS, DAY_SUMMARY, YEAR_FACETS, YEAR_SUMMARY
from graph.domains.earthquakes.facets import TYPE, count_facets, facet_names, name_of_year
from graph.domains.earthquakes.magnitudes import Bin, MagnitudeRange, bin_of
from graph.domains.earthquakes.model import day_of, is_deleted, is_foreign, is_listed
from graph.store.conditions import Compare, Condition, all_of
from graph.store.contract import Update
from graph.store.entity import Item, Key

ITEMS_OF_A_PERIOD = 2  # a summary and its facets
COUNTED_AT_ONCE = 1000  # events
TYPE_NAME = TYPE.name(None)  # the beginning of the names of all types
SUMMARIES = (DAY_SUMMARY, YEAR_SUMMARY)


def year_key(year: str) -> Key:
    """The primary key of a year's summary."""
    return YEAR_SUMMARY.key_for(year)


def day_key(bucket: str) -> Key:
    """The primary key of a day's summary."""
    return DAY_SUMMARY.key_for(bucket[:4], bucket)


def facets_key(summary: Key) -> Key:
    """The primary key of the facets that belong to a summary."""
    entity = DAY_FACETS if summary.entity is DAY_SUMMARY else YEAR_FACETS
    return entity.key_for(*summary.values)


def year_of(summary: Key) -> Key:
    """The primary key of the year that a day's summary belongs to; a year belongs to itself."""
    return year_key(summary.values[0])


Counted = Literal["bin", "past", "gone"]
"""The counts by magnitude: events, superseded versions, and versions in which an event is deleted."""


@dataclass(frozen=True, slots=True)
class DayTally:
    """What was counted on one day."""

    bins: Counter[tuple[Counted, Bin]]
    facets: Counter[str]
    before: Counter[str]  # the counts of bins and edges from which events are subtracted, as they were

    @property
    def counts_them(self) -> Condition | None:
        """The condition on the day's summary that it counts these: another program may have changed them."""
        return all_of(*(Compare(name, ">=", number) for name, number in self.before.items()))

    def subtract(self, event: Item) -> None:
        """Count an event no more. Nothing counts one of another program."""
        if is_foreign(event):
            return
        tenths, on_edge = bin_of(event["mag"])
        self.bins["bin", (tenths, on_edge)] -= 1
        self.before.update([f"bin{tenths}", *([f"edge{tenths}"] if on_edge else [])])
        self.facets.subtract(facet_names(event))

    def events(self) -> Counter[str]:
        """The counts of the day's summary, without its types."""
        counts = Counter[str]()
        for (counted, (tenths, on_edge)), number in self.bins.items():
            counts[f"{counted}{tenths}"] += number
            if counted == "bin":
                counts["events"] += number
                if on_edge:
                    counts[f"edge{tenths}"] += number
        return counts


class Tally:
    """Counts events for their summaries."""

    def __init__(self) -> None:
        self._days: dict[str, DayTally] = {}
        self._added: list[Item] = []  # events that are not counted yet: many at a time take less than half the time

    def add(self, item: Item) -> None:
        """Count an event, or a version in which it is deleted. A merged event counts as nothing."""
        if is_listed(item):
            self._added.append(item)
            if len(self._added) == COUNTED_AT_ONCE:
                self.count_added()
        elif is_deleted(item):
            self._day(day_of(item["dayBucket"])).bins["gone", bin_of(item["mag"])] += 1

    def add_superseded(self, item: Item) -> None:
        """Count a superseded version."""
        if is_listed(item):
            self._day(item["dayBucket"]).bins["past", bin_of(item["mag"])] += 1
        elif is_deleted(item):
            self._day(day_of(item["dayBucket"])).bins["gone", bin_of(item["mag"])] += 1

    def replace(self, before: Item, after: Item) -> None:
        """Count the next version of an event instead of the one before, which is superseded."""
        if is_listed(before):
            day = self._day(before["dayBucket"])
            day.subtract(before)
            day.bins["past", bin_of(before["mag"])] += 1
        self.add(after)

    def update(self, before: Item, after: Item) -> None:
        """Count a version that was updated in place, as it is now. The day has changed in any case."""
        day = self._day(day_of(after["dayBucket"]))
        if is_listed(after) and not is_foreign(before):
            day.subtract(before)
            day.bins["bin", bin_of(after["mag"])] += 1
            day.facets.update(facet_names(after))

    def _day(self, day: str) -> DayTally:
        tally = self._days.get(day)
        if tally is None:
            tally = self._days[day] = DayTally(Counter(), Counter(), Counter())
        return tally

    def count_added(self) -> None:
        """Count the events that were added: those of one day, which mostly follow each other, at once."""
        for name, some in groupby(self._added, key=itemgetter("dayBucket")):
            events, day = list(some), self._day(name)
            for bin_, number in Counter(map(bin_of, [item["mag"] for item in events])).items():
                day.bins["bin", bin_] += number
            count_facets(events, day.facets)
        self._added.clear()

    def counts(self) -> dict[Key, Counter[str]]:
        """Key of a summary or of facets → its counts."""
        self.count_added()
        counts: dict[Key, Counter[str]] = {}
        for bucket, tally in self._days.items():
            day, year = day_key(bucket), year_key(bucket[:4])
            of_day = tally.events()
            of_day.update({name: number for name, number in tally.facets.items() if name.startswith(TYPE_NAME)})
            counts.setdefault(year, Counter()).update(of_day)
            facets_of_year = counts.setdefault(facets_key(year), Counter())
            for facet, number in tally.facets.items():
                facets_of_year[name_of_year(facet)] += number
            counts |= {day: of_day, facets_key(day): tally.facets}
        return counts

    def updates(self, now: int) -> Iterator[Update]:
        """The updates of the summaries and of their facets. `now` is in epoch milliseconds."""
        for key, counts in self.counts().items():
            added = {name: number for name, number in counts.items() if number}
            if key.entity in SUMMARIES:
                condition = self._days[key.values[1]].counts_them if key.entity is DAY_SUMMARY else None
                added = {"events": 0, **added, "revision": 1}
                yield Update(key, set={"changedAt": now}, add=added, condition=condition)
            else:
                yield Update(key, add={**added, "revision": 1})


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
        totals = accumulate(max(count, 0) for _, count in counts)  # an earlier version may have left one below zero
        return cls(array("h", [tenths for tenths, _ in counts]), array("Q", [0, *totals]))

    def below(self, tenths: int) -> int:
        """The sum of the bins below this one."""
        return self.totals[bisect_left(self.tenths, tenths)]

    def total(self, bins: range) -> int:
        """The sum of these bins."""
        return max(self.below(bins.stop) - self.below(bins.start), 0)


class Summary:
    """The number of events of a day or a year."""

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
        bins = self.counts(counted)
        most = bins.total(magnitudes.bins)
        if counted == "bin":
            if (first := magnitudes.bin_without_edge) is not None:
                most -= self.on_edge(first)
            if (last := magnitudes.bin_of_edge) is not None:
                most -= bins.total(range(last, last + 1)) - self.on_edge(last)
        return most

    def matching(self, magnitudes: MagnitudeRange) -> int:
        """A lower bound of the number of events in the range. It is exact if the range's ends are on tenths."""
        if magnitudes.everything:
            return self.events
        inner = magnitudes.inner_bins
        matching = self.counts("bin").total(inner)
        if magnitudes.maximum is not None and inner.stop >= inner.start:
            matching += self.on_edge(inner.stop)
        return matching

    def changed_since(self, time_ms: int | None) -> bool:
        """Whether it may have changed at this time or later."""
        return time_ms is None or bool(self.item["changedAt"] >= time_ms)

    def bins(self, magnitudes: MagnitudeRange) -> dict[int, int]:
        """Lower edge in tenths → how many of the bin's events lie in a range whose ends are on tenths."""
        counts = {tenths: max(int(self.item.get(f"bin{tenths}", 0)), 0) for tenths in magnitudes.bins}
        if magnitudes.maximum is not None and counts:
            greatest = max(counts)
            counts[greatest] = self.on_edge(greatest)
        return counts

    def by_magnitude(self, counted: Counted) -> dict[str, int]:
        """The counts by magnitude, by their names; of events also those on edges."""
        names = (counted, "edge") if counted == "bin" else counted
        return {name: max(int(count), 0) for name, count in self.item.items() if name.startswith(names)}

    def on_edge(self, tenths: int) -> int:
        """The number of events exactly on the lower edge of a bin."""
        return max(int(self.item.get(f"edge{tenths}", 0)), 0)

    def counts(self, counted: Counted) -> Bins:
        """The counts by magnitude."""
        if (bins := self._bins.get(counted)) is None:
            bins = self._bins[counted] = Bins.of(self.item, counted)
        return bins
