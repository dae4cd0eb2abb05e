"""Pages of the catalogue by time and by magnitude: the walk equals the store, and every page is as Relay defines it."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strawberry.utils.await_maybe import await_maybe

from graph.core.days import DAY_MS, FIRST_MS, LAST_MS
from graph.core.paging import PageSizes, Paging
from graph.domains.earthquakes.catalogue import Catalogue, EventPage
from graph.domains.earthquakes.catalogue.by_magnitude import BY_MAGNITUDE
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import BY_TIME, Event
from graph.domains.earthquakes.revisions.views import PRESENT, View
from graph.domains.earthquakes.selection import Selection
from graph.geography.areas import Circle
from tests.domains.earthquakes.builders import NOON, an_event, at, catalogue_of, events_at, stored
from tests.domains.earthquakes.oracle import PLACE_OF, Expected, expected_page, place_in, selects
from tests.domains.earthquakes.strategies import A_FEW, catalogues, selections
from tests.effort import THOROUGH

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
            assert await turned[-1].total() == len(matching)


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
            assert (page.records, page.partitions, page.has_more, await page.total()) == ([], 0, False, 0)


async def test_an_event_is_found_by_its_id_as_it_was_ingested(engine: str) -> None:
    bare = an_event("us1", NOON, 0.0, depth=None, type=None)
    async with stored(engine, [bare]) as database:
        catalogue = catalogue_of(database)
        found = [await catalogue.event(event_id) for event_id in ("us1", "us2", "", "\0")]
        assert found == [bare, None, None, None]
        assert await catalogue.events(["us1", "us2", "us1"]) == {"us1": bare}
