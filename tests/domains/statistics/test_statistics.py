"""Statistics beside what every event says, and what they cost."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph.core.days import date_of
from graph.core.errors import BadUserInput, QueryTooComplex
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.magnitudes import MagnitudeRange, bin_of
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.summaries.summary import year_key
from graph.domains.statistics.in_space import MOST_CELLS
from graph.domains.statistics.series import MOST_PERIODS, Interval, Series
from graph.geography.areas import Box
from graph.store.contract import Update
from tests.domains.earthquakes.builders import NOON, an_event, at, events_at, ingest, stored
from tests.domains.earthquakes.oracle import PLACE_OF, plain, selects
from tests.domains.earthquakes.strategies import A_FEW, catalogues, summarised_selections
from tests.domains.earthquakes.strategies import selections as any_selections
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.statistics.readers import statistics_of

selections = any_selections | summarised_selections


def counts(selection: Selection, event: Event) -> bool:
    """Whether statistics count the event: earthquakes alone, unless the selection names types."""
    is_earthquake = event.type is None or plain(event.type) == "earthquake"
    return selects(selection, event) and (selection.types is not None or is_earthquake)


def period(day: date, interval: Interval) -> date:
    """The first day of a period."""
    return day.replace(
        day=day.day if interval is Interval.DAY else 1, month=1 if interval is Interval.YEAR else day.month
    )


LONGEST = {Interval.DAY: 1, Interval.MONTH: 31, Interval.YEAR: 366}  # days


def following(start: date, interval: Interval) -> date:
    """The first day of the period behind."""
    return period(start + timedelta(LONGEST[interval]), interval)


ALIKE = [an_event(event_id, mag=6.5) for event_id in ("us1", "us3", "us2")]


@A_FEW
@given(events=catalogues, selection=selections, interval=st.sampled_from(Interval))
@example(events=ALIKE, selection=Selection(), interval=Interval.DAY)
@example(events=ALIKE, selection=Selection(place="here"), interval=Interval.DAY)
async def test_every_bin_and_every_period_has_its_events_and_the_largest_is_found(
    engine: str, events: list[Event], selection: Selection, interval: Interval
) -> None:
    selected = [event for event in events if counts(selection, event)]
    periods = Counter(period(date_of(event.day_bucket), interval) for event in selected)
    async with stored(engine, events) as database:
        reader = statistics_of(database)
        for _ in range(2):  # the second time, with what is kept of whole years
            statistics = await reader.of(selection)
            assert await statistics.counts() == Counter(bin_of(event.mag)[0] for event in selected)
            largest = await statistics.largest()
            assert largest == max(selected, key=PLACE_OF["magnitude"], default=None)
            try:
                series = await statistics.series(interval)
            except BadUserInput:
                continue  # the year 1 to the year 9999: see below
            found: dict[date, int] = {}
            start = series.start
            for count in series.counts:
                assert start is not None
                found[start] = count
                start = following(start, interval) if start.year < 9999 else None
            assert Counter(found) == periods  # zeros aside
            if selection.start_ms is None and selection.end_ms is None and found:
                assert (min(found), max(found)) == (min(periods), max(periods))


async def test_a_series_covers_the_window_where_it_is_closed_and_has_a_bounded_length() -> None:
    events = events_at(at("2023-02-28T12:00:00"), at("2023-05-01T00:00:00"), at("2023-05-31T23:59:59.999"))
    async with stored("sqlite", events) as database:
        reader = statistics_of(database)

        async def series(interval: Interval, start: str | None = None, end: str | None = None) -> Series:
            window = Selection(start_ms=at(start) if start else None, end_ms=at(end) if end else None)
            return await (await reader.of(window)).series(interval)

        months = await series(Interval.MONTH, "2023-01-15", "2023-07-15")
        assert (months.start, months.counts) == (date(2023, 1, 1), [0, 1, 0, 0, 2, 0, 0])
        open_months = await series(Interval.MONTH)
        assert (open_months.start, open_months.counts) == (date(2023, 2, 1), [1, 0, 0, 2])
        nothing = await series(Interval.DAY, "2024-01-01")
        assert (nothing.start, nothing.counts) == (None, [])
        with pytest.raises(BadUserInput, match=f"more than {MOST_PERIODS:,} periods"):
            await series(Interval.DAY, "1800-01-01", "2023-12-31")
        assert len((await series(Interval.YEAR, "1800-01-01", "2023-12-31")).counts) == 224


async def test_events_are_read_only_of_days_that_the_window_cuts() -> None:
    days = [NOON + number * 86_400_000 for number in range(-3, 4)]
    events = events_at(*days)
    async with stored("sqlite", events) as database:
        watched = WatchedDatabase(database)
        reader = statistics_of(watched)

        whole = await reader.of(Selection())
        assert ((await whole.counts()).total(), watched.read(EVENT, TIME_ORDERED)) == (7, set())
        await whole.series(Interval.DAY)
        assert watched.read(EVENT, TIME_ORDERED) == set()

        cut = await reader.of(Selection(start_ms=days[1] + 1, end_ms=days[5]))
        assert (await cut.counts()).total() == 4
        await cut.series(Interval.MONTH)
        assert watched.read(EVENT, TIME_ORDERED) == {("20230801",), ("20230805",)}


async def test_the_latest_of_the_largest_is_looked_for_where_its_bin_has_events_without_reading_all() -> None:
    alike = [an_event(f"e{n:03}", NOON + n * 86_400_000, mag=3.1) for n in range(500)]
    stronger = an_event("stronger", NOON + 400 * 86_400_000, mag=6.57)
    events = [*alike, an_event("strong", NOON, mag=6.53), stronger]
    async with stored("sqlite", events) as database:
        watched = WatchedDatabase(database)
        assert await (await statistics_of(watched).of(Selection())).largest() == stronger
        assert watched.read(EVENT, TIME_ORDERED) == {("20230803",), ("20240906",)}

        watched.calls.clear()
        weak = await statistics_of(watched).of(Selection(magnitudes=MagnitudeRange(None, 3.1)))
        assert await weak.largest() == alike[-1]
        assert len(watched.read(EVENT, TIME_ORDERED)) <= 32


async def test_types_of_whole_years_are_read_once_while_the_years_stay_as_they_are() -> None:
    events = [an_event("quake", NOON), an_event("blast", NOON, type="quarry blast")]
    async with stored("sqlite", events) as database:
        watched = WatchedDatabase(database)
        reader = statistics_of(watched)

        assert (await (await reader.of(Selection())).counts()).total() == 1
        assert watched.read(EVENT, TIME_ORDERED) == {("20230803",)}
        watched.calls.clear()
        assert (await (await reader.of(Selection())).counts()).total() == 1
        assert watched.read(EVENT, TIME_ORDERED) == set()

        await ingest(database, [an_event("later", NOON + 1, type="explosion")])
        assert (await (await reader.of(Selection())).counts()).total() == 1


async def test_events_are_read_once_for_all_parts_together() -> None:
    events = events_at(*range(NOON, NOON + 60), mag=3.0)
    box = Selection(box=Box(-90, 90, -180, 180))
    async with stored("sqlite", events) as database:
        watched = WatchedDatabase(database)
        reader = statistics_of(watched)
        statistics = await reader.of(box)
        await asyncio.gather(
            statistics.series(Interval.DAY),
            statistics.depths(10),
            statistics.grid(1),
            statistics.inter_event_times((0.5,)),
            statistics.seismic_moment(),
            statistics.b_positive(0.1, None),
            statistics.rates(None, 0.95),
        )

        assert [call.index for call in watched.calls].count(TIME_ORDERED.name) == 1


async def test_too_many_cells_refuse_the_grid_alone() -> None:
    number = MOST_CELLS + 1
    events = [an_event(f"e{n}", NOON + n, lat=n // 200 / 10 + 0.05, lon=n % 200 / 10 + 0.05) for n in range(number)]
    async with stored("sqlite", events) as database:
        statistics = await statistics_of(database).of(Selection())
        grid = await statistics.grid(0.1)

        reason = "More than 10,000 cells have events: take a greater `degreesPerCell`."
        assert (grid.cells, grid.reason) == ((), reason)
        assert (await statistics.counts()).total() == number
        assert sum(cell.count for cell in (await statistics.grid(1)).cells) == number


async def test_too_many_events_leave_parts_out_with_a_reason() -> None:
    async with stored("sqlite", events_at(*range(NOON, NOON + 60))) as database:
        reader = statistics_of(database, most_events=50)
        by_time = await reader.of(Selection(start_ms=NOON))
        reasons = [
            (await by_time.depths(10)).reason,
            (await by_time.grid(1)).reason,
            (await by_time.inter_event_times((0.5,))).reason,
            (await by_time.b_positive(0.1, None)).reason,
        ]

        assert (await by_time.counts()).total() == 60
        for reason in reasons:
            assert "at most 50 are read: narrow the time range" in str(reason)
        moment = await by_time.seismic_moment()
        assert (moment.events, moment.binned) == (60, 0), "all magnitudes are on tenths"
        with pytest.raises(QueryTooComplex, match="at most 50 are read: narrow the time range"):
            await reader.of(Selection(box=Box(-90, 90, -180, 180)))
        few = statistics_of(database, most_events=5)
        with pytest.raises(QueryTooComplex, match="A filter is tested on at most 50 events: narrow the time range"):
            await few.of(Selection(place="here"))


@A_FEW
@given(events=catalogues, spans=summarised_selections, degrees=st.sampled_from([10, 20, 30, 40, 90]))
async def test_cells_of_too_many_events_are_counted_from_summaries(
    engine: str, events: list[Event], spans: Selection, degrees: int
) -> None:
    selection = Selection(spans.start_ms, spans.end_ms)
    async with stored(engine, events) as database:
        read = await (await statistics_of(database).of(selection)).grid(degrees)
        for _ in range(2):  # the second time, with what is kept of whole years
            statistics = await statistics_of(database, most_events=0).of(selection)
            counted = await statistics.grid(degrees)

            assert [replace(cell, greatest=None) for cell in read.cells] == list(counted.cells)
            assert counted.reason is None


async def test_cells_of_too_many_events_need_a_time_range_alone_and_facets() -> None:
    async with stored("sqlite", events_at(*range(NOON, NOON + 60), mag=3.0)) as database:
        reader = statistics_of(database, most_events=50)
        everything = await reader.of(Selection())
        assert [cell.count for cell in (await everything.grid(30)).cells] == [60]
        assert "or take cells of 10 degrees." in str((await everything.grid(15)).reason)
        strong = await reader.of(Selection(magnitudes=MagnitudeRange(2.0, None)))
        assert "narrow the time range, the magnitudes or the area." in str((await strong.grid(30)).reason)

        assert await database.update(Update(year_key("2023"), add={"revision": 1}))
        stale = await statistics_of(database, most_events=50).of(Selection())
        assert "narrow the time range, the magnitudes or the area." in str((await stale.grid(30)).reason)


async def test_a_time_range_is_as_long_as_its_bounds_or_its_events() -> None:
    events = events_at(at("2020-03-01T12:00:00"), at("2022-03-01T12:00:00"))
    blasts = [an_event("blast", at("2019-01-01"), type="explosion"), an_event("b", at("2023-01-01"), type="explosion")]
    async with stored("sqlite", [*events, *blasts]) as database:
        reader = statistics_of(database)

        async def days(selection: Selection) -> float | None:
            years = await (await reader.of(selection)).population.years()
            return years and round(years * 365.25, 6)

        assert await days(Selection()) == 731
        assert await days(Selection(start_ms=at("2020-02-29"))) == 732
        assert await days(Selection(box=Box(-90, 90, -180, 180))) == 731
        assert await days(Selection(at("2020-01-01"), at("2020-01-11") - 1)) == 10
        assert await days(Selection(start_ms=at("2024-01-01"))) is None
