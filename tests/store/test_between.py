"""A page of any list is the one that Relay defines, wherever its cursors point."""

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from strawberry.utils.await_maybe import await_maybe

from graph.core.paging import Paging, Position
from graph.store.between import Between, ItemsFound, Place, page_between
from tests.effort import rounds


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


def _is_behind(place: Place, other: Place, forward: bool) -> bool:
    return place > other if forward else place < other
