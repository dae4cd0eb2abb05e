"""The store's contract: transactions. Every test runs on every engine."""

import asyncio

import pytest

from graph.store.conditions import Compare
from graph.store.contract import Action, Delete, Put, Update
from graph.store.values import InvalidItem
from tests.store.one_entity import OneEntity
from tests.store.samples import SAMPLE, key, sample


async def test_a_transaction_applies_every_kind_of_action(table: OneEntity) -> None:
    await table.put_many([sample("replaced", old=1), sample("changed", n=1), sample("removed")])

    refused = await table.transact(
        [
            Put(SAMPLE, sample("new", a=1), if_absent=True),
            Put(SAMPLE, sample("replaced", new=2)),
            Update(key("changed", "s"), set={"a": 2}, add={"n": 1}, condition=Compare("n", "=", 1)),
            Update(key("made", "s"), add={"n": 5}),
            Delete(key("removed", "s")),
        ]
    )

    assert refused == ()
    assert await table.transact([]) == ()
    stored = {item["pk"]: item async for item in table.scan()}
    assert stored == {
        "new": sample("new", a=1),
        "replaced": sample("replaced", new=2),
        "changed": sample("changed", n=2, a=2),
        "made": sample("made", n=5),
    }


async def test_a_refused_transaction_names_every_failing_position_and_changes_nothing(table: OneEntity) -> None:
    before = [sample(f"{n:02}", n=n) for n in (7, 31)]
    await table.put_many(before)
    actions: list[Action] = [Put(SAMPLE, sample(f"{n:02}", n=100), if_absent=True) for n in range(59)]
    actions.append(Update(key("counter", "s"), add={"n": 1}, condition=Compare("n", ">=", 0)))
    actions += [Update(key("31", "s"), add={"n": 1}), Delete(key("gone", "s"))]
    del actions[31]

    assert await table.transact(actions) == (7, 58, 60)

    assert sorted([item async for item in table.scan()], key=lambda item: str(item["pk"])) == before


async def test_puts_are_refused_by_their_own_positions_whatever_stands_between_them(table: OneEntity) -> None:
    await table.put_many([sample("old"), sample("older")])
    put_if_absent = [Put(SAMPLE, sample(name), if_absent=True) for name in ("new", "old", "newer", "older")]
    others = [Put(SAMPLE, sample(f"other{n}", n=n)) for n in range(3)]
    actions: list[Action] = [put_if_absent[0], others[0], *put_if_absent[1:3], *others[1:], put_if_absent[3]]

    assert await table.transact(actions) == (2, 6)

    assert await table.get(("other0", "s")) is None
    assert await table.transact([put_if_absent[0], *others, put_if_absent[2]]) == ()
    assert await table.get(("other2", "s")) == others[2].item


async def test_a_transaction_takes_as_many_actions_as_it_says(table: OneEntity) -> None:
    actions = [Put(SAMPLE, sample("many", f"{n:04}"), if_absent=True) for n in range(table.transaction_limit)]

    assert await table.transact(actions) == ()

    assert await table.count(table.design.primary, ["many"]) == table.transaction_limit
    with pytest.raises(InvalidItem):
        await table.transact([*actions, Put(SAMPLE, sample("one too many"))])
    assert await table.get(("one too many", "s")) is None


async def test_concurrent_transactions_on_the_same_items_lose_nothing(table: OneEntity) -> None:
    async def insert_and_count(n: int) -> tuple[int, ...]:
        return await table.transact(
            [
                Put(SAMPLE, sample("event", f"{n:02}"), if_absent=True),
                Update(key("counter", "a"), add={"n": 1, "sum": n}),
                Update(key("counter", "b"), add={"n": 1}),
            ]
        )

    refused = await asyncio.gather(*[insert_and_count(n) for n in range(20)])

    assert refused == [()] * 20
    assert await table.get(("counter", "a")) == sample("counter", "a", n=20, sum=190)
    assert await table.get(("counter", "b")) == sample("counter", "b", n=20)
    assert await table.count(table.design.primary, ["event"]) == 20


async def test_exactly_one_of_concurrent_inserts_of_an_item_succeeds(table: OneEntity) -> None:
    async def insert(n: int) -> tuple[int, ...]:
        return await table.transact(
            [Put(SAMPLE, sample("event", by=n), if_absent=True), Update(key("counter", "s"), add={"n": 1})]
        )

    refused = await asyncio.gather(*[insert(n) for n in range(10)])

    assert sorted(refused) == [(), *[(0,)] * 9]
    winner = refused.index(())
    assert await table.get(("event", "s")) == sample("event", by=winner)
    assert await table.get(("counter", "s")) == sample("counter", n=1)


async def test_a_transaction_with_an_invalid_action_changes_nothing(table: OneEntity) -> None:
    await table.put(sample("text", a="text"))

    invalid: list[Action] = [
        Put(SAMPLE, sample("q", a=float("inf"))),
        Put(SAMPLE, sample("q", a="x" * 409_600)),
        Put(SAMPLE, sample("first")),
        Put(SAMPLE, {"pk": "q"}),
        Update(key("first", "s"), set={"a": 1}),
        Update(key("text", "s"), add={"a": 1}),
        Update(key("q", "s")),
        Delete(key("first", "s")),
        Delete(key("", "s")),
    ]
    for action in invalid:
        with pytest.raises(InvalidItem):
            await table.transact([Put(SAMPLE, sample("first")), action])
    valid = [Put(SAMPLE, sample(f"{n}")) for n in range(table.transaction_limit - 1)]
    with pytest.raises(InvalidItem, match="changes nothing"):
        await table.transact([*valid, Update(key("last", "s"))])

    assert [item async for item in table.scan()] == [sample("text", a="text")]
