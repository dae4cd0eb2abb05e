"""The store's contract: putting, changing and removing one item. Every test runs on every engine."""

import pytest

from graph.store.conditions import Absent, AnyOf, Compare, Condition, Present
from graph.store.contract import Delete, Put, Update
from graph.store.entity import Item
from graph.store.values import InvalidItem
from tests.store.one_entity import OneEntity
from tests.store.samples import SAMPLE, key, sample


async def test_a_put_replaces_the_whole_item_unless_it_should_be_absent(table: OneEntity) -> None:
    assert await table.put(sample(a=1, b=2)) is True
    assert await table.put(sample(b=3)) is True
    assert await table.put(sample(a=2), if_absent=True) is False
    assert await table.put(sample(sk="other", a=3), if_absent=True) is True

    assert await table.get(("p", "s")) == sample(b=3)
    assert await table.get(("p", "other")) == sample(sk="other", a=3)


async def test_a_put_with_a_condition_replaces_only_an_item_that_fulfils_it(table: OneEntity) -> None:
    newer = Compare("n", "<", 2)
    await table.put(sample(n=1, old=True))

    assert await table.database.put(Put(SAMPLE, sample(n=2), condition=newer)) is True
    assert await table.database.put(Put(SAMPLE, sample(n=3), condition=newer)) is False
    assert await table.database.put(Put(SAMPLE, sample(sk="other", n=0), condition=newer)) is False
    assert await table.database.put(Put(SAMPLE, sample(sk="new", n=0), condition=Absent("n"))) is True

    assert await table.transact([Put(SAMPLE, sample("q")), Put(SAMPLE, sample(n=4), condition=newer)]) == (1,)
    with pytest.raises(InvalidItem):
        await table.database.put(Put(SAMPLE, sample("q"), if_absent=True, condition=Absent("n")))

    assert await table.get(("p", "s")) == sample(n=2)
    assert await table.get_many([("p", "other"), ("q", "s")]) == {}


async def test_an_item_that_leaves_an_index_is_not_found_there(table: OneEntity) -> None:
    by_name = table.design.indexes[1]
    await table.put(sample(team="blue", name="ann"))
    await table.put(sample(team="red", name="ann"))
    assert (await table.query(by_name, "blue")).items == []
    assert (await table.query(by_name, "red")).items == [sample(team="red", name="ann")]

    await table.put(sample(name="ann"))

    assert (await table.query(by_name, "red")).items == []


async def test_any_number_of_items_is_put_at_once(table: OneEntity) -> None:
    items = [sample("many", f"{n:03}", n=n) for n in range(137)]
    await table.put(sample("many", "005", old=True))

    await table.put_many(items)
    await table.put_many([])
    with pytest.raises(InvalidItem):  # two writes at once to one item
        await table.put_many([sample(a=1), sample("q"), sample(a=2)])

    assert (await table.query(table.design.primary, "many")).items == items
    assert len([item async for item in table.scan()]) == len(items)


async def test_an_update_sets_adds_leaves_the_rest_and_makes_what_is_missing(table: OneEntity) -> None:
    await table.put(sample(kept="k", changed="old", n=40, m=0.5))

    assert (
        await table.update(Update(key("p", "s"), set={"changed": "new"}, add={"n": 2, "m": -0.25, "missing": 7}))
        is True
    )

    assert await table.get(("p", "s")) == sample(kept="k", changed="new", n=42, m=0.25, missing=7)
    assert await table.update(Update(key("p", "new"), set={"a": [1], "b": None}, add={"n": 2})) is True
    assert await table.get(("p", "new")) == sample("p", "new", a=[1], b=None, n=2)


async def test_a_conditional_update_applies_where_its_condition_held_before(table: OneEntity) -> None:
    conditions: list[tuple[Condition, bool]] = [
        (Compare("n", "=", 1), True),
        (Compare("n", ">", 1), False),
        (Compare("n", "=", "1"), False),
        (Present("n"), True),
        (Absent("n"), False),
        (Absent("pk"), False),
        (AnyOf((Absent("n"), Compare("n", "<=", 1.0))), True),
    ]
    for condition, holds in conditions:
        await table.put(sample(n=1))

        assert await table.update(Update(key("p", "s"), set={"a": 1}, add={"n": 1}, condition=condition)) is holds

        assert await table.get(("p", "s")) == (sample(n=2, a=1) if holds else sample(n=1)), condition


async def test_every_attribute_of_a_missing_item_is_absent(table: OneEntity) -> None:
    assert await table.update(Update(key("p", "s"), set={"a": 1}, condition=Present("pk"))) is False
    assert await table.update(Update(key("p", "s"), set={"a": 1}, condition=Compare("n", "=", 0))) is False
    assert await table.get(("p", "s")) is None

    assert await table.update(Update(key("p", "s"), set={"a": 1}, condition=Absent("pk"))) is True
    assert await table.get(("p", "s")) == sample(a=1)


async def test_a_delete_removes_an_item_once_and_only_one_that_fulfils_its_condition(table: OneEntity) -> None:
    await table.put(sample(team="blue", name="ann", n=1))
    await table.put(sample("p", "other"))
    await table.put(sample("p", "third", n=1))

    assert await table.delete(Delete(key("p", "s"), condition=Compare("n", "=", 2))) is False
    assert await table.get(("p", "s")) == sample(team="blue", name="ann", n=1)
    assert await table.delete(Delete(key("p", "third"), condition=Compare("n", "=", 1))) is True
    assert await table.delete(Delete(key("p", "s"))) is True
    assert await table.delete(Delete(key("p", "s"))) is False

    assert [item async for item in table.scan()] == [sample("p", "other")]
    assert (await table.query(table.design.indexes[1], "blue")).items == []


async def test_an_invalid_update_changes_nothing(table: OneEntity) -> None:
    item: Item = sample(text="t", n=1, big="x" * 205_000)
    await table.put(item)

    for update in (
        Update(key("p", "s")),
        Update(key("p", "s"), set={"pk": "q"}),
        Update(key("p", "s"), add={"sk": 1}),
        Update(key("p", "s"), set={"n": 1}, add={"n": 1}),
        Update(key("p", "s"), add={"text": 1}),
        Update(key("p", "s"), add={"n": True}),
        Update(key("p", "s"), add={"n": float("nan")}),
        Update(key("p", "s"), set={"day": 7}),
        Update(key("p", "s"), set={"at": "noon"}),
        Update(key("p", "s"), set={"team": ""}),
        Update(key("p", "s"), set={"ttl": "never"}),
        Update(key("p", "s"), set={"": 1}),
        Update(key("p", "s"), set={"a": "\ud800"}),
        Update(key("p", "s"), set={"a": {1, 2}}),
        Update(key("p", "s"), set={"a": "x" * 409_600}),
        Update(key("p", "s"), set={"a": "x" * 205_000}),
        Update(key("", "s"), set={"a": 1}),
        Update(key("p", ""), set={"a": 1}),
    ):
        with pytest.raises(InvalidItem):
            await table.update(update)

    assert [item async for item in table.scan()] == [item]
