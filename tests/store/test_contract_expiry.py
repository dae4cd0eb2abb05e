"""The store's contract: an item whose TTL has passed does not exist. Every test runs on every engine."""

import pytest

from graph.store.conditions import Absent, Compare, Present
from graph.store.contract import Delete, Put, Update
from graph.store.entity import Item
from tests.store.one_entity import OneEntity
from tests.store.samples import BY_TIME, NOON_SECONDS, SAMPLE, HeldClock, key, sample, sks, timed

EXPIRED = timed("expired", 1, ttl=NOON_SECONDS, mag=1, n=1)
LIVING = timed("living", 2, ttl=NOON_SECONDS + 1, mag=1, n=2)
LASTING = timed("lasting", 3, mag=1, n=3)


@pytest.fixture(autouse=True)
async def three_items(table: OneEntity) -> None:
    await table.put_many([EXPIRED, LIVING, LASTING])


async def everything(table: OneEntity) -> list[Item]:
    return list((await table.query(table.design.primary, "p")).items)


async def test_no_read_by_key_returns_it(table: OneEntity) -> None:
    keys = [("p", sk) for sk in ("expired", "living", "lasting")]

    assert [await table.get(key) for key in keys] == [None, LIVING, LASTING]
    assert await table.get_many(keys) == {keys[1]: LIVING, keys[2]: LASTING}
    assert await table.get_many(keys, attributes=["n"]) == {keys[1]: {"n": 2}, keys[2]: {"n": 3}}
    assert await table.get_many(keys, attributes=["pk"]) == {keys[1]: {"pk": "p"}, keys[2]: {"pk": "p"}}


async def test_no_query_count_or_scan_returns_it(table: OneEntity) -> None:
    where = Compare("mag", "=", 1)

    assert sks((await table.query(BY_TIME, "mon")).items) == ["living", "lasting"]
    assert sks((await table.query(BY_TIME, "mon", where=where)).items) == ["living", "lasting"]
    assert sks((await table.query(BY_TIME, "mon", forward=False, limit=3)).items) == ["lasting", "living"]
    assert sks((await table.query(table.design.primary, "p")).items) == ["lasting", "living"]
    assert sks((await table.query_many(BY_TIME, ["tue", "mon"])).items) == ["living", "lasting"]
    assert await table.count(BY_TIME, ["mon"]) == 2
    assert await table.count(table.design.primary, ["p"], where=where) == 2
    assert sorted([item["sk"] async for item in table.scan()]) == ["lasting", "living"]
    assert sorted([item["sk"] async for item in table.scan(attributes=["sk"])]) == ["lasting", "living"]


async def test_a_page_is_full_without_it(table: OneEntity) -> None:
    await table.put_many([timed(f"old{n}", 0, ttl=NOON_SECONDS - n) for n in range(30)])

    page = await table.query(BY_TIME, "mon", limit=1)

    assert sks(page.items) == ["living"]
    assert sks((await table.query(BY_TIME, "mon", limit=5)).items) == ["living", "lasting"]
    for start, left in ((EXPIRED, ["living", "lasting"]), (page.last_key, ["lasting"])):
        assert sks((await table.query(BY_TIME, "mon", start=start)).items) == left


async def test_an_item_expires_at_its_second(table: OneEntity, clock: HeldClock) -> None:
    clock.now += 999
    assert await table.get(("p", "living")) == LIVING

    clock.now += 1
    assert await table.get(("p", "living")) is None
    assert await everything(table) == [LASTING]

    clock.now += 10**12
    assert await everything(table) == [LASTING]


async def test_a_put_takes_its_place(table: OneEntity) -> None:
    new = sample("p", "expired", new=True)

    assert await table.put(new, if_absent=True) is True

    assert await table.get(("p", "expired")) == new
    assert await table.put(new, if_absent=True) is False
    await table.put_many([sample("p", "expired", new=2)])
    assert await table.get(("p", "expired")) == sample("p", "expired", new=2)
    await table.put(EXPIRED)
    puts = [Put(SAMPLE, sample("p", sk, new=3), if_absent=True) for sk in ("expired", "living")]
    assert await table.transact(puts) == (1,)
    assert await table.transact(puts[:1]) == ()
    assert await table.get(("p", "expired")) == puts[0].item
    assert await table.get(("p", "living")) == LIVING
    assert sks((await table.query(BY_TIME, "mon")).items) == ["living", "lasting"]


async def test_an_update_or_delete_of_it_does_not_apply(table: OneEntity, clock: HeldClock) -> None:
    for condition in (None, Compare("n", "=", 1), Absent("n"), Absent("pk"), Present("pk")):
        update = Update(key("p", "expired"), set={"ttl": NOON_SECONDS + 100}, add={"n": 1}, condition=condition)
        delete = Delete(key("p", "expired"), condition=condition)

        assert await table.update(update) is False
        assert await table.delete(delete) is False
        assert await table.transact([Put(SAMPLE, sample("q")), update]) == (1,)
        assert await table.transact([delete, Put(SAMPLE, sample("q"))]) == (0,)

    clock.now -= 1000  # to look at what is stored
    assert await table.get(("p", "expired")) == EXPIRED
    assert await table.get(("q", "s")) is None


async def test_one_that_lives_is_changed_like_any_other(table: OneEntity) -> None:
    assert await table.update(Update(key("p", "living"), add={"n": 1, "ttl": 60})) is True
    assert await table.delete(Delete(key("p", "lasting"), condition=Compare("n", "=", 3))) is True

    assert await everything(table) == [{**LIVING, "n": 3, "ttl": NOON_SECONDS + 61}]
    assert await table.update(Update(key("p", "living"), set={"ttl": NOON_SECONDS - 0.5})) is True
    assert await everything(table) == []
