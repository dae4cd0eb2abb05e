"""Long computations over summaries and logs let others run in between, and a bounded piece of work at a time."""

from collections.abc import AsyncIterator
from datetime import date

import pytest

from graph.core.days import DAY_MS, bucket_of, day_bucket
from graph.domains.earthquakes.entities import DAY_SUMMARY, YEAR_SUMMARY
from graph.domains.earthquakes.ingest.intake import CHECKED_AT_ONCE
from graph.domains.earthquakes.ingest.transaction import WRITES_AT_ONCE
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.selection import Selection
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.analytics import popular_filters
from graph.domains.statistics.series import SeriesInterval
from graph.geography.areas import Box
from graph.store.contract import Database, Put
from graph.store.time_walk import ITEMS_IN_MEMORY, ROWS_PER_BATCH
from graph.work.account import Work
from graph.work.length import Length
from graph.work.pace import Pace
from tests.domains.earthquakes.builders import at, catalogue_of, events_at, ingest
from tests.domains.entities import ENTITIES
from tests.domains.request_logs.builders import MIDNIGHT, a_log, now
from tests.domains.statistics.readers import statistics_of
from tests.store.engines import empty_database
from tests.work.accounts import an_account

YEARS = range(1990, 2000)


class CountedPace(Pace):
    """Counts how often work offers to give way."""

    def __init__(self) -> None:
        super().__init__()
        self.offers = 0

    async def give_way(self, caller: str, length: Length = Length.SHORT) -> None:
        self.offers += 1
        await super().give_way(caller, length)


def summaries() -> list[Put]:
    """Each day of the years with 120 events, a day's and a year's item as an ingest leaves them."""
    bins = {f"bin{tenths}": 1 for tenths in range(-20, 100)}
    puts: list[Put] = []
    for year in YEARS:
        days = range(at(f"{year}-01-01"), at(f"{year + 1}-01-01"), DAY_MS)
        counted = {name: len(days) for name in bins}
        of_year = {"year": str(year), "events": 120 * len(days), **counted, "revision": 1}
        puts.append(Put(YEAR_SUMMARY, of_year))
        for day_ms in days:
            of_day = {"year": str(year), "day": day_bucket(day_ms), "events": 120, **bins, "revision": 1}
            puts.append(Put(DAY_SUMMARY, of_day))
    return puts


@pytest.fixture
async def database() -> AsyncIterator[Database]:
    async with empty_database("sqlite", ENTITIES, clock=now) as database:
        yield database


async def test_series_plans_and_totals_of_many_years_offer_to_give_way_after_each(database: Database) -> None:
    await database.put_many(summaries())
    days = (date(YEARS.stop, 1, 1) - date(YEARS.start, 1, 1)).days
    for interval in set(SeriesInterval) - {SeriesInterval.HOUR}:
        pace = CountedPace()
        statistics = await statistics_of(database).of(Selection(magnitudes=MagnitudeRange(4.5)))
        with an_account(Work(pace=pace)) as account:
            series = await statistics.series(interval)
        assert sum(series.counts) == days * 55, "bins 4.5 to 9.9"
        if interval is not SeriesInterval.YEAR:
            assert pace.offers >= len(YEARS)
            assert account.spent >= days // 100

    pace = CountedPace()
    with an_account(Work(pace=pace)):
        assert await catalogue_of(database, most_days_counted=100_000).total(Selection(types=("zzz",))) == 0
    assert pace.offers >= len(YEARS)

    pace = CountedPace()  # a bounded number of rows at a time
    with an_account(Work(pace=pace)) as account:
        assert await catalogue_of(database, most_days_counted=days).total(Selection(box=Box(-9, -9, 9, 9))) == 0
    assert account.spent >= days * 120 // 100
    assert pace.offers >= len(YEARS) + days * 120 // ROWS_PER_BATCH


async def test_popular_filters_read_a_bounded_number_of_logs_between_two_offers(database: Database) -> None:
    logs = RequestLogs(database, now)
    await logs.insert_many([a_log(MIDNIGHT + number, number) for number in range(3000)])
    pace = CountedPace()
    with an_account(Work(pace=pace)) as account:
        popular = await popular_filters(logs, date.fromisoformat("2024-03-02"), 1, 10)

    assert popular.total_requests == 3000
    assert pace.offers >= 3000 // ITEMS_IN_MEMORY
    assert account.spent >= 3000 // 10
    assert bucket_of(popular.window_start) == "20240302"


async def test_an_ingest_offers_to_give_way_between_pieces_of_bounded_length(database: Database) -> None:
    events = events_at(*range(0, 1000 * DAY_MS // 10, DAY_MS // 10))
    pace = CountedPace()
    with an_account(Work(pace=pace)):
        assert await ingest(database, events) == 1000

    assert pace.offers >= 1000 // CHECKED_AT_ONCE + 1000 // WRITES_AT_ONCE
