"""How many events each day and each year has, by magnitude: what plans a query and counts a total.

A summary is an item of its own, added to in the very transaction that inserts the events, so
it is never behind them. It is a plan, never the truth: an index may lag behind it.

| partition | sort key | counts the events of |
|---|---|---|
| `SUMMARY#<YYYY>` | `DAY#<YYYYMMDD>` | a day |
| `SUMMARY#YEARS` | `YEAR#<YYYY>` | a year |

Attributes: `events`, their number; `bin<tenths>`, the number in that 0.1-magnitude bin;
`edge<tenths>`, the number exactly on the bin's lower edge; `revision`, the number of writes.
As every change of a day changes its year too, a year's item is the version of its days:
days once read stay good for as long as their year is unchanged, in whatever process.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from graph.earthquakes.magnitudes import MagnitudeRange, bin_of
from graph.earthquakes.model import Event
from graph.store.contract import Item, Key, Table, Update

YEARS = "SUMMARY#YEARS"
CACHED_YEARS = 150  # a year of 366 busy days takes about 0.5 MB


def year_key(year: str) -> Key:
    """The primary key of a year's summary."""
    return YEARS, f"YEAR#{year}"


def day_key(bucket: str) -> Key:
    """The primary key of a day's summary."""
    return f"SUMMARY#{bucket[:4]}", f"DAY#{bucket}"


def year_of(key: Key) -> Key:
    """The primary key of the year that a day's summary belongs to; a year belongs to itself."""
    return key if key[0] == YEARS else year_key(str(key[0]).removeprefix("SUMMARY#"))


def additions(events: Iterable[Event]) -> list[Update]:
    """The updates that count newly inserted events, one an item."""
    counts: dict[Key, Counter[str]] = {}
    for event in events:
        tally_event(counts, event.day_bucket, event.mag)
    return [Update(key, set={"entity": "SUMMARY"}, add={**counted, "revision": 1}) for key, counted in counts.items()]


def tally_event(counts: dict[Key, Counter[str]], bucket: str, mag: float) -> None:
    """Count one event for its day and its year."""
    tenths, on_edge = bin_of(mag)
    for key in (day_key(bucket), year_key(bucket[:4])):
        counted = counts.setdefault(key, Counter())
        counted["events"] += 1
        counted[f"bin{tenths}"] += 1
        if on_edge:
            counted[f"edge{tenths}"] += 1


def may_match(summary: Item, magnitudes: MagnitudeRange) -> int:
    """How many of the summary's events may lie in the range, never fewer than do."""
    if magnitudes.everything:
        return int(summary["events"])
    return sum(summary.get(f"bin{tenths}", 0) for tenths in magnitudes.bins)


def matching(summary: Item, magnitudes: MagnitudeRange) -> int:
    """How many of the summary's events lie in a range whose ends are on tenths."""
    within = may_match(summary, magnitudes)
    if magnitudes.maximum is None or not (bins := magnitudes.bins):
        return within
    return within - int(summary.get(f"bin{bins[-1]}", 0)) + int(summary.get(f"edge{bins[-1]}", 0))


@dataclass
class YearOfDays:
    """The days of one year that have events, as of one version of the year's summary."""

    version: Item
    days: dict[str, Item]  # day bucket → summary, in order of time
    _promises: dict[MagnitudeRange, dict[str, int]] = field(default_factory=dict)

    def may_match(self, magnitudes: MagnitudeRange) -> dict[str, int]:
        """Day bucket → how many events may match, for the days where some may, in order of time."""
        if (known := self._promises.get(magnitudes)) is None:
            bins = [f"bin{tenths}" for tenths in magnitudes.bins if f"bin{tenths}" in self.version]
            if magnitudes.everything:
                bins = ["events"]
            counts = {day: sum(item.get(b, 0) for b in bins) for day, item in self.days.items()}
            known = {day: count for day, count in counts.items() if count}
            if len(self._promises) >= 32:  # distinct floors that clients ask for; the rest is recomputed
                self._promises.clear()
            self._promises[magnitudes] = known
        return known


class Summaries:
    """Reads the summaries of a table."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._years: OrderedDict[str, YearOfDays] = OrderedDict()
        self._summaries: dict[str, Item] = {}  # of the years, as of the table's revision
        self._revision: object | None = None

    async def years(self) -> dict[str, Item]:
        """Year, `YYYY` → its summary, in order of time."""
        revision = await self._table.revision()
        if revision is None or revision != self._revision:
            page = await self._table.query(self._table.design.primary, YEARS)
            self._summaries = {str(item["sk"]).removeprefix("YEAR#"): item for item in page.items if item["events"]}
            self._revision = revision
        return self._summaries

    async def days(self, year: str, version: Item) -> YearOfDays:
        """The days of a year, whose summary was read as `version`."""
        cached = self._years.get(year)
        if cached is None or cached.version != version:
            page = await self._table.query(self._table.design.primary, f"SUMMARY#{year}")
            cached = YearOfDays(
                version, {str(item["sk"]).removeprefix("DAY#"): item for item in page.items if item["events"]}
            )
            if sum(item["events"] for item in cached.days.values()) != version["events"]:
                return cached  # Read while an ingest was between the two: right for now, and not to be remembered.
            self._years[year] = cached
        self._years.move_to_end(year)
        if len(self._years) > CACHED_YEARS:
            self._years.popitem(last=False)
        return cached
