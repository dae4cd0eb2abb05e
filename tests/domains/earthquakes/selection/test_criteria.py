"""What a criterion tells of a year and a day is true, and exact where the counts allow it."""

from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.selection.criteria import ByMagnitude, ChangedSince, OnDays
from graph.domains.earthquakes.summaries import Summaries
from graph.geography.areas import Box
from tests.domains.earthquakes.builders import INGESTED_AT, NOON, an_event, at, stored
from tests.domains.earthquakes.oracle import selects
from tests.domains.earthquakes.watched_database import WatchedDatabase


async def test_the_facets_of_a_quarter_are_read_once_and_when_they_are_needed() -> None:
    days = ("2023-01-01", "2023-03-31", "2023-09-01", "2023-12-31")  # none in the second quarter
    async with stored("sqlite", [an_event(day, at(day), net="ci") for day in days]) as database:
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


BOUNDS: list[tuple[Selection, tuple[int, int]]] = [
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
]


async def test_the_bounds_of_a_day_and_a_year_are_true_and_as_close_as_the_counts_allow() -> None:
    """That no bound is wrong is also held by the totals and pages of any filter."""
    async with stored("sqlite", SOME) as database:
        for meant, expected in BOUNDS:
            criterion = meant.criteria[0] if meant.criteria else ByMagnitude(meant.magnitudes)
            summaries = Summaries(database)
            years = await summaries.years()
            ((year, summary),) = years.items()
            days = await summaries.days(year, summary)
            await summaries.read_facets(days, range(1))
            bounds = criterion.of_days(days, range(1))
            assert (bounds.low[0], bounds.high[0]) == expected, meant
            for known in ((await summaries.facets_of(years))[year], None):
                low, high = criterion.of_year(summary, known)
                assert low <= sum(selects(meant, event) for event in SOME) <= high, meant
            assert criterion.price(days, range(1)) >= 1
        for changed, expected in ((ChangedSince(INGESTED_AT), (4, 4)), (ChangedSince(INGESTED_AT + 1), (0, 0))):
            bounds = changed.of_days(days, range(1))
            assert bounds.low[0] <= expected[0] <= bounds.high[0]
        of_day = OnDays(frozenset({"20230803"})).of_days(days, range(1))
        assert of_day.high[0] == 4
