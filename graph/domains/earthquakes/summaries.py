"""How many events each day and each year has, by magnitude: what plans a query and counts a total.

A summary is an item of its own, added to in the very transaction that inserts the events, so
it is never behind them. It is a plan, never the truth: an index may lag behind it.

The entities `DAY_SUMMARY` and `YEAR_SUMMARY` have the same attributes: `events`, their number;
`bin<tenths>`, the number in that 0.1-magnitude bin; `edge<tenths>`, the number exactly on the bin's
lower edge; `revision`, the number of writes. As every change of a day changes its year too, a
year's item is the version of its days: days once read stay good for as long as their year is
unchanged, in whatever process.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

from graph.domains.earthquakes.entities import DAY_SUMMARY, YEAR_SUMMARY
from graph.domains.earthquakes.magnitudes import Bin, MagnitudeRange, bin_of
from graph.domains.earthquakes.model import Event
from graph.store.contract import Database, Update
from graph.store.entity import Item, Key
from graph.store.query import Query
from graph.store.time_walk import Promise

T = TypeVar("T")

RANGES_REMEMBERED = 8  # of magnitudes, by each summary, as each takes memory for every day of every year
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


def additions(events: Iterable[Event]) -> list[Update]:
    """The updates that count newly inserted events, one an item."""
    # As there are many more events than bins of days, what is alike is counted first.
    counts = tally(Counter((event.item["dayBucket"], bin_of(event.item["mag"])) for event in events))
    return [Update(key, add={**counted, "revision": 1}) for key, counted in counts.items()]


def tally(alike: Mapping[tuple[str, Bin], int]) -> dict[Key, Counter[str]]:
    """Key of a summary → what it counts, from how many events there are in each bin of each day."""
    counts: dict[Key, Counter[str]] = {}
    for (bucket, (tenths, on_edge)), number in alike.items():
        for key in (day_key(bucket), year_key(bucket[:4])):
            counted = counts.setdefault(key, Counter())
            counted["events"] += number
            counted[f"bin{tenths}"] += number
            if on_edge:
                counted[f"edge{tenths}"] += number
    return counts


class Summary:
    """How many events a day or a year has, by magnitude."""

    __slots__ = ("_tenths", "_totals", "item")

    def __init__(self, item: Item) -> None:
        self.item = item
        self._tenths: array[int] | None = None  # lower edges of its bins, ascending; made when first needed
        self._totals = array("Q", [0])  # events of the bins before each, and at last of all

    @property
    def events(self) -> int:
        """How many there are of any magnitude."""
        return int(self.item["events"])

    def may_match(self, magnitudes: MagnitudeRange) -> int:
        """How many of the events may lie in the range, never fewer than do."""
        if magnitudes.everything:
            return self.events
        if self._tenths is None:
            counts = sorted((int(name[3:]), int(count)) for name, count in self.item.items() if name.startswith("bin"))
            self._tenths = array("h", [tenths for tenths, _ in counts])
            self._totals = array("Q", [0, *accumulate(count for _, count in counts)])
        bins = magnitudes.bins
        begin, end = bisect_left(self._tenths, bins.start), bisect_left(self._tenths, bins.stop)
        return self._totals[max(begin, end)] - self._totals[begin]

    def bins(self, magnitudes: MagnitudeRange) -> dict[int, int]:
        """Lower edge in tenths → how many of the bin's events lie in a range whose ends are on tenths."""
        counts = {tenths: int(self.item.get(f"bin{tenths}", 0)) for tenths in magnitudes.bins}
        if magnitudes.maximum is not None and counts:
            greatest = max(counts)
            counts[greatest] = int(self.item.get(f"edge{greatest}", 0))
        return counts

    def matching(self, magnitudes: MagnitudeRange) -> int:
        """How many of the events lie in a range whose ends are on tenths."""
        within = self.may_match(magnitudes)
        if magnitudes.maximum is None or not (bins := magnitudes.bins):
            return within
        return within - int(self.item.get(f"bin{bins[-1]}", 0)) + int(self.item.get(f"edge{bins[-1]}", 0))


