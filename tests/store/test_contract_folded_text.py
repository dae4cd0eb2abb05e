"""The store's contract: filters by folded text. Every test runs on every engine."""

import pytest

from graph.store.conditions import AllOf, AnyOf, Compare, Condition, HasText, SameText, predicate
from graph.store.contract import Action, Delete, Put, Update
from graph.store.entity import Item
from graph.store.values import InvalidItem
from tests.effort import THOROUGH
from tests.store.one_entity import OneEntity
from tests.store.samples import BY_TIME, SAMPLE, key, sample, sks, timed
from tests.store.test_contract_values import TEXTS

PLACES = [
    "Pāhala, Hawaii",
    "Pa\u0304hala",
    "PAHALA",
    "QUARRY_BLAST",
    "quarry blast",
    "Quarry\u00a0Blast",
    "Straße",
    "STRASSE",
    "Tromsø",
    "TROMSO",
    "Hawaiʻi",
    "Hawai'i",
    "hawaii",
    "HAWAI`I",
]
WILDCARDS = ["100%", "100", "1000", "_", "%", "a_b", "a b", "aXb", "a\\b", "[a]*?", "'; --", '"kind"']
NUL = ["a", "a\x00", "A\x00B", "a\x00c", "\x00b", "ā\x00b"]
HOSTILE = list(dict.fromkeys([*TEXTS, *PLACES, *WILDCARDS, *NUL, "k", "ss", "x" * 60_000, "ā" * 5_000]))


async def check(table: OneEntity, items: list[Item], where: Condition) -> None:
    """Check that a filter admits what `predicate` says."""
    expected = sks(list(filter(predicate(where), items)))
    assert sks((await table.query(BY_TIME, "mon", where=where, attributes=[])).items) == expected, where
    assert await table.count(BY_TIME, ["mon"], where=where) == len(expected), where


@pytest.mark.repeated
@pytest.mark.parametrize("name", ["kind", "note"], ids=["declared", "other"])
async def test_every_text_is_found_as_in_python(table: OneEntity, engine: str, name: str) -> None:
    every = 4 if engine == "dynamodb" and not THOROUGH else 1
    items = [timed(f"{n:03}", n, **{name: text}) for n, text in enumerate(HOSTILE)]
    items += [timed("missing", len(items))]
    await table.put_many(items)

    for n, text in list(enumerate(HOSTILE))[::every]:
        await check(table, items, SameText(name, (text,)))
        await check(table, items, HasText(name, text))
        await check(table, items, HasText(name, text[1:3].swapcase()))
        await check(table, items, SameText(name, tuple(HOSTILE[n : n + 5])))


async def test_a_reader_finds_a_place_however_it_is_written(table: OneEntity) -> None:
    await table.put_many([timed(f"{n:x}", n, kind=text, note=f"{n:x}") for n, text in enumerate(PLACES)])
    conditions: list[tuple[Condition, str]] = [
        (HasText("kind", "pahala"), "012"),
        (HasText("kind", "PĀHALA_"), ""),
        (SameText("kind", ("tromsø",)), "89"),
        (HasText("kind", "Hawai'i"), "0abcd"),
        (HasText("kind", "waii"), "0abcd"),
        (HasText("kind", "y_b"), "345"),
        (SameText("kind", ("Quarry Blast",)), "345"),
        (SameText("kind", ("strasse", "pahala")), "1267"),
        (AllOf((HasText("kind", "ss"), Compare("kind", "<", "Sa"))), "7"),
        (AnyOf((HasText("kind", "SS"), Compare("at", "<=", 1))), "0167"),
        (AnyOf((AllOf((HasText("kind", "a"), Compare("at", ">", 4))), Compare("note", "=", "3"))), "3567abcd"),
    ]
    for where, found in conditions:
        assert sks((await table.query(BY_TIME, "mon", where=where)).items) == [*found]
        assert await table.count(BY_TIME, ["mon"], where=where) == len(found)
        assert sks((await table.query(table.design.primary, "p", where=where, forward=False)).items) == [*found[::-1]]


async def test_a_write_on_the_condition_of_a_folded_text_is_refused(table: OneEntity) -> None:
    stored = sample(a=1, kind="blast")
    await table.put(stored)

    actions: list[Action] = [
        Put(SAMPLE, sample(a=2), condition=SameText("kind", ("blast",))),
        Update(key(), set={"a": 2}, condition=HasText("kind", "b")),
        Delete(key(), condition=AnyOf((HasText("note", "b"), AllOf((Compare("a", "=", 1),))))),
    ]
    for action in actions:
        with pytest.raises(InvalidItem, match="folded"):
            await table.transact([action])

    assert await table.get(("p", "s")) == stored


async def test_a_filter_that_nothing_can_pass_or_by_more_than_a_hundred_texts_is_refused(table: OneEntity) -> None:
    conditions: list[tuple[Condition, str]] = [
        (SameText("kind", ("a",) * 101), "101 texts"),
        (AnyOf((SameText("note", tuple(map(str, range(101)))),)), "101 texts"),
        (SameText("kind", ("\ud800",)), "surrogate"),
        (HasText("note", "a\ud800"), "surrogate"),
    ]
    for where, said in conditions:
        with pytest.raises(InvalidItem, match=said):
            await table.query(BY_TIME, "mon", where=where)
        with pytest.raises(InvalidItem, match=said):
            await table.count(BY_TIME, ["mon"], where=where)
