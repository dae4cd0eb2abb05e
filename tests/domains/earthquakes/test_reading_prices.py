"""What an operation is charged for reading, beside the rows that its plan tests and reads: never less."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.core.days import DAY_MS
from graph.core.errors import QueryTooComplex
from graph.core.paging import Paging
from graph.domains.earthquake_events import TIME_ORDERED
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from graph.domains.statistics.gutenberg_richter import Completeness
from graph.domains.statistics.series import SeriesInterval
from graph.geography.areas import Box, Circle
from graph.store.conditions import all_of, conjuncts, predicate
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import ItemPage, Partition, Query
from graph.work.account import ROWS_READ_PER_POINT, ROWS_TESTED_PER_POINT
from tests.domains.earthquakes.builders import NOON, an_event, catalogue_of, stored
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.statistics.readers import statistics_of
from tests.effort import rounds
from tests.work.accounts import an_account

pytestmark = pytest.mark.asyncio(loop_scope="module")

DAYS = 40
EVENTS = 4000
FIRST = NOON - DAYS * DAY_MS


class CountedDatabase(WatchedDatabase):
    """Counts the rows that readings of the time-ordered index test by a filter, and those that they hand over."""

    def __init__(self, database: Database, events: Sequence[Event]) -> None:
        super().__init__(database)
        self.tested = self.given = 0
        self._rows: dict[Partition, list[Item]] = {}
        for event in events:
            self._rows.setdefault((event.day_bucket,), []).append(event.item)

    async def query(self, query: Query) -> ItemPage:
        page = await super().query(query)
        if query.index != TIME_ORDERED:
            return page
        self.given += len(page.items)
        if query.where:
            times = [item["eventTsMs"] for item in self._led_to(query)]
            begin, end = (place["eventTsMs"] if place else None for place in (query.start, page.last_key))
            low, high = (begin, end) if query.forward else (end, begin)
            self.tested += sum((low is None or at >= low) and (high is None or at <= high) for at in times)
        return page

    async def count(self, query: Query) -> int:
        self.tested += len(self._led_to(query))
        return await super().count(query)

    def _led_to(self, query: Query) -> list[Item]:
        """The rows of partitions that an index by magnitude leads to."""
        by_magnitude = all_of(*(part for part in conjuncts(query.where) if getattr(part, "attribute", None) == "mag"))
        leads = predicate(by_magnitude) if by_magnitude else None
        return [item for each in query.partitions for item in self._rows.get(each, ()) if not leads or leads(item)]


def some_events() -> list[Event]:
    chance = random.Random(1)
    times = sorted(chance.sample(range(FIRST, NOON), EVENTS))
    kinds = ("earthquake", "earthquake", "quarry blast", "ice quake")
    return [
        an_event(
            f"us{number:04}",
            time_ms,
            round(min(chance.expovariate(2), 9), 2),
            lat=chance.uniform(-80, 80),
            lon=chance.uniform(-180, 180),
            depth=chance.choice([None, 5.0, 80.0]),
            type=chance.choice(kinds),
        )
        for number, time_ms in enumerate(times)
    ]


THE_EVENTS = some_events()
MORE = settings(A_FEW, max_examples=rounds(60))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def database() -> AsyncIterator[CountedDatabase]:
    async with stored("sqlite", THE_EVENTS) as database:
        yield CountedDatabase(database, THE_EVENTS)


instants = st.none() | st.integers(FIRST, NOON)
bounds = st.tuples(instants, instants).map(lambda b: b if None in b else tuple(sorted(b)))  # type: ignore[type-var]
magnitudes = st.sampled_from([None, 0.5, 1.0, 1.25, 3.0])
circles = st.builds(Circle, st.integers(-89, 89), st.integers(-179, 179), st.sampled_from([10.0, 2000.0, 20_000.0]))
boxes = st.builds(
    lambda south, west: Box(south, south + 10, west, west + 20), st.integers(-80, 70), st.integers(-170, 150)
)
flat = st.builds(
    lambda span, minimum, **others: Selection(span[0], span[1], MagnitudeRange(minimum), **others),
    bounds,
    magnitudes,
    circle=st.none() | circles,
    box=st.none() | boxes,
    min_depth=st.none() | st.just(10.0),
    types=st.none() | st.just(("ice quake",)) | st.just(("zzz",)),
)
nested = st.builds(lambda *some, but: Selection(any_of=some, none_of=but), flat, flat, but=st.none() | flat)
selections = flat | nested
pagings = st.builds(
    lambda size, backward, after: Paging(
        size, backward, **({"before" if backward else "after": after.item} if after else {})
    ),
    st.sampled_from([0, 1, 10, 100, 1000]),
    st.booleans(),
    st.none() | st.sampled_from(THE_EVENTS[::97]),
)


async def charged(database: CountedDatabase, work: Callable[[Catalogue], Awaitable[object]], *, page: int = 0) -> int:
    """Points for reading, which are checked against the rows. A page's own rows are in the document's price."""
    database.tested = database.given = 0
    with an_account() as account:
        await work(catalogue_of(database))
    assert database.tested <= ROWS_TESTED_PER_POINT * (account.spent + 1)
    assert database.given <= ROWS_READ_PER_POINT * (account.spent + 1) + page + 1
    return account.spent


@MORE
@given(selection=selections, paging=pagings, ascending=st.booleans())
async def test_pages_and_a_total_cost_at_least_what_their_plans_read(
    database: CountedDatabase, selection: Selection, paging: Paging, ascending: bool
) -> None:
    await charged(database, lambda c: c.page(selection, paging, ascending=ascending), page=paging.size)
    await charged(database, lambda c: c.page_by_magnitude(selection, paging, ascending=ascending), page=paging.size)
    await charged(database, lambda c: c.total(selection))


@A_FEW
@given(
    selection=selections,
    span=bounds,
    minimum=st.sampled_from([None, 0.5, 3.0]),
    interval=st.sampled_from(SeriesInterval),
)
async def test_statistics_cost_at_least_what_they_read(
    database: CountedDatabase,
    selection: Selection,
    span: tuple[int | None, int | None],
    minimum: float | None,
    interval: SeriesInterval,
) -> None:
    async def by_summaries(_: Catalogue) -> None:
        of = await statistics_of(database).of(Selection(span[0], span[1], MagnitudeRange(minimum)))
        await of.series(interval)
        await of.largest()

    async def by_events(_: Catalogue) -> None:
        of = await statistics_of(database).of(selection)
        await of.depths(10)
        await of.grid(10)
        await of.b_positive(0.1, None)
        await (await of.gutenberg_richter(Completeness(0.5))).verdict()
        await of.largest()

    await charged(database, by_summaries)
    await charged(database, by_events)


async def test_a_page_by_time_alone_costs_nothing_more_and_neighbours_what_has_to_be_looked_through(
    database: CountedDatabase,
) -> None:
    assert await charged(database, lambda c: c.page(Selection(), Paging(1000)), page=1000) == 0

    around = Selection.around(THE_EVENTS[-1], radius_km=1.0, days=3653)
    assert await charged(database, lambda c: c.page(around, Paging(1)), page=1) >= EVENTS // ROWS_TESTED_PER_POINT


async def test_a_filter_with_many_conditions_costs_as_many_usual_ones(database: CountedDatabase) -> None:
    spent = []
    for number in (1, 40):
        nowhere = Selection(any_of=tuple(Selection(place=f"nowhere {each}") for each in range(number)))
        spent.append(await charged(database, lambda c, of=nowhere: c.page(of, Paging(1))))  # type: ignore[misc]
    assert spent == [40 + 1, 6 * 40 + 17]  # the rows, and the bounds of each day by each condition


async def test_an_operation_ends_where_its_points_do(database: CountedDatabase) -> None:
    database.tested = database.given = 0
    nothing = Selection(place="nowhere")
    with an_account(most=10) as account:
        pages = (catalogue_of(database).page(nothing, Paging(1)) for _ in range(10))
        outcomes = await asyncio.gather(*pages, return_exceptions=True)

    assert any(isinstance(outcome, QueryTooComplex) for outcome in outcomes)
    assert account.spent <= 10
    assert database.tested <= 11 * ROWS_TESTED_PER_POINT
    with an_account(most=10), pytest.raises(QueryTooComplex, match="or order by time"):
        await catalogue_of(database).page_by_magnitude(nothing, Paging(1))