def promised_on(day: str, events: int) -> Promise:
    """A day with so many events in a range of magnitudes, which are all that an index by magnitude leads to."""
    return Promise((day,), events, events)


@dataclass(frozen=True, slots=True)
class DayCounts:
    """A number of events for each of some days, in order of time."""

    days: list[str]  # day buckets
    counts: list[int]
    totals: list[int]  # of the counts before each day, and at last of all

    @classmethod
    def of(cls, days: Mapping[str, Summary], count: Callable[[Summary], int]) -> "DayCounts":
        """Those of the days that have any."""
        some = [(day, number) for day, summary in days.items() if (number := count(summary))]
        numbers = [number for _, number in some]
        return cls([day for day, _ in some], numbers, [0, *accumulate(numbers)])

    def between(self, first: str, last: str) -> slice:
        """Where the days from `first` to `last` stand, both included."""
        return slice(bisect_left(self.days, first), bisect_right(self.days, last))

    def total(self, days: slice) -> int:
        """The events of these days."""
        begin, end = days.start, max(days.start, days.stop)
        return int(self.totals[end] - self.totals[begin])


class YearOfDays:
    """The days of one year that have events, as of one version of the year's summary."""

    def __init__(self, version: Item, items: Iterable[Item]) -> None:
        self.version = version
        self.days: dict[str, Summary] = {item["day"]: Summary(item) for item in items if item["events"]}
        self._may_match: dict[MagnitudeRange, DayCounts] = {}
        self._matching: dict[MagnitudeRange, DayCounts] = {}

    def may_match(self, magnitudes: MagnitudeRange) -> DayCounts:
        """How many events of each day may match, where some may."""
        if (known := self._may_match.get(magnitudes)) is None:
            known = DayCounts.of(self.days, lambda summary: summary.may_match(magnitudes))
            remember(self._may_match, magnitudes, known)
        return known

    def matching(self, magnitudes: MagnitudeRange) -> DayCounts:
        """How many events of each day match a range whose ends are on tenths."""
        if (known := self._matching.get(magnitudes)) is None:
            known = DayCounts.of(self.days, lambda summary: summary.matching(magnitudes))
            remember(self._matching, magnitudes, known)
        return known


def remember(answers: dict[MagnitudeRange, T], magnitudes: MagnitudeRange, answer: T) -> None:
    """Keep an answer, of the few ranges that clients ask for at a time."""
    if len(answers) >= RANGES_REMEMBERED:
        answers.clear()
    answers[magnitudes] = answer


class Summaries:
    """Reads the stored summaries."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._years: OrderedDict[str, YearOfDays] = OrderedDict()
        self._summaries: dict[str, Summary] = {}  # of the years, as of the database's revision
        self._revision: object | None = None

    async def years(self) -> dict[str, Summary]:
        """Year, `YYYY` → its summary, in order of time."""
        revision = await self._database.revision()
        if revision is None or revision != self._revision:
            page = await self._database.query(Query(entity=YEAR_SUMMARY))
            self._summaries = {item["year"]: Summary(item) for item in page.items if item["events"]}
            self._revision = revision
        return self._summaries

    async def days(self, year: str, summary: Summary) -> YearOfDays:
        """The days of a year, as of this summary of it."""
        version = summary.item
        cached = self._years.get(year)
        if cached is None or (cached.version is not version and cached.version != version):
            page = await self._database.query(Query(entity=DAY_SUMMARY, partitions=((year,),)))
            cached = YearOfDays(version, page.items)
            if sum(day.item["events"] for day in cached.days.values()) != version["events"]:
                return cached  # Read while an ingest was between the two: right for now, and not to be remembered.
            self._years[year] = cached
        self._years.move_to_end(year)
        if len(self._years) > CACHED_YEARS:
            self._years.popitem(last=False)
        return cached
