"""The store's contract: several entities in one table, and several tables. Every test runs on every engine."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from graph.store.conditions import Absent, AllOf, Compare, Condition, HasText, Present, SameText
from graph.store.contract import Action, Database, Delete, Put, Update
from graph.store.entity import Item
from graph.store.query import Query
from graph.store.values import InvalidItem
from tests.store.engines import empty_database
from tests.store.one_entity import read_on
from tests.store.samples import BY_DAY, NOON_SECONDS, PERSON, SAMPLE, TOTALS, VISIT, HeldClock, sample

ANN = {"person": "ann", "day": "20260101", "seenMs": 5, "score": 0.5, "active": True, "tags": ["a", {"b": [1, None]}]}
BOB = {"person": "bob", "day": "20260101", "seenMs": 7, "active": False, "tags": {}}


@pytest.fixture
async def database(engine: str, clock: HeldClock) -> AsyncIterator[Database]:
    async with empty_database(engine, [PERSON, VISIT, TOTALS, SAMPLE], clock=clock) as database:
        yield database


def visit(person: str, timestamp: int, request_id: str = "r", **attributes: Any) -> Item:
    return {"person": person, "timestamp": timestamp, "requestId": request_id, **attributes}


async def put_all(database: Database, *visits: Item) -> None:
    await database.put_many([Put(VISIT, item) for item in visits])


async def test_entities_of_one_table_and_partition_do_not_see_each_other(database: Database) -> None:
    await database.put_many([Put(PERSON, ANN), Put(PERSON, BOB), Put(TOTALS, {"visits": 1})])
    await put_all(database, visit("ann", 3), visit("ann", 20))

    people = await database.query(Query(entity=PERSON, partitions=[("ann",)]))
    visits = await database.query(Query(entity=VISIT, partitions=[("ann",)]))

    assert people.items == [ANN]
    assert visits.items == [visit("ann", 3), visit("ann", 20)]
    assert await database.count(Query(entity=VISIT, partitions=[("ann",), ("bob",)])) == 2
    assert [item async for item in database.scan(TOTALS)] == [{"visits": 1}]
    assert sorted([item["person"] async for item in database.scan(PERSON)]) == ["ann", "bob"]
    found = await database.get_many([PERSON.key_for("ann"), VISIT.key_for("ann", 3, "r"), TOTALS.key_for()])
    assert found == {
        PERSON.key_for("ann"): ANN,
        VISIT.key_for("ann", 3, "r"): visit("ann", 3),
        TOTALS.key_for(): {"visits": 1},
    }


async def test_a_filter_is_about_the_type_of_an_attribute(database: Database) -> None:
    await database.put_many([Put(PERSON, ANN), Put(PERSON, BOB)])
    conditions: list[tuple[Condition | None, list[str]]] = [
        (None, ["ann", "bob"]),
        (Compare("active", "=", True), ["ann"]),
        (Compare("active", "=", False), ["bob"]),
        (Compare("active", "=", 1), []),
        (Compare("score", ">", 0), ["ann"]),
        (Present("tags"), ["ann", "bob"]),
        (Absent("score"), ["bob"]),
        (Compare("tags", "=", "a"), []),
        (Compare("seenMs", "<=", 5.5), ["ann"]),
    ]
    for condition, expected in conditions:
        query = Query(entity=PERSON, index=BY_DAY, partitions=[("20260101",)], where=condition)

        found = (await database.query(query)).items
        assert found == [item for item in (ANN, BOB) if item["person"] in expected], condition
        assert [type(item["active"]) for item in found] == [bool] * len(expected)
        assert await database.count(query) == len(expected)


async def test_a_query_returns_the_named_attributes_and_the_position(database: Database) -> None:
    await database.put_many([Put(PERSON, ANN), Put(PERSON, BOB)])

    query = Query(
        entity=PERSON,
        index=BY_DAY,
        partitions=[("20260101",)],
        where=Compare("active", "=", True),
        attributes=frozenset({"score", "tags"}),
    )

    assert (await database.query(query)).items == [{k: v for k, v in ANN.items() if k != "active"}]
    await database.put(Put(SAMPLE, sample(a=1, b=2, mag=3)))
    filtered = Query(entity=SAMPLE, partitions=[("p",)], where=Compare("a", "=", 1), attributes=frozenset({"b"}))
    assert (await database.query(filtered)).items == [sample(b=2)], "what only the filter needs is not returned"
    assert await database.get(PERSON.key_for("bob"), attributes=["score", "active"]) == {"active": False}
    assert await database.get(PERSON.key_for("bob"), attributes=[]) == {}


async def test_a_filter_finds_a_folded_text_that_stands_in_a_key(database: Database) -> None:
    """On DynamoDB the person of a visit stands in its key alone."""
    await put_all(database, visit("Zoë", 1, note="Ē"), visit("Zoë", 2, note="x"), visit("Zoë", 3))
    where = AllOf((SameText("person", ("ZOE",)), HasText("note", "e")))

    page = await database.query(Query(entity=VISIT, partitions=[("Zoë",)], where=where, attributes=frozenset()))

    assert page.items == [visit("Zoë", 1)]
    assert await database.count(Query(entity=VISIT, partitions=[("Zoë",)], where=where)) == 1
    assert await database.count(Query(entity=VISIT, partitions=[("Zoë",)], where=HasText("timestamp", "1"))) == 0


async def test_numbers_of_a_composite_key_are_ordered_and_bounded_as_numbers(database: Database) -> None:
    times = [0, 9, 10, 100, 1_700_000_000_000, 9_999_999_999_999]
    visits = [visit("ann", timestamp, request_id) for timestamp in times for request_id in ("a", "b#c", "é")]
    await put_all(database, *visits[::-1], visit("bob", 1))

    for forward, expected in ((True, visits), (False, visits[::-1])):
        whole = Query(entity=VISIT, partitions=[("ann",)], forward=forward)
        assert (await database.query(whole)).items == expected
        assert await read_on(database, replace(whole, limit=4)) == expected
        for low, high in ((9, 10), (0, 9), (11, 10**13 - 1), (5, 5), (10, 9)):
            found = [item for item in expected if low <= item["timestamp"] <= high]
            for between in ((low, high), (low or None, high if high < 10**12 else None)):
                assert (await database.query(replace(whole, between=between))).items == found


async def test_one_transaction_spans_entities_and_tables(database: Database) -> None:
    await database.put(Put(SAMPLE, sample(n=1)))
    actions: list[Action] = [
        Put(PERSON, ANN, if_absent=True),
        Put(VISIT, visit("ann", 1), if_absent=True),
        Update(TOTALS.key_for(), add={"visits": 1, "by ann": 1}),
        Update(SAMPLE.key_for("p", "s"), add={"n": 1}),
    ]

    assert await database.transact(actions) == ()
    assert await database.transact(actions) == (0, 1)
    assert await database.transact([*actions[2:], Delete(VISIT.key_for("gone", 1, "r"))]) == (2,)

    assert await database.get(PERSON.key_for("ann")) == ANN
    assert await database.get(TOTALS.key_for()) == {"visits": 1, "by ann": 1}
    assert await database.get(SAMPLE.key_for("p", "s")) == sample(n=2)


async def test_an_entity_with_one_item_has_one(database: Database) -> None:
    assert await database.get(TOTALS.key_for()) is None
    assert await database.put(Put(TOTALS, {"visits": 1}, if_absent=True)) is True
    assert await database.put(Put(TOTALS, {"visits": 2}, if_absent=True)) is False
    assert await database.put(Put(TOTALS, {"visits": 3, "other": [1]})) is True

    assert (await database.query(Query(entity=TOTALS))).items == [{"visits": 3, "other": [1]}]
    assert await database.delete(Delete(TOTALS.key_for())) is True
    assert await database.get(TOTALS.key_for()) is None


async def test_an_update_moves_an_item_to_another_partition_of_an_index(database: Database) -> None:
    await database.put(Put(PERSON, ANN))

    moved = {"day": "20260102", "seenMs": 9}
    assert await database.update(Update(PERSON.key_for("ann"), set={"day": "20260102"}, add={"seenMs": 4})) is True
    assert await database.update(Update(VISIT.key_for("ann", 12, "r"), set={"note": "made"})) is True
    assert await database.get(VISIT.key_for("ann", 12, "r")) == visit("ann", 12, note="made")

    new = Query(entity=PERSON, index=BY_DAY, partitions=[("20260102",)], between=(9, 9))
    assert (await database.query(new)).items == [{**ANN, **moved}]
    assert (await database.query(replace(new, partitions=[("20260101",)], between=(None, None)))).items == []


async def test_an_item_that_is_not_as_declared_is_refused(database: Database) -> None:
    """`test_entity` holds which values these are."""
    invalid: list[Item] = [
        {**ANN, "unknown": 1},
        {**ANN, "active": 1},
        {**ANN, "expires": NOON_SECONDS},
        {name: value for name, value in ANN.items() if name != "day"},
    ]
    for item in invalid:
        with pytest.raises(InvalidItem):
            await database.put(Put(PERSON, item))

    for timestamp in (-1, 10**13):  # which have no room in the key
        with pytest.raises(InvalidItem):
            await database.put(Put(VISIT, visit("ann", timestamp)))
        with pytest.raises(InvalidItem):
            await database.get(VISIT.key_for("ann", timestamp, "r"))
    assert [item for entity in (PERSON, VISIT) async for item in database.scan(entity)] == []


async def test_an_open_entity_takes_no_attribute_that_means_something_to_its_table(database: Database) -> None:
    for name in ("pk", "gsi1sk", "entity", "expires"):
        with pytest.raises(InvalidItem):
            await database.put(Put(TOTALS, {name: 1}))
        with pytest.raises(InvalidItem):
            await database.update(Update(TOTALS.key_for(), set={name: 1}))


async def test_an_update_that_is_not_as_declared_changes_nothing(database: Database) -> None:
    await database.put(Put(PERSON, ANN))

    for update in (
        Update(PERSON.key_for("ann"), set={"day": "20260102"}),
        Update(PERSON.key_for("ann"), set={"person": "eve"}),
        Update(PERSON.key_for("ann"), add={"seenMs": 0.5}),
        Update(PERSON.key_for("ann"), add={"active": 1}),
        Update(PERSON.key_for("ann"), add={"unknown": 1}),
        Update(PERSON.key_for("ann"), set={"tags": None}),
    ):
        with pytest.raises(InvalidItem):
            await database.update(update)

    assert await database.get(PERSON.key_for("ann")) == ANN


async def test_a_partition_takes_as_many_values_as_its_template(database: Database) -> None:
    with pytest.raises(InvalidItem):
        await database.query(Query(entity=PERSON, index=BY_DAY, partitions=[("20260101", 5)]))
    with pytest.raises(InvalidItem):
        await database.query(Query(entity=VISIT))
