"""The store's contract: large readings, and readings over several partitions. Every test runs on every engine."""

import pytest

from graph.store.between import Between
from graph.store.conditions import Compare
from graph.store.query import Query
from graph.store.time_walk import Walk
from tests.store.one_entity import OneEntity
from tests.store.samples import BY_TIME, SAMPLE, sks, timed

DAYS = [f"d{n:02}" for n in range(20)]


async def fill(table: OneEntity, *, empty: frozenset[str] = frozenset(), a_day: int = 3) -> list[str]:
    """A few items a day; gives their sort keys in order of day and time."""
    items = [timed(f"{day}-{n}", n, day, mag=n) for day in DAYS if day not in empty for n in range(a_day)]
    await table.put_many(items)
    return sks(items)


@pytest.mark.parametrize("forward", [True, False])
async def test_a_reading_of_several_megabytes_is_complete(table: OneEntity, forward: bool) -> None:
    items = [timed(f"{n:03}", n // 3, text="x" * 40_000) for n in range(80)]
    await table.put_many(items)

    whole = await table.query(BY_TIME, "mon", forward=forward)
    most = await table.query(BY_TIME, "mon", forward=forward, limit=60)

    assert sorted(sks(whole.items)) == sks(items)
    assert whole.last_key is None
    assert most.items == whole.items[:60]
    assert (await table.query(BY_TIME, "mon", forward=forward, start=most.last_key)).items == whole.items[60:]


async def test_partitions_are_read_in_the_order_given_and_empty_ones_are_passed(table: OneEntity) -> None:
    empty = frozenset(DAYS[:5] + DAYS[7:16])
    expected = await fill(table, empty=empty)

    for days, forward, found in ((DAYS, True, expected), (DAYS[::-1], False, expected[::-1])):
        for limit in (None, 100):
            page = await table.query_many(BY_TIME, days, forward=forward, limit=limit)
            assert (sks(page.items), page.last_key, page.partitions) == (found, None, 20)

    page = await table.query_many(BY_TIME, ["d16", "d05"])
    assert sks(page.items) == ["d16-0", "d16-1", "d16-2", "d05-0", "d05-1", "d05-2"]
    page = await table.query_many(BY_TIME, DAYS[7:16], limit=1)
    assert (page.items, page.last_key, page.partitions) == ([], None, 9)
    assert (await table.query_many(BY_TIME, [])).items == []


async def test_a_page_over_partitions_ends_with_its_limit(table: OneEntity) -> None:
    expected = await fill(table)

    for limit, partitions in ((1, 1), (2, 1), (3, 1), (4, 2), (10, 4), (30, 10), (59, 20)):
        page = await table.query_many(BY_TIME, DAYS, limit=limit)

        assert (sks(page.items), page.partitions) == (expected[:limit], partitions)
        assert page.last_key == {name: page.items[-1][name] for name in ("day", "at", "pk", "sk")}


@pytest.mark.parametrize("forward", [True, False])
async def test_pages_over_partitions_resume_until_everything_came_once(table: OneEntity, forward: bool) -> None:
    expected = await fill(table, empty=frozenset({"d00", "d05", "d06", "d19"}))
    days = DAYS if forward else DAYS[::-1]
    for limit in (1, 2, 4, 7, 60):
        found: list[str] = []
        page = await table.query_many(BY_TIME, days, limit=limit, forward=forward)
        while page.last_key is not None:
            assert len(page.items) == limit
            found += sks(page.items)
            rest = days[days.index(page.last_key["day"]) :]
            page = await table.query_many(BY_TIME, rest, limit=limit, forward=forward, start=page.last_key)
        found += sks(page.items)

        assert found == (expected if forward else expected[::-1])


async def test_bounds_and_filters_hold_in_every_partition(table: OneEntity) -> None:
    await fill(table, a_day=5)

    bounded = await table.query_many(BY_TIME, DAYS, between=(1, 2), limit=5)
    filtered = await table.query_many(BY_TIME, DAYS, where=Compare("mag", "=", 4), limit=3)
    both = await table.query_many(BY_TIME, DAYS, between=(0, 3), where=Compare("mag", ">", 2))

    assert sks(bounded.items) == ["d00-1", "d00-2", "d01-1", "d01-2", "d02-1"]
    assert sks(filtered.items) == ["d00-4", "d01-4", "d02-4"]
    assert sks(both.items) == [f"{day}-3" for day in DAYS]


async def test_a_walk_goes_on_at_a_place_in_a_partition_that_is_no_longer_listed(table: OneEntity) -> None:
    await table.put_many([timed(day, 1, day) for day in ("mon", "tue", "wed")])
    walk = Walk(table.database, Query(entity=SAMPLE, index=BY_TIME, partitions=[("mon",), ("wed",)]))
    place = ("tue", 1, "p", "tue")

    assert sks((await walk.read(9, Between(place), forward=True)).items) == ["wed"]
    assert sks((await walk.read(9, Between(None, place), forward=False)).items) == ["mon"]
