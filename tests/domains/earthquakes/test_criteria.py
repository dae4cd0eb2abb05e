"""What a criterion tells of each year and day is true, and exact where the counts allow it."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.domains.earthquakes.areas import Box
from graph.domains.earthquakes.criteria import ByMagnitude, ChangedSince, Criterion, OnDays
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.summary_reader import Summaries
from tests.domains.earthquakes.builders import INGESTED_AT, NOON, an_event, at, stored
from tests.domains.earthquakes.oracle import selects
from tests.domains.earthquakes.strategies import A_FEW, catalogues, filters, magnitude_ranges
from tests.domains.earthquakes.watched_database import WatchedDatabase

Meaning = tuple[Criterion, Selection]
"""A criterion, and a selection of the events that match it."""

BY_FACETS = [name for name in filters if name not in ("place", "ids")]

by_facets: st.SearchStrategy[Meaning] = (
    st.sampled_from(BY_FACETS)
    .flatmap(lambda name: filters[name])
    .map(lambda arguments: Selection(**arguments))
    .filter(lambda selection: bool(selection.criteria))
    .map(lambda selection: (selection.criteria[0], selection))
)
by_magnitude: st.SearchStrategy[Meaning] = magnitude_ranges.map(
    lambda magnitudes: (ByMagnitude(magnitudes), Selection(magnitudes=magnitudes))
)


async def bounds_hold(summaries: Summaries, events: Sequence[Event], criterion: Criterion, meant: Selection) -> None:
    """Of every year, of every day, and of the days of a part of the year: low ≤ true number ≤ high."""
    true = [event.day_bucket for event in events if selects(meant, event)]
    years = await summaries.years()
    facets = await summaries.facets_of(years)
    assert facets.keys() == years.keys()
    for year, summary in years.items():
        of_year = sum(day.startswith(year) for day in true)
        for known in (facets[year], None):
            low, high = criterion.of_year(summary, known)
            assert low <= of_year <= high, (criterion, year)
        days = await summaries.days(year, summary)
        for places in (range(1), range(1, len(days.days)), range(len(days.days))):
            await summaries.read_facets(days, places)
            bounds = criterion.of_days(days, places)
            numbers = [true.count(days.days[place]) for place in places]
            assert len(bounds.low) == len(bounds.high) == len(numbers)
            for low, number, high, place in zip(bounds.low, numbers, bounds.high, places, strict=True):
                assert low <= number <= high, (criterion, days.days[place])
            assert criterion.price(days, places) >= len(places)


@A_FEW
@given(events=catalogues, meanings=st.lists(by_facets | by_magnitude, min_size=1, max_size=30))
async def test_the_bounds_of_a_criterion_hold(engine: str, events: list[Event], meanings: list[Meaning]) -> None:
    async with stored(engine, events) as database:
        summaries = Summaries(database)
        for criterion, meant in meanings:
            await bounds_hold(summaries, events, criterion, meant)


@A_FEW
@given(events=catalogues, data=st.data())
async def test_the_bounds_by_days_and_by_changes_hold(engine: str, events: list[Event], data: st.DataObject) -> None:
    named = data.draw(st.lists(st.sampled_from(events), max_size=3) if events else st.just([]))
    of_named = Selection(ids=tuple(event.event_id for event in named))
    async with stored(engine, events) as database:
        summaries = Summaries(database)
        await bounds_hold(summaries, events, OnDays(frozenset(event.day_bucket for event in named)), of_named)
        await bounds_hold(summaries, events, ChangedSince(INGESTED_AT), Selection())
        await bounds_hold(summaries, events, ChangedSince(INGESTED_AT + 1), Selection(ids=()))


async def test_the_facets_of_a_quarter_are_read_once_and_when_they_are_needed(engine: str) -> None:
    days = ("2023-01-01", "2023-03-31", "2023-09-01", "2023-12-31")  # none in the second quarter
    async with stored(engine, [an_event(day, at(day), net="ci") for day in days]) as database:
        watched = WatchedDatabase(database)
        summaries = Summaries(watched)
        year = await summaries.days("2023", (await summaries.years())["2023"])
        calls = []
        for places in (range(1), range(2), range(2, 3), range(4), range(4)):
            before = len(watched.calls)
            await summaries.read_facets(year, places)
            calls.append(len(watched.calls) - before)
            bounds = Selection(networks=("ci",)).criteria[0].of_days(year, places)
            assert bounds == ([1] * len(places), [1] * len(places))

    assert calls == [1, 0, 1, 1, 0]


SOME = [
    an_event("us1", NOON, 4.5, type="earthquake", net="ci", sig=100, felt=2, gap=5.0, tsunami=1, depth=5.0),
    an_event("us2", NOON, 4.55, type="Earthquake", net="nc", sig=124, felt=3, gap=10.0, tsunami=0, depth=9.9),
    an_event("us3", NOON, 4.6, type="thunder", sig=125, felt=4, gap=19.9, depth=10.0),
    an_event("us4", NOON, 4.7, type="rockfall", net="a network", sig=99, felt=8, depth=None, lat=0.0, lon=0.0),
]


@pytest.mark.parametrize(
    ("meant", "expected"),
    [
        # Usual texts are exact, unusual ones share a name.
        (Selection(types=("EARTHQUAKE",)), (2, 2)),
        (Selection(types=("thunder",)), (0, 2)),
        (Selection(types=("thunder", "rockfall")), (0, 2)),
        (Selection(types=("earthquake", "thunder")), (2, 4)),
        (Selection(types=()), (0, 0)),
        (Selection(networks=("ci", "nc", "ak")), (2, 2)),
        (Selection(tsunami=True), (1, 1)),
        (Selection(tsunami=False), (3, 3)),
        # Numbers are exact where the bound is the edge of a bin.
        (Selection(min_sig=100), (3, 3)),
        (Selection(min_sig=101), (1, 3)),
        (Selection(min_sig=125), (1, 1)),
        (Selection(min_felt=2), (4, 4)),
        (Selection(min_felt=3), (2, 4)),
        (Selection(min_felt=4), (2, 2)),
        (Selection(max_gap=10.0), (1, 3)),
        (Selection(max_gap=20.0), (3, 3)),
        (Selection(min_depth=5.0), (3, 3)),
        (Selection(min_depth=5.0, max_depth=9.0), (0, 2)),
        (Selection(max_depth=10.0), (2, 3)),
        # An area is exact where it covers whole cells.
        (Selection(box=Box(-90, 90, -180, 180)), (4, 4)),
        (Selection(box=Box(35, 36, -118, -116)), (3, 3)),
        (Selection(box=Box(35.5, 36, -118, -116)), (0, 3)),
        (Selection(box=Box(10, 20, -118, -116)), (0, 0)),
        (Selection(magnitudes=MagnitudeRange(4.5, 4.6)), (3, 3)),
        (Selection(magnitudes=MagnitudeRange(4.55, 4.6)), (1, 2)),
    ],
)
async def test_the_bounds_of_a_day_are_close(engine: str, meant: Selection, expected: tuple[int, int]) -> None:
    criterion = meant.criteria[0] if meant.criteria else ByMagnitude(meant.magnitudes)
    async with stored(engine, SOME) as database:
        summaries = Summaries(database)
        await bounds_hold(summaries, SOME, criterion, meant)
        ((year, summary),) = (await summaries.years()).items()
        bounds = criterion.of_days(await summaries.days(year, summary), range(1))  # whose facets were read

    assert (bounds.low[0], bounds.high[0]) == expected
