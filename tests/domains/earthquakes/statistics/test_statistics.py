"""Statistics beside what every event says, and what they cost."""

from collections import Counter
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import date_of
from graph.core.errors import BadUserInput
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.magnitudes import MagnitudeRange, bin_of
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.statistics.statistics import MOST_PERIODS, Interval
from tests.domains.earthquakes.builders import NOON, an_event, at, catalogue_of, events_at, stored
from tests.domains.earthquakes.oracle import selects
from tests.domains.earthquakes.strategies import A_FEW, catalogues, summarised_selections
from tests.domains.earthquakes.watched_database import WatchedDatabase

selections = summarised_selections.filter(lambda selection: selection.summarised)  # the others are refused


@A_FEW
@given(events=catalogues, selection=selections)
async def test_every_bin_has_its_events(engine: str, events: list[Event], selection: Selection) -> None:
    async with stored(engine, events) as database:
        statistics = await catalogue_of(database).statistics(selection)

        expected = Counter(bin_of(event.mag)[0] for event in events if selects(selection, event))
        assert await statistics.counts() == expected


@A_FEW
@given(events=catalogues, selection=selections)
async def test_the_largest_event_is_found(engine: str, events: list[Event], selection: Selection) -> None:
    async with stored(engine, events) as database:
        found = await (await catalogue_of(database).statistics(selection)).largest()

    selected = [(event.mag, event.event_ts_ms) for event in events if selects(selection, event)]
    assert (found and (found.mag, found.event_ts_ms)) == max(selected, default=None)


def period(day: date, interval: Interval) -> date:
    """The first day of a period."""
    return day.replace(
        day=day.day if interval is Interval.DAY else 1, month=1 if interval is Interval.YEAR else day.month
    )


def following(start: date, interval: Interval) -> date:
    """The first day of the period behind."""
    match interval:
        case Interval.DAY:
            return date.fromordinal(start.toordinal() + 1)
        case Interval.MONTH:
            return date(start.year + start.month // 12, start.month % 12 + 1, 1)
        case Interval.YEAR:
            return date(start.year + 1, 1, 1)


@A_FEW
@given(events=catalogues, selection=selections, interval=st.sampled_from(Interval))
async def test_every_period_has_its_events(
    engine: str, events: list[Event], selection: Selection, interval: Interval
) -> None:
    selected = [event for event in events if selects(selection, event)]
    expected = Counter(period(date_of(event.day_bucket), interval) for event in selected)
    async with stored(engine, events) as database:
        statistics = await catalogue_of(database).statistics(selection)
        try:
            series = await statistics.series(interval)
        except BadUserInput:
            return  # the year 1 to the year 9999: see below

    found: dict[date, int] = {}
    start = series.start
    for count in series.counts:
        assert start is not None
        found[start] = count
        start = following(start, interval) if start.year < 9999 else None
    assert Counter(found) == expected  # zeros aside
    if selection.start_ms is None and selection.end_ms is None and found:
        assert (min(found), max(found)) == (min(expected), max(expected))


async def test_a_series_covers_the_window_where_it_is_closed(engine: str) -> None:
    events = events_at(at("2023-02-28T12:00:00"), at("2023-05-01T00:00:00"), at("2023-05-31T23:59:59.999"))
    async with stored(engine, events) as database:
        window = Selection(start_ms=at("2023-01-15T00:00:00"), end_ms=at("2023-07-15T00:00:00"))
        months = await (await catalogue_of(database).statistics(window)).series(Interval.MONTH)
        open_months = await (await catalogue_of(database).statistics(Selection())).series(Interval.MONTH)
        nothing = await (await catalogue_of(database).statistics(Selection(start_ms=at("2024-01-01T00:00:00")))).series(
            Interval.DAY
        )

    assert (months.start, months.counts) == (date(2023, 1, 1), [0, 1, 0, 0, 2, 0, 0])
    assert (open_months.start, open_months.counts) == (date(2023, 2, 1), [1, 0, 0, 2])
    assert (nothing.start, nothing.counts) == (None, [])


async def test_a_series_of_too_many_periods_is_refused(engine: str) -> None:
    async with stored(engine, [an_event()]) as database:
        days = Selection(start_ms=at("1800-01-01T00:00:00"), end_ms=at("2023-12-31T00:00:00"))
        with pytest.raises(BadUserInput, match=f"more than {MOST_PERIODS:,} periods"):
            await (await catalogue_of(database).statistics(days)).series(Interval.DAY)
        years = await (await catalogue_of(database).statistics(days)).series(Interval.YEAR)

    assert len(years.counts) == 224


async def test_magnitudes_between_tenths_are_refused(engine: str) -> None:
    async with stored(engine, [an_event()]) as database:
        with pytest.raises(BadUserInput, match="must be on a tenth"):
            await catalogue_of(database).statistics(Selection(magnitudes=MagnitudeRange(4.55)))


async def test_events_are_read_only_of_days_that_the_window_cuts(engine: str) -> None:
    days = [NOON + number * 86_400_000 for number in range(-3, 4)]
    async with stored(engine, events_at(*days)) as database:
        watched = WatchedDatabase(database)
        catalogue = catalogue_of(watched)

        whole = await catalogue.statistics(Selection())
        assert ((await whole.counts()).total(), watched.read(EVENT, TIME_ORDERED)) == (7, set())
        await whole.series(Interval.DAY)
        assert watched.read(EVENT, TIME_ORDERED) == set()

        cut = await catalogue.statistics(Selection(start_ms=days[1] + 1, end_ms=days[5]))
        assert (await cut.counts()).total() == 4
        await cut.series(Interval.MONTH)
        assert watched.read(EVENT, TIME_ORDERED) == {("20230801",), ("20230805",)}


async def test_the_largest_event_is_looked_for_where_its_bin_has_events(engine: str) -> None:
    strong = an_event("strong", NOON, mag=6.53)
    stronger = an_event("stronger", NOON + 400 * 86_400_000, mag=6.57)
    weak = [an_event(f"e{n}", NOON + n * 86_400_000, mag=3.1) for n in range(40)]
    async with stored(engine, [*weak, strong, stronger]) as database:
        watched = WatchedDatabase(database)

        largest = await (await catalogue_of(watched).statistics(Selection())).largest()

        assert largest == stronger
        assert watched.read(EVENT, TIME_ORDERED) == {("20230803",), ("20240906",)}


async def test_the_latest_of_the_largest_is_found_without_reading_all_of_them(engine: str) -> None:
    alike = [an_event(f"e{n:03}", NOON + n * 86_400_000, mag=3.1) for n in range(500)]
    async with stored(engine, [*alike, an_event("strong", mag=6.5)]) as database:
        watched = WatchedDatabase(database)
        catalogue = catalogue_of(watched)

        weak = await catalogue.statistics(Selection(magnitudes=MagnitudeRange(None, 3.1)))
        assert await weak.largest() == alike[-1]
        assert len(watched.read(EVENT, TIME_ORDERED)) <= 32
