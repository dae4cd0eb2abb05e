"""Finds events that no summary counts, and days whose summary is wrong: another program wrote or removed some.

A program may write events by the documented access pattern, straight into the table. No summary counts them: totals
leave them out, and a day without a summary is not read at all. A check reads some days of the index:

    days with a difference so far → recent days → the next days of the catalogue → the next year outside of it

The catalogue is walked through from its first year to its last, and then again; one check goes no further than the end
of a year. The other years since 1900 should be empty, so one count of a whole year is enough.

Events without a number are adopted at once, which counts them. The others are compared with the summary of their day,
which is wrong if another program has replaced, changed or removed one. Such a difference is not believed at once. An
ingest may write between the two reads, so a summary must not change meanwhile. An index may lag behind its table, so
three checks in a row must find the difference, each of them twice.

A check has a bounded price: at most two years, and it stops at the next day once it has counted so many events. One
that has counted more delays the next check in proportion.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from graph.core.clock import Clock
from graph.core.days import bucket_of, date_of, datetime_of, days_between
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import DAY_SUMMARY, EVENT, YEAR_SUMMARY
from graph.domains.earthquakes.model import is_foreign
from graph.domains.earthquakes.summaries.recount import COUNTED_ATTRIBUTES, ITEMS_AT_ONCE, recount
from graph.domains.earthquakes.summaries.state import CONFIRMATIONS, CheckState, check_lease, confirmed
from graph.domains.earthquakes.summaries.summary import Tally, day_key
from graph.observability.logs import get_logger
from graph.runtime.lease import JobResult, LeaseState
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Query
from graph.work.tasks import Sleep

FIRST_CHECK_S = 60.0  # after the start of a process, which has more urgent work
AGAIN_S = 5.0  # before a difference is looked at again; an index lags by less, as a rule
CONFIRM_MS = 60_000  # before the next check if a difference was found
LONGEST_PAUSE_MS = 12 * 3_600_000  # less than what a lease takes for a wrong clock
EVENTS_A_CHECK = 5000  # about 450 read units of DynamoDB
MOST_DIFFERENCES = 20  # known at a time; the same rebuild corrects all others too
FIRST_YEAR = 1900  # of instruments; earlier years are checked if the catalogue has some
AHEAD = timedelta(days=31)  # the catalogue takes events up to 30 days ahead
MONTH, PART = 30, 3  # of the days before yesterday, so many are checked at a time

Adopt = Callable[[Collection[str]], Awaitable[object]]
"""Takes up the events with these ids that another program wrote, and counts them."""

logger = get_logger(__name__)


class SummaryCheck:
    """The job of one check after the other."""

    def __init__(
        self,
        database: Database,
        adopt: Adopt,
        clock: Clock,
        *,
        every_s: float,
        most_events: int = EVENTS_A_CHECK,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Prepare to check.

        Args:
            most_events: that one check reads.
        """
        self._sleep = sleep
        self._database = database
        self._adopt = adopt
        self._clock = clock
        self._every_ms = round(every_s * 1000)
        self._most_events = most_events

    async def check(self, lease: LeaseState, began: int) -> JobResult:
        """Check some days, from that epoch millisecond on."""
        state, today = CheckState(lease.attributes), datetime_of(began).date()
        known = state.differences
        comparison = _Comparison(self._database, self._adopt, known)
        await comparison.of_days([*known, *self._recent(today, began)])
        left: dict[str, Any] = {"lastCheck": began}
        if not _unsure(known):  # those come first, and soon
            years = await self._years()
            left["nextDay"] = await self._walk_catalogue(comparison, years, state.next_day)
            left["nextYear"] = await self._walk_outside(comparison, years, today, state.next_year)
        if comparison.differences:
            await self._sleep(AGAIN_S)
            await comparison.again()
        corrected = [day for day in confirmed(comparison.differences) if await recount(self._database, day)]
        for day in corrected:
            del comparison.differences[day]
        if corrected:
            logger.warning("Summaries were corrected: another program changed or removed events", days=corrected)
        _log(confirmed(known), confirmed(comparison.differences))
        left["differences"] = comparison.differences
        return JobResult(self._clock() + self._pause_ms(comparison), left)

    def _pause_ms(self, comparison: "_Comparison") -> int:
        """The time until the next check, so that no more events are counted in a minute than usual."""
        pause_ms = min(self._every_ms, CONFIRM_MS) if _unsure(comparison.differences) else self._every_ms
        return min(max(pause_ms, self._every_ms * comparison.events // self._most_events), LONGEST_PAUSE_MS)

    def _recent(self, today: date, began: int) -> list[str]:
        """Yesterday, today and tomorrow, and with each check other days of the month before."""
        part = began // self._every_ms % (MONTH // PART)
        ago = (-1, 0, 1, *range(2 + PART * part, 2 + PART * (part + 1)))
        return [bucket_of(today - timedelta(days=days)) for days in ago]

    async def _years(self) -> range:
        """The years from the first to the last that has a summary."""
        page = await self._database.query(Query(entity=YEAR_SUMMARY, attributes=frozenset({"events"})))
        years = [int(item["year"]) for item in page.items if item.get("events")]
        return range(min(years), max(years) + 1) if years else range(0)

    async def _walk_catalogue(self, comparison: "_Comparison", years: range, next_day: str | None) -> str:
        """Check the next days of the catalogue's years. Returns the day for the next check; empty for the first."""
        if not years:
            return ""
        begin = date(years[0], 1, 1)
        if next_day and date_of(next_day).year in years:
            begin = date_of(next_day)
        end = date(begin.year, 12, 31)  # a year's summaries are read at once
        stopped_at = await comparison.of_year(list(map(bucket_of, days_between(begin, end))), self._most_events)
        if stopped_at:
            return stopped_at
        return bucket_of(date(end.year + 1, 1, 1)) if end.year + 1 in years else ""

    async def _walk_outside(self, comparison: "_Comparison", years: range, today: date, next_year: int | None) -> int:
        """Check the next year that no summary counts. Returns the year for the next check."""
        outside = [year for year in range(FIRST_YEAR, (today + AHEAD).year + 1) if year not in years]
        if not outside:
            return FIRST_YEAR
        at = outside.index(next_year) if next_year in outside else 0
        days = list(map(bucket_of, days_between(date(outside[at], 1, 1), date(outside[at], 12, 31))))
        if await comparison.count(days) and await comparison.of_year(days, None):
            return outside[at]
        return outside[(at + 1) % len(outside)]


class _Comparison:
    """Compares days of the index with their summaries, during one check."""

    def __init__(self, database: Database, adopt: Adopt, known: Mapping[str, int]) -> None:
        self.differences: dict[str, int] = {}  # as of `CheckState`
        self.events = 0  # counted
        self._database = database
        self._adopt = adopt
        self._known = known
        self._compared: set[str] = set()

    async def count(self, days: Sequence[str]) -> int:
        """The number of events in the index on all these days together."""
        counted = await self._database.count(
            Query(entity=EVENT, index=TIME_ORDERED, partitions=[(day,) for day in days])
        )
        self.events += counted
        return counted

    async def of_days(self, days: Iterable[str]) -> None:
        """Compare a few days."""
        keys = {day: day_key(day) for day in days}
        summaries = await self._database.get_many(keys.values())
        for day, key in keys.items():
            await self._compare(day, summaries.get(key, {}))

    async def of_year(self, days: Sequence[str], most_events: int | None) -> str | None:
        """Compare following days of one year, the first one in any case.

        Returns:
            The day to begin with the next time, if there is no room for its difference, or if so many events were
            counted before it. None after the last day.
        """
        query = Query(entity=DAY_SUMMARY, partitions=((days[0][:4],),), between=(days[0], days[-1]))
        summaries = {item["day"]: item for item in (await self._database.query(query)).items}
        for number, day in enumerate(days):
            if number and most_events is not None and self.events >= most_events:
                return day
            if not await self._compare(day, summaries.get(day, {})):
                return day
        return None

    async def again(self) -> None:
        """Compare the days with a difference again, and forget those that have none any more."""
        keys = {day: day_key(day) for day in self.differences}
        summaries = await self._database.get_many(keys.values())
        for day, key in keys.items():
            if not await self._differs(day, summaries.get(key, {})):
                del self.differences[day]

    async def _compare(self, day: str, summary: Item) -> bool:
        """Compare one day with its summary, as read before. False if there is a difference that cannot be noted."""
        if day not in self._compared and await self._differs(day, summary):
            if len(self.differences) >= MOST_DIFFERENCES:
                return False
            self.differences[day] = min(self._known.get(day, 0) + 1, CONFIRMATIONS)
        self._compared.add(day)
        return True

    async def _differs(self, day: str, summary: Item) -> bool:
        """Whether a day's events are others than its summary counts, which did not change meanwhile.

        Those that have no number are adopted.
        """
        tally, foreign = Tally(), list[str]()
        query = Query(entity=EVENT, index=TIME_ORDERED, partitions=((day,),), attributes=_CHECKED, limit=ITEMS_AT_ONCE)
        async for items in self._database.pages(query):
            self.events += len(items)
            for item in items:
                if is_foreign(item):
                    foreign.append(item["eventId"])
                else:
                    tally.add(item)
        if foreign:
            await self._adopt(foreign)
        if _counts(tally.counts().get(day_key(day), {})) == _counts(summary):
            return False
        after = await self._database.get(day_key(day), attributes={"revision"}) or {}
        return after.get("revision") == summary.get("revision")


_CHECKED = COUNTED_ATTRIBUTES | {"eventId"}


def _counts(summary: Mapping[str, Any]) -> dict[str, int]:
    """The counts of events in a summary, without zeros."""
    return {name: number for name, number in summary.items() if number and name.startswith(_OF_EVENTS)}


_OF_EVENTS = ("events", "bin", "edge", "type:")


def _unsure(differences: Mapping[str, int]) -> bool:
    """Whether a difference must still be confirmed."""
    return any(times < CONFIRMATIONS for times in differences.values())


def _log(before: Sequence[str], now: Sequence[str]) -> None:
    """Log what has changed: days are wrong, or none is wrong any more."""
    if new := [day for day in now if day not in before]:
        logger.warning("Summaries do not count all events: run `quakegraph rebuild-summaries`", days=new)
    elif before and not now:
        logger.info("Summaries count all events again")


async def check_forever(
    database: Database, adopt: Adopt, every_s: float, clock: Clock, sleep: Sleep = asyncio.sleep
) -> None:
    """Check the summaries again and again, under one lease with the other processes on the tables."""
    await sleep(FIRST_CHECK_S)
    check = SummaryCheck(database, adopt, clock, every_s=every_s, sleep=sleep)
    await check_lease(database, clock).run_forever(check.check, sleep=sleep)
