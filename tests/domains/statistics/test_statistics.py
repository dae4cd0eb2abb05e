"""Statistics beside what every event says, and what they cost."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph.core.days import datetime_of
from graph.core.errors import BadUserInput, QueryTooComplex
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.magnitudes import MagnitudeRange, bin_of
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.history import HistoryUnavailable
from graph.domains.earthquakes.revisions.views import AsOf, View
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.summaries.summary import year_key
from graph.domains.statistics.groups import EventGroup, EventGrouping, region_of
from graph.domains.statistics.in_space import MOST_CELLS
from graph.domains.statistics.series import MOST_PERIODS, Series, SeriesInterval
from graph.geography.areas import Box, Circle
from graph.store.contract import Update
from tests.domains.earthquakes.builders import NOON, an_event, at, events_at, ingest, stored
from tests.domains.earthquakes.oracle import PLACE_OF, plain, selects
from tests.domains.earthquakes.revisions.histories import Source, a_record, listed
from tests.domains.earthquakes.strategies import A_FEW, catalogues, summarised_selections
from tests.domains.earthquakes.strategies import selections as any_selections
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.domains.statistics.readers import statistics_of
from tests.store.engines import empty_database

selections = any_selections | summarised_selections


def counts(selection: Selection, event: Event) -> bool:
    """Whether statistics count the event: earthquakes alone, unless the selection names types."""
    is_earthquake = event.type is None or plain(event.type) == "earthquake"
    return selects(selection, event) and (names_types(selection) or is_earthquake)


def names_types(selection: Selection) -> bool:
    return selection.types is not None or any(map(names_types, selection.nested))


def period(event: Event, interval: SeriesInterval) -> datetime:
    """The start of an event's period."""
    hour = event.time.replace(minute=0, second=0, microsecond=0)
    if interval is SeriesInterval.HOUR:
        return hour
    day = hour.replace(hour=0)
    if interval is SeriesInterval.WEEK:
        return day - timedelta(day.weekday())
    if interval is SeriesInterval.DAY:
        return day
    return day.replace(day=1, month=1 if interval is SeriesInterval.YEAR else day.month)


