"""The store's contract: reading by key, counting and scanning. Every test runs on every engine."""

from typing import Any

import pytest

from graph.store.conditions import Compare
from graph.store.values import InvalidItem
from tests.store.one_entity import OneEntity
from tests.store.samples import BY_TIME, sample, timed


async def test_missing_items_are_omitted(table: OneEntity) -> None:
    items = [sample(f"{n % 7}", f"{n}", n=n) for n in range(230)]
    await table.put_many(items)
    keys = [(item["pk"], item["sk"]) for item in items]

    found = await table.get_many([*keys, ("0", "no"), ("no", "0")])

    assert found == dict(zip(keys, items, strict=True))
    assert await table.get_many([]) == {}
    assert [await table.get(key) for key in (("0", "no"), ("no", "0"))] == [None, None]


async def test_only_the_named_attributes_of_many_items_are_read(table: OneEntity) -> None:
    await table.put_many([sample("a", name="ann", n=1, day="mon"), sample("b", n=2)])

    keys = [("a", "s"), ("b", "s"), ("c", "s")]
    assert await table.get_many(keys, attributes=["n", "name"]) == {
        ("a", "s"): {"n": 1, "name": "ann"},
        ("b", "s"): {"n": 2},
    }
    assert await table.get_many(keys, attributes=["pk"]) == {("a", "s"): {"pk": "a"}, ("b", "s"): {"pk": "b"}}
    assert await table.get_many(keys, attributes=["nothing"]) == {("a", "s"): {}, ("b", "s"): {}}


async def test_items_at_keys_have_their_keys_whatever_else_is_needed(table: OneEntity) -> None:
    items = [sample(f"{n % 7}", f"{n:03}", n=n, day="mon") for n in range(620)]
    await table.put_many(items)
    keys = [(item["pk"], item["sk"]) for item in items]

    for attributes in (None, ["n", "name"], ["pk"]):
        found = await table.database.items_at(table.entity, [*keys, ("0", "no")], attributes=attributes)

        wanted = {*items[0]} if attributes is None else {"pk", "sk", *attributes}
        expected = [{name: item[name] for name in item if name in wanted} for item in items]
        assert sorted(found, key=lambda item: item["sk"]) == expected
        assert list(await table.database.items_at(table.entity, [], attributes=attributes)) == []


async def test_more_than_a_megabyte_is_read_by_its_keys(table: OneEntity) -> None:
    items = [sample("big", f"{n}", text="x" * 390_000) for n in range(50)]
    await table.put_many(items)

    found = await table.get_many([("big", f"{n}") for n in range(50)])

    assert len(found) == 50
    assert all(found["big", f"{n}"] == items[n] for n in range(50))


async def test_numbers_may_be_keys(readings: OneEntity) -> None:
    items = [{"station": 7, "number": n, "value": str(n)} for n in (-(2**63), -1.5, 0, 0.1, 4, 2**53 + 2)]
    await readings.put_many(items)

    assert (await readings.query(readings.design.primary, 7)).items == items
    assert await readings.get((7, 0.1)) == items[3]
    assert await readings.get((7, 4.0)) == items[4]
    assert await readings.get_many([(7, 2**53 + 2), (7, 2**53)]) == {(7, 2**53 + 2): items[5]}

    exact = [{"station": n, "number": 1, "value": str(n)} for n in (2**53, 2**53 + 1, 2**63 - 1, -(2**63))]
    await readings.put_many(exact)
    assert await readings.get((2**53 + 1, 1)) == exact[1]
    assert (await readings.query(readings.design.primary, 2**63 - 1)).items == [exact[2]]


async def test_an_invalid_key_is_refused_and_not_merely_missing(table: OneEntity) -> None:
    keys: list[tuple[Any, ...]] = [("", "s"), ("p", ""), (1, "s"), ("p", 1.0)]
    for key in (*keys, ("p" * 2049, "s"), ("p", "s" * 1025), ("\udfff", "s")):
        with pytest.raises(InvalidItem):
            await table.get(key)
        with pytest.raises(InvalidItem):
            await table.get_many([("p", "s"), key])


async def test_a_scan_and_a_count_go_on_beyond_megabytes(table: OneEntity) -> None:
    items = [timed(f"{n:02}", n, text="x" * 100_000, mag=n) for n in range(30)]
    await table.put_many(items)

    assert sorted([item async for item in table.scan()], key=lambda item: str(item["sk"])) == items
    found = [item async for item in table.scan(attributes=["at", "mag"])]
    assert sorted(found, key=lambda item: int(item["at"])) == [{"at": n, "mag": n} for n in range(30)]
    assert await table.count(BY_TIME, ["mon"]) == 30
    assert await table.count(BY_TIME, ["mon"], where=Compare("at2", "=", 1)) == 0


async def test_a_count_is_of_all_partitions_within_the_bounds(table: OneEntity) -> None:
    await table.put_many(
        [timed(f"{day}{n}", n, day, mag=n % 3, note=f"{n % 2}") for day in ("mon", "tue") for n in range(10)]
    )

    assert await table.count(BY_TIME, ["mon", "tue", "wed"]) == 20
    assert await table.count(BY_TIME, ["tue"], between=(3, 5)) == 3
    assert await table.count(BY_TIME, ["mon", "tue"], between=(8, None)) == 4
    assert await table.count(BY_TIME, ["mon"], between=(5, 4)) == 0
    assert await table.count(BY_TIME, ["mon", "tue"], where=Compare("mag", "=", 2)) == 6
    assert await table.count(BY_TIME, ["mon", "tue"], where=Compare("note", "=", "1")) == 10
    assert await table.count(BY_TIME, []) == 0
