"""A user has one watch of an area and a category, few in all, and sees no others'."""

import asyncio
from pathlib import Path

import pytest

from graph.core.errors import BadUserInput, NotThere, TooMany
from graph.domains.area_watches.entities import AREA_WATCH, AREA_WATCHER
from graph.domains.area_watches.model import AreaWatch
from graph.domains.sightings.categories import ALL
from graph.store.ordering import PageRequest
from tests.domains.area_watches.lookouts import ADA, BEA, FIRE, HERE, SHAKING, THERE, Lookout, a_lookout, watches_in
from tests.domains.entities import connections
from tests.domains.sightings.in_store import held_clock


def ids(watches: list[AreaWatch]) -> list[str]:
    """The watches' ids."""
    return [watch.watch_id for watch in watches]


async def stored(lookout: Lookout) -> tuple[list[str], list[str]]:
    """The ids of all watches, as they are found by their users and by their areas."""
    own = [item["watchId"] async for item in lookout.database.scan(AREA_WATCH)]
    watchers = [item["watchId"] async for item in lookout.database.scan(AREA_WATCHER)]
    return sorted(own), sorted(watchers)


async def test_a_watch_is_as_it_was_made_and_made_again_is_the_same(lookout: Lookout) -> None:
    await lookout.report()
    watch = await lookout.watch(ADA, HERE, FIRE)
    await lookout.report()

    assert await lookout.watch(ADA, HERE, FIRE) == watch
    assert watch.values() == {
        "user_id": ADA,
        "watch_id": watch.watch_id,
        "area_slug": HERE,
        "area_in_key": None,
        "id_in_key": None,
        "category": FIRE,
        "since": 1,
        "created_at": watch.created_at,
    }
    assert await lookout.watches.of_user(ADA) == [watch]
    assert watch.identity == ("AreaWatch", watch.watch_id)
    assert watch.item["createdAt"] == lookout.clock()
    others = [await lookout.watch(*other) for other in [(ADA, HERE, ALL), (ADA, THERE, FIRE), (BEA, HERE, FIRE)]]
    assert len({*ids([watch, *others])}) == 4
    assert await stored(lookout) == (sorted(ids([watch, *others])),) * 2


async def test_a_watch_is_deleted_once_and_by_its_user_and_can_be_made_again(lookout: Lookout) -> None:
    watch, other = await lookout.watch(), await lookout.watch(category=FIRE)
    with pytest.raises(NotThere):
        await lookout.watches.delete(BEA, watch.watch_id)
    deleting = [lookout.watches.delete(ADA, watch.watch_id) for _ in range(4)]
    outcomes = await asyncio.gather(*deleting, return_exceptions=True)

    assert sorted(type(each).__name__ for each in outcomes) == ["NoneType", "NotThere", "NotThere", "NotThere"]
    assert await stored(lookout) == ([other.watch_id],) * 2
    again = await lookout.watch()
    assert again.watch_id != watch.watch_id
    assert await stored(lookout) == (sorted(ids([other, again])),) * 2


async def test_a_user_has_no_more_watches_than_the_limit_and_is_given_those_that_exist(engine: str) -> None:
    async with a_lookout(engine, most=2) as lookout:
        first, second = await lookout.watch(), await lookout.watch(area=THERE)
        with pytest.raises(TooMany, match="You have 2 watched areas, which is the limit"):
            await lookout.watch(category=FIRE)
        assert await lookout.watch() == first
        await lookout.watch(BEA, category=FIRE)
        await lookout.watches.delete(ADA, second.watch_id)
        third = await lookout.watch(category=FIRE)

        assert await lookout.watches.of_user(ADA) == [first, third]


async def test_an_impossible_watch_is_refused() -> None:
    async with a_lookout("sqlite") as lookout:
        for area, category in (("", ALL), ("a" * 65, ALL), ("a#b", ALL), (HERE, ""), (HERE, "a#b")):
            with pytest.raises(BadUserInput):
                await lookout.watch(ADA, area, category)
        assert await stored(lookout) == ([], [])


async def test_a_user_who_makes_watches_in_several_processes_at_once_gets_no_two_alike_nor_too_many(
    engine: str, tmp_path: Path
) -> None:
    clock = held_clock()
    async with connections(engine, tmp_path, 3, clock) as databases:
        processes = [watches_in(each, clock, most=3) for each in databases]
        making = [each.create(ADA, area, FIRE) for area in (HERE, THERE, "x", "y", "z") for each in processes]
        outcomes = await asyncio.gather(*making, return_exceptions=True)
        watches = await processes[0].of_user(ADA)

    made = {each.watch_id for each in outcomes if isinstance(each, AreaWatch)}
    assert made == set(ids(watches))
    assert len(watches) == len({watch.area_slug for watch in watches}) == 3
    assert {type(each) for each in outcomes} == {AreaWatch, TooMany}


async def test_the_pages_of_a_user_have_its_watches_in_order_of_areas_and_categories(lookout: Lookout) -> None:
    wanted = [(THERE, ALL), (THERE, FIRE), (HERE, FIRE), (HERE, SHAKING), ("x", ALL)]
    for area, category in reversed(wanted):
        await lookout.watch(ADA, area, category)
    await lookout.watch(BEA)
    page = await lookout.watches.page(ADA, PageRequest.of_first(9))

    assert [(each.area_slug, each.category) for each in page.records] == wanted
