"""The store's contract: what each condition admits. Every test runs on every engine."""

import operator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from graph.store.conditions import (
    Absent,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    HasText,
    Not,
    OneOf,
    Operator,
    Present,
    SameText,
    predicate,
)
from graph.store.contract import Update
from graph.store.values import InvalidItem
from tests.store.one_entity import OneEntity
from tests.store.samples import BY_TIME, key, sks, timed

OPERATORS: dict[Operator, Any] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

VALUES: list[dict[str, Any]] = [
    {},
    {"number": 1, "text": "quake"},
    {"number": 2.5, "text": "blast"},
    {"number": 4, "text": ""},
    {"number": "4", "text": 7},
    {"number": True, "text": False},
    {"number": None, "text": None},
    {"number": [1], "text": {"a": 1}},
    {"number": -0.5, "text": "Quake"},
]

OF_ANOTHER_TYPE = (4, 5, 6, 7)
"""Those that an attribute cannot have which is declared as a number or a text."""

DECLARED, OTHERS = ("mag", "kind"), ("level", "note")
"""Names for the number and the text: those that are declared and narrow `ByTime`, and others."""

CONDITIONS: list[tuple[Condition, list[int]]] = [
    (Compare("number", "=", 4), [3]),
    (Compare("number", "=", 1.0), [1]),
    (Compare("number", "<", 2.5), [1, 8]),
    (Compare("number", "<=", 2.5), [1, 2, 8]),
    (Compare("number", ">", 1), [2, 3]),
    (Compare("number", ">=", 1), [1, 2, 3]),
    (Compare("number", "=", "4"), [4]),
    (Compare("number", ">=", ""), [4]),
    (Compare("number", "=", True), [5]),
    (Compare("number", "=", False), []),
    (Compare("text", "=", ""), [3]),
    (Compare("text", "=", "quake"), [1]),
    (Compare("text", ">", "blast"), [1]),
    (Compare("text", "<", "b"), [3, 8]),
    (Compare("text", "<=", 7), [4]),
    (Compare("text", "=", False), [5]),
    (Compare("text", "=", 0), []),
    (OneOf("number", (1, 4, 99)), [1, 3]),
    (OneOf("number", (1, "4", True)), [1, 4, 5]),
    (OneOf("text", ("quake", "Quake", "")), [1, 3, 8]),
    (OneOf("text", (*map(str, range(99)), "blast")), [2]),
    (OneOf("text", ()), []),
    (SameText("text", ("QUAKE",)), [1, 8]),
    (SameText("text", (*map(str, range(98)), "", "Blást")), [2, 3]),
    (SameText("text", ()), []),
    (SameText("number", ("4",)), [4]),
    (SameText("never", ("quake",)), []),
    (HasText("text", "UA"), [1, 8]),
    (HasText("text", ""), [1, 2, 3, 8]),
    (HasText("text", "%"), []),
    (HasText("number", "4"), [4]),
    (HasText("never", ""), []),
    (Present("number"), [1, 2, 3, 4, 5, 6, 7, 8]),
    (Absent("number"), [0]),
    (Present("never"), []),
    (Absent("never"), [0, 1, 2, 3, 4, 5, 6, 7, 8]),
    (AllOf((Compare("number", ">", 0), Compare("text", "=", "quake"))), [1]),
    (AnyOf((Compare("number", ">", 3), Compare("text", "=", "quake"), Absent("text"))), [0, 1, 3]),
    (AllOf((AnyOf((Compare("number", "<", 0), Compare("number", ">", 1))), Present("text"))), [2, 3, 8]),
    (AnyOf((AllOf((Compare("number", "=", 1), Absent("never"))), OneOf("text", ("blast",)))), [1, 2]),
    (AllOf((Compare("number", ">=", 1), AnyOf((Absent("never"), Present("never"))))), [1, 2, 3]),
    (AnyOf((HasText("text", "last"), SameText("text", ()), Absent("text"))), [0, 2]),
    (AllOf((AnyOf((HasText("text", "K"), Compare("number", ">", 3))), Present("number"), Absent("never"))), [1, 3, 8]),
    (AllOf((Not(AnyOf((Compare("number", ">", 1), Absent("text")))), Not(HasText("text", "K")))), [4, 5, 6, 7]),
    (AnyOf((Not(Present("number")), Not(AllOf((Present("text"), Not(Compare("number", "=", 4))))))), [0, 3]),
]
CONDITIONS += [(Not(each), [i for i in range(len(VALUES)) if i not in matching]) for each, matching in CONDITIONS]


