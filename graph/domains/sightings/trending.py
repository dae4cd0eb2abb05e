"""How many sightings of each category are active, from the tallies. No sighting is read for it."""

from dataclasses import dataclass

from graph.core.clock import Clock
from graph.domains.sightings.categories import Categories
from graph.domains.sightings.entities import HOURS, TALLY
from graph.store.contract import Database
from graph.store.query import Query
from graph.store.rows import sums_of, values_of
from graph.work.account import charge_rows

HOUR_S = 3600
LONGEST_WINDOW_HOURS = 24


@dataclass(frozen=True, slots=True)
class Trend:
    """The active sightings of a category that were reported since a time."""

    category: str
    since: int  # epoch seconds, a whole hour
    count: int


class Trending:
    """Counts active sightings."""

    def __init__(self, database: Database, categories: Categories, clock: Clock) -> None:
        self._database = database
        self._categories = categories
        self._clock = clock

    async def of(self, window_hours: int) -> list[Trend]:
        """The number of active sightings of each category, the greatest first.

        Args:
            window_hours: 1 … 24. The window begins at a whole hour, so it may be up to an hour longer.
        """
        now = self._clock() // 1000
        since = (now // HOUR_S - window_hours) * HOUR_S
        hours = _hours_between(since, now)
        names = self._categories.names
        partitions = [(name,) for name in sorted(names)]
        tallies = await self._database.query(
            Query(entity=TALLY, partitions=partitions, between=(now + 1, None), attributes=frozenset(hours))
        )
        await charge_rows(read=len(tallies.items))
        counts = dict.fromkeys(names, 0)
        for (category,), number in zip(
            values_of(tallies.items, ("category",)), sums_of(tallies.items, hours), strict=True
        ):
            counts[category] += number
        trends = [Trend(category, since, count) for category, count in counts.items()]
        return sorted(trends, key=lambda trend: -trend.count)


def _hours_between(since: int, now: int) -> list[str]:
    """The hours of the day from one time to another, each once. Active sightings are less than a day old."""
    first, last = since // HOUR_S, now // HOUR_S
    return list(dict.fromkeys(HOURS[hour % len(HOURS)] for hour in range(max(first, last - 23), last + 1)))
