"""Pages of the catalogue: the walk equals the store, and every page is the one that Relay defines."""

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strawberry.utils.await_maybe import await_maybe

from graph.core.days import DAY_MS, FIRST_MS, LAST_MS
from graph.core.paging import PageSizes, Paging, Position
from graph.domains.earthquakes.areas import Circle
from graph.domains.earthquakes.catalogue import Catalogue, EventPage
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import EVENTS, Event
from graph.domains.earthquakes.selection import Selection
from graph.store.contract import Delete
from tests.domains.earthquakes.builders import NOON, an_event, at, catalogue_of, events_at, ids, stored
from tests.domains.earthquakes.oracle import Expected, expected_page, place_in_time, selects
from tests.domains.earthquakes.strategies import A_FEW, catalogues, positions, selections

ALL = Selection()


async def in_order(catalogue: Catalogue, *, ascending: bool) -> list[Event]:
    """Every event in one page; within a tie the order is the store's own."""
    page = await catalogue.page(ALL, Paging(1000), ascending=ascending)
    return list(page.records)


async def pages(
    catalogue: Catalogue, selection: Selection, size: int, *, backward: bool = False, ascending: bool = False
) -> list[EventPage]:
    """All pages as a client turns them, each from the outermost cursor of the one before."""
    turned: list[EventPage] = []
    cursor = None
    while len(turned) < 100:
        if backward:
            paging = Paging.of(EVENTS, PageSizes(), last=size, before=cursor)
        else:
            paging = Paging.of(EVENTS, PageSizes(), first=size, after=cursor)
        page = await catalogue.page(selection, paging, ascending=ascending)
        turned.append(page)
        if not page.has_more:
            return turned
        cursor = page.records[0 if backward else -1].position.cursor
    raise AssertionError("the pages do not end")


async def sides(page: EventPage) -> tuple[bool, bool]:
    """Whether something precedes the page, and whether something follows it."""
    return await await_maybe(page.has_previous), await await_maybe(page.has_next)


def cut(events: Sequence[Event], size: int) -> list[list[Event]]:
    return [list(events[first : first + size]) for first in range(0, len(events), size)] or [[]]


@A_FEW
@given(events=catalogues, selection=selections, size=st.integers(1, 7), ascending=st.booleans())
async def test_all_pages_together_are_the_matching_events_once_each_in_order_of_time(
    engine: str, events: list[Event], selection: Selection, size: int, ascending: bool
) -> None:
    async with stored(engine, events) as database:
        catalogue = catalogue_of(database)
        order = await in_order(catalogue, ascending=ascending)
        times = [event.event_ts_ms for event in order]
        assert times == sorted(times, reverse=not ascending)
        assert sorted(ids(order)) == sorted(ids(events))
        matching = [event for event in order if selects(selection, event)]

        forward = await pages(catalogue, selection, size, ascending=ascending)
        assert [page.records for page in forward] == cut(matching, size)
        last = len(forward) - 1
        assert [await sides(page) for page in forward] == [(n > 0, n < last) for n in range(len(forward))]

        backward = await pages(catalogue, selection, size, backward=True, ascending=ascending)
        assert [page.records[::-1] for page in backward] == cut(matching[::-1], size)
        assert [await sides(page) for page in backward] == [(n < last, n > 0) for n in range(len(backward))]


@A_FEW
@given(events=catalogues, selection=selections, ascending=st.booleans(), data=st.data())
async def test_a_page_is_the_one_that_relay_defines_for_any_cursors(
    engine: str, events: list[Event], selection: Selection, ascending: bool, data: st.DataObject
) -> None:
    async with stored(engine, events) as database:
        catalogue = catalogue_of(database)
        order = await in_order(catalogue, ascending=ascending)
        cursor = st.none() | positions(events)
        for _ in range(4):
            paging = Paging(
                data.draw(st.integers(0, 4)), data.draw(st.booleans()), data.draw(cursor), data.draw(cursor)
            )
            page = await catalogue.page(selection, paging, ascending=ascending)
            found = Expected(list(page.records), await await_maybe(page.has_next), await await_maybe(page.has_previous))
            place_of = partial(place_in_time, order, ascending=ascending)
            assert found == expected_page(order, selection, paging, place_of), paging


