"""Reads summaries and facets, and keeps those of years that do not change."""

from asyncio import Lock
from collections import defaultdict
from collections.abc import Mapping

from cachetools import FIFOCache

from graph.domains.earthquakes.entities import DAY_FACETS, DAY_SUMMARY, YEAR_FACETS, YEAR_SUMMARY
from graph.domains.earthquakes.summaries.summary import Summary
from graph.domains.earthquakes.summaries.year_of_days import YearOfDays, quarter_of
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Query
from graph.work.account import charge_rows, give_way

CACHED_YEARS = 150  # a year of 366 busy days takes about 1 MB with its facets
CELLS_OF_A_DAY = 150  # with many events, about


class Summaries:
    """The stored summaries and facets."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._days: FIFOCache[str, YearOfDays] = FIFOCache(CACHED_YEARS)
        self._reading: defaultdict[str, Lock] = defaultdict(Lock)  # by year
        self._years: dict[str, Summary] = {}  # as of the database's revision
        self._facets_of_years: dict[str, Item] = {}
        self._revision: object | None = None

    async def years(self) -> dict[str, Summary]:
        """Year, `YYYY` → its summary, in order of time."""
        revision = await self._database.revision()
        if revision is None or revision != self._revision:
            page = await self._database.query(Query(entity=YEAR_SUMMARY))
            self._years = {item["year"]: Summary(item) for item in page.items}
            self._revision = revision
        return self._years

    async def facets_of(self, years: Mapping[str, Summary]) -> dict[str, Item]:
        """Year → its facets, as of these summaries. Years whose facets do not count all events are left out."""
        known = self._facets_of_years
        stale = [year for year, summary in years.items() if not _belong(known.get(year), summary)]
        if stale:
            found = await self._database.get_many([YEAR_FACETS.key_for(year) for year in stale])
            known |= {item["year"]: item for item in found.values()}
        return {year: known[year] for year, summary in years.items() if _belong(known.get(year), summary)}

    async def days(self, year: str, summary: Summary) -> YearOfDays:
        """The days of a year, as of this summary of it. Queries that need them at the same time share one reading."""
        version = summary.item
        if (days := self._known_days(year, version)) is not None:
            return days
        async with self._reading[year]:
            if (days := self._known_days(year, version)) is not None:
                return days
            await give_way()
            page = await self._database.query(Query(entity=DAY_SUMMARY, partitions=((year,),)))
            days = YearOfDays(version, page.items)
            if sum(days.events) == version["events"]:
                self._days[year] = days
            # Otherwise an ingest wrote between the two reads: use these days once, but do not cache them.
            return days

    async def read_facets(self, year: YearOfDays, places: range) -> None:
        """Read the facets of the days at these places of a year, as far as they were not read."""
        name = year.version["year"]
        async with self._reading[name]:
            if not (unread := year.without_facets(places)):
                return
            events = sum(year.events[unread.start : unread.stop])
            await charge_rows(tested=min(events, len(unread) * CELLS_OF_A_DAY))
            between = year.days[unread.start], year.days[unread.stop - 1]
            page = await self._database.query(Query(entity=DAY_FACETS, partitions=((name,),), between=between))
            of_quarters = {quarter: list[Item]() for quarter in year.quarters(unread)}
            for item in page.items:
                of_quarters[quarter_of(item["day"])].append(item)
            for quarter, items in of_quarters.items():
                await give_way()
                year.add_facets(quarter, items)

    def _known_days(self, year: str, version: Item) -> YearOfDays | None:
        days = self._days.get(year)
        return days if days is not None and (days.version is version or days.version == version) else None


def _belong(facets: Item | None, summary: Summary) -> bool:
    """Whether facets count the events of a summary."""
    return facets is not None and facets.get("revision") == summary.item.get("revision")