def renamed(condition: Condition, names: tuple[str, str]) -> Condition:
    """The condition on the attributes that stand for `number` and `text`."""
    if isinstance(condition, AllOf | AnyOf):
        return replace(condition, conditions=tuple(renamed(part, names) for part in condition.conditions))
    if isinstance(condition, Not):
        return Not(renamed(condition.condition, names))
    real = {"number": names[0], "text": names[1]}
    return replace(condition, attribute=real.get(condition.attribute, condition.attribute))


@pytest.mark.parametrize("names", [DECLARED, OTHERS], ids=["declared", "others"])
async def test_a_filter_admits_the_same_items_on_every_engine(table: OneEntity, names: tuple[str, str]) -> None:
    real = dict(zip(("number", "text"), names, strict=True))
    every = {
        i: timed(str(i), i, **{real[name]: value for name, value in values.items()}) for i, values in enumerate(VALUES)
    }
    possible = {i: item for i, item in every.items() if names == OTHERS or i not in OF_ANOTHER_TYPE}
    await table.put_many([*possible.values()])

    for condition, matching in CONDITIONS:
        where = renamed(condition, names)
        expected = [i for i in matching if i in possible]
        assert [i for i, item in possible.items() if predicate(where)(item)] == expected, where
        admitted = [str(i) for i in expected]
        assert sks((await table.query(BY_TIME, "mon", where=where)).items) == admitted, where
        assert (
            sks((await table.query(table.design.primary, "p", where=where, forward=False)).items) == admitted[::-1]
        ), where
        assert await table.count(BY_TIME, ["mon"], where=where) == len(expected), where
        assert await table.count(table.design.primary, ["p"], where=where) == len(expected), where


async def test_a_declared_attribute_refuses_values_of_another_type(table: OneEntity) -> None:
    for i, (name, declared) in product(OF_ANOTHER_TYPE, (("number", "mag"), ("text", "kind"))):
        value = VALUES[i][name]
        with pytest.raises(InvalidItem):
            await table.put(timed("a", 1, **{declared: value}))
        with pytest.raises(InvalidItem):
            await table.update(Update(key("p", "a"), set={declared: value}))

    assert (await table.query(BY_TIME, "mon")).items == []


async def test_a_filtered_page_is_full_however_little_of_it_matches(table: OneEntity) -> None:
    await table.put_many([timed(f"{n:02}", n, text="x" * 100_000) for n in range(24)])  # more than two answers of 1 MB
    await table.put_many([timed(f"{n}", n, note="match", mag=5) for n in range(24, 30)])

    for where in (
        Compare("note", "=", "match"),
        Compare("mag", "=", 5),
        AllOf((Present("note"), Present("mag"))),
        HasText("note", "MATCH"),
        AllOf((Present("mag"), SameText("note", ("MATCH",)))),
    ):
        page = await table.query(BY_TIME, "mon", where=where, limit=4)
        assert sks(page.items) == ["24", "25", "26", "27"]
        assert page.last_key is not None

        rest = await table.query(BY_TIME, "mon", where=where, limit=4, start=page.last_key)
        assert sks(rest.items) == ["28", "29"]
        assert rest.last_key is None

        assert sks((await table.query(BY_TIME, "mon", where=where, limit=7)).items) == [str(n) for n in range(24, 30)]


@pytest.mark.parametrize("name", ["mag", "level"], ids=["declared", "other"])
async def test_a_number_too_close_to_zero_to_be_stored_bounds_as_in_arithmetic(table: OneEntity, name: str) -> None:
    numbers = [-1.0, -1e-130, 0.0, 1e-130, 1.0]
    items = [timed(f"{n}", n) | {name: number} for n, number in enumerate(numbers)]
    await table.put_many(items)
    signs: list[Operator] = ["<", "<=", ">", ">="]

    for sign, bound in product(signs, (1e-300, 5e-324, 9.9e-131, -1e-300, -9.9e-131)):
        expected = [f"{n}" for n, number in enumerate(numbers) if OPERATORS[sign](number, bound)]
        where = Compare(name, sign, bound)
        assert sks(list(filter(predicate(where), items))) == expected, where
        assert sks((await table.query(BY_TIME, "mon", where=where)).items) == expected, where


async def test_a_filter_by_a_value_that_nothing_can_have_is_refused(table: OneEntity) -> None:
    for value in (float("nan"), float("inf"), 2**64, "\ud800"):
        with pytest.raises(InvalidItem):
            await table.query(BY_TIME, "mon", where=Compare("note", "=", value))