def starts(series: Series) -> Iterator[datetime]:
    """The starts of the periods, one after the other."""
    start = datetime_of(series.starts_at or 0)
    for number in range(len(series.counts)):
        match series.interval:
            case SeriesInterval.MONTH:
                months = start.month - 1 + number
                yield start.replace(year=start.year + months // 12, month=months % 12 + 1)
            case SeriesInterval.YEAR:
                yield start.replace(year=start.year + number)
            case SeriesInterval.HOUR:
                yield start + timedelta(hours=number)
            case _:
                yield start + timedelta(number * (7 if series.interval is SeriesInterval.WEEK else 1))


ALIKE = [an_event(event_id, mag=6.5) for event_id in ("us1", "us3", "us2")]


@A_FEW
@given(events=catalogues, selection=selections, interval=st.sampled_from(SeriesInterval))
@example(events=ALIKE, selection=Selection(), interval=SeriesInterval.DAY)
@example(events=ALIKE, selection=Selection(place="here"), interval=SeriesInterval.DAY)
async def test_every_bin_and_every_period_has_its_events_and_the_largest_is_found(
    engine: str, events: list[Event], selection: Selection, interval: SeriesInterval
) -> None:
    selected = [event for event in events if counts(selection, event)]
    periods = Counter(period(event, interval) for event in selected)
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
            found = dict(zip(starts(series), series.counts, strict=True))
            assert Counter(found) == periods  # zeros aside
            if selection.start_ms is None and selection.end_ms is None and found:
                assert (min(found), max(found)) == (min(periods), max(periods))


async def test_a_series_covers_the_window_where_it_is_closed_and_has_a_bounded_length() -> None:
    events = events_at(at("2023-02-28T12:00:00"), at("2023-05-01T00:00:00"), at("2023-05-31T23:59:59.999"))
    async with stored("sqlite", events) as database:
        reader = statistics_of(database)

        async def series(interval: SeriesInterval, start: str | None = None, end: str | None = None) -> Series:
            window = Selection(start_ms=at(start) if start else None, end_ms=at(end) if end else None)
            return await (await reader.of(window)).series(interval)

        months = await series(SeriesInterval.MONTH, "2023-01-15", "2023-07-15")
        assert (months.starts_at, months.counts) == (at("2023-01-01T00:00:00"), (0, 1, 0, 0, 2, 0, 0))
        open_months = await series(SeriesInterval.MONTH)
        assert (open_months.starts_at, open_months.counts) == (at("2023-02-01T00:00:00"), (1, 0, 0, 2))
        weeks = await series(SeriesInterval.WEEK, "2023-02-28", "2023-03-06")
        assert (weeks.starts_at, weeks.counts) == (at("2023-02-27T00:00:00"), (1, 0))
        hours = await series(SeriesInterval.HOUR, "2023-05-31T22:30", "2023-06-01T00:30")
        assert (hours.starts_at, hours.counts) == (at("2023-05-31T22:00:00"), (0, 1, 0))
        nothing = await series(SeriesInterval.DAY, "2024-01-01")
        assert (nothing.starts_at, nothing.counts) == (None, ())
        with pytest.raises(BadUserInput, match=f"more than {MOST_PERIODS:,} periods"):
            await series(SeriesInterval.DAY, "1800-01-01", "2023-12-31")
        watched = WatchedDatabase(database)
        for end_ms in (None, at("2023-12-31")):
            long = await statistics_of(watched).of(Selection(start_ms=at("2018-01-01"), end_ms=end_ms))
            watched.calls.clear()
            with pytest.raises(BadUserInput, match=f"more than {MOST_PERIODS:,} periods"):
                await long.series(SeriesInterval.HOUR)
            assert watched.read(EVENT, TIME_ORDERED) == set()
        assert len((await series(SeriesInterval.YEAR, "1800-01-01", "2023-12-31")).counts) == 224


async def test_events_are_read_only_of_days_that_the_window_cuts() -> None:
    days = [NOON + number * 86_400_000 for number in range(-3, 4)]
    events = events_at(*days)
    async with stored("sqlite", events) as database:
        watched = WatchedDatabase(database)
        reader = statistics_of(watched)

        whole = await reader.of(Selection())
        assert ((await whole.counts()).total(), watched.read(EVENT, TIME_ORDERED)) == (7, set())
        await whole.series(SeriesInterval.DAY)
        assert watched.read(EVENT, TIME_ORDERED) == set()

        cut = await reader.of(Selection(start_ms=days[1] + 1, end_ms=days[5]))
        assert (await cut.counts()).total() == 4
        await cut.series(SeriesInterval.MONTH)
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
            statistics.series(SeriesInterval.DAY),
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

            assert [replace(cell, greatest_magnitude=None) for cell in read.cells] == list(counted.cells)
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


REGIONS = {
    "8 km E of Pāhala, Hawaii": "Hawaii",
    "south of the Fiji Islands": "the Fiji Islands",
    "Fiji region": "Fiji region",
    "10 km W of A, B, CA": "CA",
    "off the coast of Oregon, ": "Oregon",
    " , ": "",
}


def test_the_region_of_a_place_follows_the_last_comma_or_of() -> None:
    assert {place: region_of(place) for place in REGIONS} == REGIONS


async def test_events_are_grouped_by_a_text_the_most_first(engine: str) -> None:
    events = [
        an_event("us1", mag=4.0, net="US", mag_type="Mb_Lg", place="A, Chile"),
        an_event("us2", mag=5.0, net="us", mag_type="mb lg", place="B, Chile"),
        an_event("ci1", mag=6.0, net=None, mag_type=None, place="C, Alaska"),
        an_event("nc1", mag=6.0, net="nc", mag_type="md", type="quarry blast"),
    ]
    async with stored(engine, events) as database:
        statistics = await statistics_of(database).of(Selection())
        by_network = await statistics.groups(EventGrouping.NETWORK)
        assert by_network.groups == (EventGroup("us", 2, 5.0), EventGroup("ci", 1, 6.0))
        by_magnitude_type = await statistics.groups(EventGrouping.MAGNITUDE_TYPE)
        assert (by_magnitude_type.groups, by_magnitude_type.unknown) == ((EventGroup("mb lg", 2, 5.0),), 1)
        by_place = await statistics.groups(EventGrouping.PLACE, 1)
        assert (by_place.groups, by_place.total_count, by_place.unknown) == ((EventGroup("Chile", 2, 5.0),), 2, 0)
        others = await statistics_of(database).of(Selection(none_of=Selection(types=("earthquake",))))
        assert (await others.groups(EventGrouping.TYPE)).groups == (EventGroup("quarry blast", 1, 6.0),)
        few = await statistics_of(database, most_events=2).of(Selection())
        counted = await few.groups(EventGrouping.MAGNITUDE_TYPE)
        assert (counted.groups, counted.total_count, counted.unknown) == ((EventGroup("mb lg", 2, None),), 1, 1)
        assert (await few.groups(EventGrouping.PLACE)).reason == (
            "It takes the events themselves, of which at most 2 are read: "
            "narrow the time range, the magnitudes or the area."
        )
        for limit in (0, 1001):
            with pytest.raises(BadUserInput, match="`limit` must be from 1 to 1,000"):
                await statistics.groups(EventGrouping.TYPE, limit)


async def test_statistics_of_another_time_are_of_the_versions_of_then(engine: str) -> None:
    async with empty_database(engine, ENTITIES) as database:
        source = Source(database)
        await source.say(*(a_record(f"us{n}", mag=n / 2, event_ts_ms=NOON + n * 1_800_000) for n in range(6)))
        await source.say(a_record("us1", mag=6.0, updated=2, event_ts_ms=NOON - 1), a_record("us7", mag=2.0))
        await source.say(a_record("us2", mag=7.0, updated=3), a_record("us3", updated=3, status="deleted"))
        reader, now = statistics_of(database), source.clock.now
        selections = (
            Selection(),
            Selection(any_of=(Selection(end_ms=NOON), Selection(magnitudes=MagnitudeRange(2)))),
            Selection(circle=Circle(0, 0, 20_100)),
        )
        for as_of, selection in product(
            [AsOf(first=True), *(AsOf(recorded_ms=now - n * 1000) for n in range(3))], selections
        ):
            view = View(as_of)
            then = [event for event in await listed(database, view) if counts(selection, event)]
            statistics = await reader.of(selection, view=view)
            assert (await statistics.counts()).total() == len(then)
            hours = await statistics.series(SeriesInterval.HOUR)
            found = dict(zip(starts(hours), hours.counts, strict=True))
            assert +Counter(found) == Counter(period(event, SeriesInterval.HOUR) for event in then)
            summary = await statistics.magnitude()
            mags = [event.mag for event in then]
            assert (summary.known, summary.least, summary.greatest) == (len(then), min(mags), max(mags))
            assert sum(each.count for each in (await statistics.groups(EventGrouping.NETWORK)).groups) == len(then)
            with pytest.raises(BadUserInput, match="`largest` is an event as it is now"):
                await statistics.largest()
        with pytest.raises(HistoryUnavailable):
            await reader.of(Selection(), view=View(AsOf(recorded_ms=1)))
