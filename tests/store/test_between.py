"""A page of any list is the one that Relay defines, wherever its cursors point."""

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from strawberry.utils.await_maybe import await_maybe

from graph.core.paging import NOT_COUNTED, Paging, Position, Total
from graph.store.between import (
    COUNTED_AT_ONCE,
    FIRST_COUNTED,
    MOST_COUNTED,
    TOO_MANY,
    Between,
    ItemsFound,
    Place,
    page_between,
)
from graph.work.account import ROWS_READ_PER_POINT, charge_rows
from tests.effort import rounds
from tests.work.accounts import an_account


@dataclass(frozen=True)
class SortedList:
    """A list in memory, as a store reads it."""

    places: Sequence[Place]  # in ascending order

    async def read(self, size: int, within: Between, *, forward: bool) -> ItemsFound:
        items = [{"place": place} for place in self.places if within.holds(place)][:: 1 if forward else -1]
        return ItemsFound(items[:size], len(items) > size, 3)


def place_of(item: Position) -> Place:
    place: Place = item["place"]
    return place


places = st.tuples(st.integers(0, 6), st.sampled_from("abc"))
pointers = st.none() | places.map(lambda place: {"place": place})
pagings: st.SearchStrategy[Paging] = st.builds(Paging, st.integers(0, 5), st.booleans(), pointers, pointers)


@settings(max_examples=rounds(2000))
@given(st.lists(places, unique=True).map(sorted), pagings, st.booleans())
async def test_a_page_is_the_one_that_relay_defines(listed: list[Place], paging: Paging, forward: bool) -> None:
    page = await page_between(SortedList(listed).read, paging, forward=forward, record_of=place_of, place_of=place_of)

    order = listed if forward else listed[::-1]
    start, stop = (place_of(position) if position else None for position in (paging.after, paging.before))
    after = [n for n, place in enumerate(order) if start and not _is_behind(place, start, forward)]
    before = [n for n, place in enumerate(order) if stop and not _is_behind(stop, place, forward)]
    first, end = len(after), len(order) - len(before)
    window = range(first, max(first, end))
    shown = window[max(len(window) - paging.size, 0) :] if paging.backward else window[: paging.size]

    assert page.records == [order[n] for n in shown]
    assert page.partitions == 3
    assert await page.read_total() == len(listed)
    cut = len(window) > paging.size
    # Without records, what lies on the far side of the cursor that the page begins at precedes it.
    if paging.backward:
        assert page.has_previous is cut
        beyond = order[shown[-1] + 1 :] if shown else before
        assert await await_maybe(page.has_next) is (paging.before is not None and bool(beyond))
    else:
        assert page.has_next is cut
        beyond = order[: shown[0]] if shown else after
        assert await await_maybe(page.has_previous) is (paging.after is not None and bool(beyond))


async def read_total(length: int) -> Total:
    listed = SortedList([(n,) for n in range(length)])
    page = await page_between(listed.read, Paging(1), forward=False, record_of=place_of, place_of=place_of)
    return await page.read_total()


async def test_a_list_is_counted_to_a_bound_and_charged_for_all_but_its_first_items() -> None:
    with an_account() as account:
        spent = [(await read_total(length), account.spent) for length in (FIRST_COUNTED, FIRST_COUNTED + 1)]
        assert spent == [(FIRST_COUNTED, 0), (FIRST_COUNTED + 1, COUNTED_AT_ONCE // ROWS_READ_PER_POINT)]
        assert await read_total(MOST_COUNTED) == MOST_COUNTED
        assert await read_total(MOST_COUNTED + FIRST_COUNTED + 1) == TOO_MANY


async def test_a_count_that_may_not_read_so_much_has_a_reason_and_leaves_the_rest_to_the_operation() -> None:
    async def read(size: int, within: Between, *, forward: bool) -> ItemsFound:
        """Read a list of items that are hard to find."""
        await charge_rows(read=MOST_COUNTED)
        return ItemsFound([{"place": (1,)}][:size], True, 1)

    with an_account() as account:
        page = await page_between(read, Paging(1), forward=True, record_of=place_of, place_of=place_of)
        assert await page.read_total() == NOT_COUNTED
        assert account.spent == (2 * MOST_COUNTED + COUNTED_AT_ONCE) // ROWS_READ_PER_POINT
        await charge_rows(read=3 * MOST_COUNTED)
    with an_account(most=1):
        assert await read_total(FIRST_COUNTED + 1) == NOT_COUNTED


def _is_behind(place: Place, other: Place, forward: bool) -> bool:
    return place > other if forward else place < other