@pytest.mark.parametrize("backward", [False, True])
async def test_a_tie_longer_than_a_page_comes_whole(engine: str, backward: bool) -> None:
    events = events_at(NOON - 1, *[NOON] * 9, NOON + 1)
    async with stored(engine, events) as database:
        catalogue = catalogue_of(database)
        order = await in_order(catalogue, ascending=True)

        turned = await pages(catalogue, ALL, 2, backward=backward, ascending=True)
        if backward:
            turned.reverse()

        assert [event for page in turned for event in page.records] == order
        assert (order[0].event_id, order[-1].event_id) == ("e000", "e010")
        assert sorted(len(page.records) for page in turned) == [1, 2, 2, 2, 2, 2]


async def test_a_page_ends_before_a_cursor_within_a_tie(engine: str) -> None:
    async with stored(engine, events_at(*[NOON] * 7)) as database:
        catalogue = catalogue_of(database)
        for ascending in (True, False):
            order = await in_order(catalogue, ascending=ascending)
            for first in range(7):
                for last in range(7):
                    after, before = order[first].position, order[last].position
                    page = await catalogue.page(ALL, Paging(7, after=after, before=before), ascending=ascending)
                    assert page.records == order[first + 1 : last]
                    page = await catalogue.page(ALL, Paging(2, True, after, before), ascending=ascending)
                    assert page.records == order[first + 1 : last][-2:]


async def test_a_cursor_of_no_event_within_a_tie_divides_it_in_two(engine: str) -> None:
    async with stored(engine, events_at(*[NOON] * 6)) as database:
        catalogue = catalogue_of(database)
        order = await in_order(catalogue, ascending=False)
        for key in ("a", "e0025", "e003x", "zz"):
            nowhere = Position(EVENTS, NOON, key)
            behind = await catalogue.page(ALL, Paging(10, after=nowhere))
            until = await catalogue.page(ALL, Paging(10, backward=True, before=nowhere))
            assert [*until.records, *behind.records] == order
            assert await sides(behind) == (bool(until.records), False)
            assert await sides(until) == (False, bool(behind.records))


async def test_a_cursor_stays_valid_after_its_event_is_deleted(engine: str) -> None:
    async with stored(engine, events_at(*[NOON] * 3, *[NOON + DAY_MS] * 3)) as database:
        catalogue = catalogue_of(database)
        order = await in_order(catalogue, ascending=False)
        for place in (1, 2, 3, 4):
            assert await database.delete(Delete(EVENT.key_for(order[place].event_id)))
            gone = order[place].position

            behind = await catalogue.page(ALL, Paging(10, after=gone))
            until = await catalogue.page(ALL, Paging(10, backward=True, before=gone))

            assert (until.records, behind.records) == (order[:1], order[place + 1 :])
            assert await sides(behind) == (True, False)
            assert await sides(until) == (False, True)


@pytest.mark.parametrize("ascending", [False, True])
async def test_a_cursor_outside_the_selection_is_before_or_after_all_of_it(engine: str, ascending: bool) -> None:
    day = at("2020-02-29T00:00:00")
    inside = [day + hour * 3_600_000 for hour in (6, 12, 18)]
    async with stored(engine, events_at(day - DAY_MS, day, *inside, day + DAY_MS - 1, day + DAY_MS)) as database:
        catalogue = catalogue_of(database)
        narrow = Selection(start_ms=inside[0], end_ms=inside[2])
        for time_ms in (FIRST_MS, day - DAY_MS, day, inside[0] - 1, inside[2] + 1, day + DAY_MS - 1, LAST_MS):
            outside = Position(EVENTS, time_ms, "e001")
            precedes = (time_ms < inside[0]) == ascending
            whole = await catalogue.page(narrow, Paging(3), ascending=ascending)

            behind = await catalogue.page(narrow, Paging(3, after=outside), ascending=ascending)
            assert behind.records == (whole.records if precedes else [])
            assert await sides(behind) == (not precedes, False)

            until = await catalogue.page(narrow, Paging(3, backward=True, before=outside), ascending=ascending)
            assert until.records == ([] if precedes else whole.records)
            assert await sides(until) == (False, precedes)


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("backward", [False, True])
async def test_paging_between_two_cursors_ends(engine: str, ascending: bool, backward: bool) -> None:
    async with stored(engine, events_at(*range(NOON, NOON + 8))) as database:
        catalogue = catalogue_of(database)
        order = await in_order(catalogue, ascending=ascending)
        after, before = order[0].position, order[5].position
        seen: list[Event] = []
        for more in (True, False):
            page = await catalogue.page(ALL, Paging(2, backward, after, before), ascending=ascending)
            seen = [*page.records, *seen] if backward else [*seen, *page.records]
            assert await await_maybe(page.has_previous if backward else page.has_next) is more
            after, before = (after, seen[0].position) if backward else (seen[-1].position, before)

        assert seen == order[1:5]


