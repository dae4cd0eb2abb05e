"""Pages of the catalogue by time and by magnitude: the walk equals the store, and every page is as Relay defines it.

Also while events are ingested before, behind, beside and under a client's cursor.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from strawberry.utils.await_maybe import await_maybe

from graph.core.days import DAY_MS, FIRST_MS, LAST_MS
from graph.core.paging import PageSizes, Paging, Position
from graph.domains.earthquakes.catalogue import Catalogue, EventPage
from graph.domains.earthquakes.catalogue.by_magnitude import BY_MAGNITUDE
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import BY_TIME, Event
from graph.domains.earthquakes.revisions.views import PRESENT, View
from graph.domains.earthquakes.selection import Selection
from graph.geography.areas import Circle
from tests.domains.earthquakes.builders import NOON, an_event, at, catalogue_of, events_at, ids, ingest, stored
from tests.domains.earthquakes.oracle import PLACE_OF, Expected, expected_page, place_in, selects
from tests.domains.earthquakes.strategies import A_FEW, catalogues, selections
from tests.effort import THOROUGH, rounds

ALL = Selection()
PLACES: dict[str, Any] = {"time": BY_TIME.place_of, "magnitude": BY_MAGNITUDE.place_of}
"""Order → what reads its cursors."""

in_both_orders = pytest.mark.parametrize("order", PLACES)


async def page_of(
    catalogue: Catalogue,
    order: str,
    selection: Selection,
    paging: Paging,
    *,
    ascending: bool = False,
    view: View = PRESENT,
) -> EventPage:
    """A page by time or by magnitude."""
    read: Any = catalogue.page if order == "time" else catalogue.page_by_magnitude
    page: EventPage = await read(selection, paging, ascending=ascending, view=view)
    return page


async def in_order(catalogue: Catalogue, order: str = "time", *, ascending: bool) -> list[Event]:
    """Every event in one page."""
    return same((await page_of(catalogue, order, ALL, Paging(1000), ascending=ascending)).records)


def same(events: Sequence[Event]) -> list[Event]:
    """The events as records of the ordinary class."""
    return [Event(event.item) for event in events]


async def pages(
    catalogue: Catalogue,
    order: str,
    selection: Selection,
    size: int,
    *,
    backward: bool = False,
    ascending: bool = False,
    view: View = PRESENT,
) -> list[EventPage]:
    """All pages as a client turns them, each from the outermost cursor of the one before."""
    turned: list[EventPage] = []
    cursor = None
    while len(turned) < 100:
        sizes: dict[str, Any] = {"last": size, "before": cursor} if backward else {"first": size, "after": cursor}
        paging = Paging.read(PLACES[order], PageSizes(), **sizes)
        page = await page_of(catalogue, order, selection, paging, ascending=ascending, view=view)
        turned.append(page)
        if not page.has_more:
            return turned
        cursor = page.records[0 if backward else -1].cursor
    raise AssertionError("the pages do not end")


async def sides(page: EventPage) -> tuple[bool, bool]:
    """Whether something precedes the page, and whether something follows it."""
    return await await_maybe(page.has_previous), await await_maybe(page.has_next)


def cut(events: Sequence[Event], size: int) -> list[list[Event]]:
    return [list(events[first : first + size]) for first in range(0, len(events), size)] or [[]]


TIED = [
    *(an_event(f"e{n:03}", NOON, mag) for n, mag in enumerate([2.0, 4.55, 2.0, 2.0, 2.0, 4.6])),
    *(an_event("e006", NOON + 1, 2.0), an_event("e007", NOON - 1, 2.0), an_event("e008", NOON - DAY_MS, -0.01)),
    *(an_event(f"e01{n}", NOON + n * DAY_MS // 2, mag) for n, mag in enumerate([-1e-130, 0.0, 1e-130, 0.0])),
]
"""A tie in time and one in magnitude, either longer than a page; the edge of a day; magnitudes around zero."""


@in_both_orders
@A_FEW
@given(events=catalogues, selection=selections, size=st.integers(1, 7), ascending=st.booleans())
@example(events=TIED, selection=ALL, size=2, ascending=True)
@example(events=TIED, selection=Selection(magnitudes=MagnitudeRange(1e-300)), size=2, ascending=True)
@example(events=TIED, selection=Selection(magnitudes=MagnitudeRange(-1e-300, 1e-300)), size=2, ascending=False)
@example(events=[], selection=ALL, size=2, ascending=True)
async def test_all_pages_together_are_the_matching_events_once_each_in_order(
    engine: str, order: str, events: list[Event], selection: Selection, size: int, ascending: bool
) -> None:
    async with stored(engine, events) as database:
        catalogue = catalogue_of(database)
        assert await catalogue.is_empty() is (not events)
        whole = await in_order(catalogue, order, ascending=ascending)
        assert whole == sorted(events, key=PLACE_OF[order], reverse=not ascending)
        matching = [event for event in whole if selects(selection, event)]

        for backward in (False, True):
            turned = await pages(catalogue, order, selection, size, backward=backward, ascending=ascending)
            step = -1 if backward else 1
            assert [same(page.records)[::step] for page in turned] == cut(matching[::step], size)
            last = len(turned) - 1
            ends = [(n > 0, n < last)[::step] for n in range(len(turned))]
            assert [await sides(page) for page in turned] == ends
            assert await turned[-1].read_total() == len(matching)


CHOSEN = [
    ALL,
    Selection(start_ms=NOON, end_ms=NOON + DAY_MS // 2),  # most cursors lie outside of it
    Selection(magnitudes=MagnitudeRange(4.7)),
    Selection(circle=Circle(35, -117, 60)),  # of which the events of a tie lie in a corner of its box
]
NOWHERE = [an_event("e000", FIRST_MS + 500, -2.0), an_event("e002x", NOON, 3.0), an_event("zz", LAST_MS - 500, 10.0)]
TAKEN = {"sqlite": 80 if THOROUGH else 48, "dynamodb": 40 if THOROUGH else 16}  # pages of each example


@in_both_orders
@A_FEW
@given(events=catalogues, selection=selections, chance=st.randoms(use_true_random=False))
@example(events=TIED, selection=ALL, chance=Random(1))
@example(events=[], selection=ALL, chance=Random(1))
async def test_a_page_between_any_cursors_is_the_one_that_relay_defines(
    engine: str, order: str, events: list[Event], selection: Selection, chance: Random
) -> None:
    """Of events in ties and beside them, of no event, and beyond the selection."""
    async with stored(engine, events) as database:
        catalogue = catalogue_of(database)
        wholes = {ascending: await in_order(catalogue, order, ascending=ascending) for ascending in (False, True)}
        marks = [None, *(event.item for event in (*wholes[True][:12], *NOWHERE))]
        every = list(product(marks, marks, (0, 2, 9), (False, True), (False, True), (selection, *CHOSEN)))
        for after, before, size, backward, ascending, chosen in chance.sample(every, TAKEN[engine]):
            paging = Paging(size, backward, after, before)
            page = await page_of(catalogue, order, chosen, paging, ascending=ascending)
            found = Expected(same(page.records), await await_maybe(page.has_next), await await_maybe(page.has_previous))
            place_of = partial(place_in, wholes[ascending], PLACE_OF[order], ascending=ascending)
            assert found == expected_page(wholes[ascending], chosen, paging, place_of), (paging, chosen, ascending)


async def test_an_event_of_any_year_is_found_by_its_own_millisecond(engine: str) -> None:
    times = [FIRST_MS, at("1969-12-31T23:59:59.999"), LAST_MS]
    neighbours = [t for time in times for t in (time - 1, time, time + 1) if FIRST_MS <= t <= LAST_MS]
    async with stored(engine, events_at(*neighbours)) as database:
        catalogue = catalogue_of(database)
        for time in times:
            page = await catalogue.page(Selection(start_ms=time, end_ms=time), Paging(5))
            assert [event.event_ts_ms for event in page.records] == [time]
            assert await sides(page) == (False, False)
        for beyond in (Selection(start_ms=LAST_MS + 1), Selection(end_ms=FIRST_MS - 1)):
            page = await catalogue.page(beyond, Paging(5))
            assert (page.records, page.partitions, page.has_more, await page.read_total()) == ([], 0, False, 0)


async def test_an_event_is_found_by_its_id_as_it_was_ingested(engine: str) -> None:
    bare = an_event("us1", NOON, 0.0, depth=None, type=None)
    async with stored(engine, [bare]) as database:
        catalogue = catalogue_of(database)
        found = [await catalogue.event(event_id) for event_id in ("us1", "us2", "", "\0")]
        assert found == [bare, None, None, None]
        assert await catalogue.events(["us1", "us2", "us1"]) == {"us1": bare}


SELECTION = Selection(magnitudes=MagnitudeRange(2.0))
offsets = st.sampled_from([0, 0, 0, 1, -1, DAY_MS, -DAY_MS, 12 * 3_600_000 - 1, 12 * 3_600_000, 400 * DAY_MS])
magnitudes = st.sampled_from([1.9, 2.0, 4.5])


class PagingClient(RuleBasedStateMachine):
    """One client with one cursor, and an ingest that chooses its times to annoy it."""

    engine: str

    def __init__(self) -> None:
        super().__init__()
        self.stack = AsyncExitStack()
        self.loop = asyncio.Runner()
        self.named = 0
        self.ahead: list[Event] = []  # ingested where the client has still to come
        self.seen: list[Event] = []  # in the order of the connection, whichever way it is paged
        self.cursor: Position | None = None
        self.ended = False

    def run(self, work: Any) -> Any:
        return self.loop.run(work)

    def new_event(self, time_ms: int, mag: float) -> Event:
        """An event whose id sorts anywhere among the others'."""
        self.named += 1
        return an_event(f"us{self.named * 7919 % 1000:03}", time_ms, mag)

    @initialize(
        times=st.lists(st.tuples(offsets, magnitudes), max_size=12),
        size=st.integers(1, 4),
        backward=st.booleans(),
        ascending=st.booleans(),
    )
    def begin(self, times: list[tuple[int, float]], size: int, backward: bool, ascending: bool) -> None:
        self.size, self.backward, self.ascending = size, backward, ascending
        events = [self.new_event(NOON + offset, mag) for offset, mag in times]
        self.database = self.run(self.stack.enter_async_context(stored(self.engine, events)))
        self.catalogue = catalogue_of(self.database)
        whole = self.run(self.catalogue.page(SELECTION, Paging(1000), ascending=ascending))
        self.at_start: list[Event] = list(whole.records)
        assert sorted(ids(self.at_start)) == sorted(event.event_id for event in events if event.mag >= 2.0)

    @rule(offset=offsets, mag=magnitudes, elsewhere=st.booleans(), count=st.integers(1, 3))
    def ingest_near_the_cursor(self, offset: int, mag: float, elsewhere: bool, count: int) -> None:
        near = NOON if elsewhere or self.cursor is None else self.cursor["eventTsMs"]
        events = [self.new_event(near + offset, mag) for _ in range(count)]
        assert self.run(ingest(self.database, events)) == count
        later = self.ascending != self.backward
        if self.cursor is None or self.ended:
            return
        for event in events:
            if event.mag >= 2.0 and event.event_ts_ms != self.cursor["eventTsMs"]:
                self.ahead += [event] if (event.event_ts_ms > self.cursor["eventTsMs"]) == later else []

    @precondition(lambda self: not self.ended)
    @rule()
    def turn_the_page(self) -> None:
        before, after = (self.cursor, None) if self.backward else (None, self.cursor)
        paging = Paging(self.size, self.backward, after, before)
        page = self.run(self.catalogue.page(SELECTION, paging, ascending=self.ascending))
        self.seen = [*page.records, *self.seen] if self.backward else [*self.seen, *page.records]
        self.ended = not page.has_more
        assert len(page.records) == self.size or self.ended
        if page.records:
            self.cursor = page.records[0 if self.backward else -1].item

    def teardown(self) -> None:
        try:
            while hasattr(self, "database") and not self.ended:
                self.turn_the_page()
            if hasattr(self, "database"):
                self.judge()
        finally:
            self.run(self.stack.aclose())
            self.loop.close()

    def judge(self) -> None:
        """What was there at the start came in order, what was stored ahead came too, and nothing came twice."""
        assert len(set(ids(self.seen))) == len(self.seen)
        assert [event for event in self.seen if event in self.at_start] == self.at_start
        assert set(ids(self.ahead)) <= set(ids(self.seen))
        times = [event.event_ts_ms for event in self.seen]
        assert times == sorted(times, reverse=not self.ascending)


@pytest.mark.repeated
def test_nothing_is_skipped_or_repeated_while_events_are_ingested(engine: str) -> None:
    machine = type("PagingClient", (PagingClient,), {"engine": engine})
    examples = settings(A_FEW, max_examples=rounds(20 if engine == "dynamodb" else 60), stateful_step_count=15)
    run_state_machine_as_test(machine, settings=examples)