@pytest.mark.parametrize(
    "nothing",
    [
        Selection(start_ms=NOON + 1, end_ms=NOON + 1),
        Selection(end_ms=NOON - 1),
        Selection(magnitudes=MagnitudeRange(4.6)),
        Selection(circle=Circle(0, 0, 60)),  # of which the events lie in a corner of its box
    ],
    ids=["other times", "no times", "other magnitudes", "elsewhere"],
)
async def test_an_empty_selection_has_no_page_on_either_side(engine: str, nothing: Selection) -> None:
    async with stored(engine, events_at(NOON, NOON, NOON + 2, mag=4.5, lat=0.5, lon=0.5)) as database:
        catalogue = catalogue_of(database)
        for event in await in_order(catalogue, ascending=True):
            for paging in (Paging(5, after=event.position), Paging(5, True, before=event.position)):
                for ascending in (False, True):
                    page = await catalogue.page(nothing, paging, ascending=ascending)
                    assert (page.records, await sides(page)) == ([], (False, False))


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00", "1969-12-31T23:59:59.999", "9999-12-31T23:59:59.999"])
async def test_an_event_of_any_year_is_found_by_its_own_millisecond(engine: str, time: str) -> None:
    neighbours = [t for t in (at(time) - 1, at(time), at(time) + 1) if FIRST_MS <= t <= LAST_MS]
    async with stored(engine, events_at(*neighbours)) as database:
        page = await catalogue_of(database).page(Selection(start_ms=at(time), end_ms=at(time)), Paging(5))

        assert [event.event_ts_ms for event in page.records] == [at(time)]
        assert await sides(page) == (False, False)


@pytest.mark.parametrize(
    "beyond", [Selection(start_ms=LAST_MS + 1), Selection(end_ms=FIRST_MS - 1)], ids=["after", "before"]
)
async def test_bounds_beyond_the_calendar_select_nothing(engine: str, beyond: Selection) -> None:
    async with stored(engine, events_at(FIRST_MS, NOON, LAST_MS)) as database:
        page = await catalogue_of(database).page(beyond, Paging(5))

        assert (page.records, page.partitions, page.has_more) == ([], 0, False)
        assert await page.total() == 0


async def test_an_empty_catalogue_has_an_empty_page(engine: str) -> None:
    async with stored(engine, []) as database:
        catalogue = catalogue_of(database)
        assert await catalogue.is_empty()
        somewhere = Position(EVENTS, NOON, "us1")
        for paging in (Paging(50), Paging(50, True), Paging(0), Paging(5, after=somewhere, before=somewhere)):
            page = await catalogue.page(ALL, paging)
            assert (page.records, page.partitions, await sides(page)) == ([], 0, (False, False))
        assert await catalogue.total(ALL) == 0


async def test_an_event_is_found_by_its_id_as_it_was_ingested(engine: str) -> None:
    full = an_event(
        "nc73919986", NOON, 4.55, lat=-90.0, lon=180.0, depth=0.0, mag_type="mww", type="earthquake", status="reviewed",
        updated=NOON + 1, url="https://example.org/nc73919986", tsunami=False, felt=0, alert="green", sig=1000,
    )  # fmt: skip
    bare = an_event("us1", NOON, 0.0, depth=None, type=None)
    async with stored(engine, [full, bare]) as database:
        catalogue = catalogue_of(database)
        assert await catalogue.event("nc73919986") == full
        assert await catalogue.event("us1") == bare
        assert await catalogue.event("us2") is None
        assert await catalogue.event("") is None
        assert await catalogue.event("\0") is None
        assert await catalogue.events(["us1", "us2", "us1"]) == {"us1": bare}
        assert not await catalogue.is_empty()
