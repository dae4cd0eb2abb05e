"""The store's contract: what values come back as, and which are refused. Every test runs on every engine."""

import asyncio
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.store.conditions import AllOf, Compare, OneOf, Present
from graph.store.contract import Update
from graph.store.entity import Item
from graph.store.values import InvalidItem
from tests.effort import rounds
from tests.store.one_entity import OneEntity
from tests.store.samples import BY_NAME, SAMPLE, key, sample

NUMBERS = [
    *(0, -0.0, 1, -1, 2.0, 0.5, 0.1, -0.1, 4.55, -117.6, 1e-7, 5e-13, 1 / 3, 123456789.12345679),
    *(2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2.0**62, 2.0**63, -(2.0**63), 2.0**64),
    *(1e15, 1e16, 1e17, 1e22, 1e25, -1e25, 1e120, 9.99e125, 1e-130, -1e-130, 1.7976931348623157e-100),
]

TEXTS = [
    *("", " ", "a\x00b", "\x00", "\x1f\x7f\x80", "\r\n\t", "\"quoted\" 'twice' `thrice` \\ \\u0041"),
    *("e\u0301 ≠ é", "ﬃ Ⅷ ①", "שלום عليكم \u202e\u2066", "\U0001f469\u200d\U0001f467\ufe0f", "\U0010ffff\ufffe\uffff"),
    *("\U00010400 before \ue000", "İıſK", "NULL", "0", "true", "\ufeff", ":v0", "%s {} ${} $1 ? #n0"),
]

NAMES = [
    *("status", "timestamp", "ttl2", "level", "source", "year", "SELECT", "item", "rowid", "size", "Values", "#n0"),
    *(":v0", "a.b", "a[0]", "a b", "#", ":", "'", '"', "`", "\\", "$", "%", "*", "ö", "e\u0301", "\U0001f300"),
    *("a\x00b", " ", "\n", "x" * 300),
]


async def test_every_number_and_text_is_stored_unchanged(table: OneEntity) -> None:
    item = sample(**{f"n{i}": number for i, number in enumerate(NUMBERS)}, all=NUMBERS, texts=TEXTS)
    await table.put(item)

    stored = await table.get(("p", "s"))

    assert stored is not None
    assert stored == item
    assert all(type(number) is float or abs(number) <= 2**63 for number in stored["all"])


async def test_a_real_number_is_read_as_float_even_if_it_is_whole(table: OneEntity) -> None:
    for number in (2, 2.0, 0, -0.0, -3, 0.5):
        await table.put(sample(mag=number))

        stored = await table.get(("p", "s"))

        assert stored is not None
        assert (type(stored["mag"]), stored["mag"]) == (float, number)


async def test_truth_values_are_no_numbers(table: OneEntity) -> None:
    await table.put(sample(yes=True, no=False, one=1, zero=0, none=None, list=[True, 1, False, 0, None]))

    stored = await table.get(("p", "s"))

    assert stored is not None
    assert (stored["yes"], stored["no"], stored["none"]) == (True, False, None)
    assert [type(value) for value in stored["list"]] == [bool, int, bool, int, type(None)]
    assert [type(stored[name]) for name in ("yes", "no", "one", "zero")] == [bool, bool, int, int]


async def test_any_text_may_be_a_key(table: OneEntity) -> None:
    items = {(text, text): sample(text, text, team="t", name=text) for text in TEXTS if text}
    await table.put_many([*items.values()])

    assert await table.get_many([*items]) == items
    found = [item["name"] for item in (await table.query(BY_NAME, "t")).items]
    assert found == sorted(text for text in TEXTS if text)
    for (text, _), item in items.items():
        assert (await table.query(table.design.primary, text, between=(text, text))).items == [item]


async def test_an_attribute_may_have_any_name(table: OneEntity) -> None:
    item = sample(**{name: i for i, name in enumerate(NAMES)}, mapping={name: name for name in NAMES})
    await table.put(item)

    assert await table.get(("p", "s")) == item
    for i, name in enumerate(NAMES):
        await _name_works_in_expressions(table, name, i)
    assert await table.get(("p", "s")) == {name: value + 1 if name in NAMES else value for name, value in item.items()}


async def _name_works_in_expressions(table: OneEntity, name: str, value: int) -> None:
    where = AllOf((Compare(name, "=", value), OneOf(name, (value,)), Present(name)))
    assert len((await table.query(table.design.primary, "p", where=where)).items) == 1
    assert await table.get_many([("p", "s")], attributes=[name]) == {("p", "s"): {name: value}}
    assert await table.update(Update(key("p", "s"), add={name: 1}, condition=where)) is True


_numbers = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x == 0 or 1e-130 <= abs(x) < 1e126),
)
_texts = st.text(max_size=40)
_names = st.text(min_size=1, max_size=20)
_values = st.recursive(
    st.one_of(st.none(), st.booleans(), _numbers, _texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_names, inner, max_size=4)),
    max_leaves=12,
)
_RESERVED = frozenset(attribute.name for attribute in SAMPLE.attributes)


@settings(max_examples=rounds(60), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(attributes=st.dictionaries(_names.filter(lambda name: name not in _RESERVED), _values, max_size=6))
async def test_any_item_is_stored_unchanged(table: OneEntity, attributes: dict[str, Any]) -> None:
    item = {**attributes, "pk": "p", "sk": "s"}

    await table.put(item)

    assert await table.get(("p", "s")) == item
    assert (await table.query(table.design.primary, "p")).items == [item]


def nested(levels: int) -> Any:
    value: Any = "deep"
    for level in range(levels):
        value = [value] if level % 2 else {"in": value}
    return value


INVALID: dict[str, Item] = {
    "no partition key": {"sk": "s"},
    "no sort key": {"pk": "p"},
    "an empty partition key": sample(""),
    "an empty sort key": sample("p", ""),
    "a number for a partition key": {"pk": 1, "sk": "s"},
    "nothing for a sort key": {"pk": "p", "sk": None},
    "a long partition key": sample("é" * 1024 + "e"),
    "a long sort key": sample("p", "é" * 512 + "e"),
    "a number for an index's partition key": sample(day=1, at=1),
    "a text for an index's sort key": sample(day="mon", at="1"),
    "a truth value for an index's sort key": sample(day="mon", at=True),
    "nothing for an index's sort key": sample(day="mon", at=None),
    "an empty partition key of an index": sample(day="", at=1),
    "an empty sort key of an index": sample(team="t", name=""),
    "a long sort key of an index": sample(team="t", name="n" * 1025),
    "a text for a TTL": sample(ttl="soon"),
    "no number": sample(a=float("nan")),
    "an infinity": sample(a=float("inf")),
    "an infinity inside": sample(a=[{"b": float("-inf")}]),
    "a number too large": sample(a=1e126),
    "a number too small": sample(a=1e-131),
    "the least float": sample(a=5e-324),
    "a whole number past 64 bits": sample(a=2**63),
    "a whole number past 64 bits below": sample(a=[-(2**63) - 1]),
    "half a character": sample(a="\ud83d"),
    "half a character inside": sample(a={"b": ["\udc00"]}),
    "half a character in a name": sample(**{"\ud800": 1}),
    "half a character in a key": sample("\ud800"),
    "an empty name": sample(**{"": 1}),
    "an empty name inside": sample(a={"": 1}),
    "a number for a name inside": sample(a={1: 1}),
    "bytes": sample(a=b"a"),
    "a set": sample(a={"a"}),
    "a tuple": sample(a=("a",)),
    "an object": sample(a=object()),
    "too deep a nesting": sample(a=nested(32)),
    "too long a name": sample(**{"n" * 65_536: 1}),
    "too many bytes": sample(a="x" * 409_582),
    "too many bytes inside": sample(a={"b": ["x" * 200_000, "é" * 105_000]}),
    "too many elements": sample(a=[1] * 150_000),
}


async def test_an_invalid_item_is_refused_and_changes_nothing(table: OneEntity) -> None:
    before = sample(kept=True)
    await table.put(before)

    async def refuses(item: Item) -> bool:
        others = [sample("other", str(n)) for n in range(60)]
        writes = (table.put(item), table.put(item, if_absent=True), table.put_many([*others, item]))
        return {type(each) for each in await asyncio.gather(*writes, return_exceptions=True)} == {InvalidItem}

    assert [what for what, item in INVALID.items() if not await refuses(item)] == []
    assert [item async for item in table.scan()] == [before]


async def test_an_item_just_within_the_limits_is_stored(table: OneEntity) -> None:
    for item in (
        sample("é" * 1024, "é" * 512),
        sample(day="d" * 2048, at=1, team="t" * 2048, name="n" * 1024),
        sample(a=nested(31)),
        sample(**{"n" * 65_535: 1}),
        sample(a="x" * 409_581),
        sample(a="é" * 204_790),
        sample(a="x" * 204_790, b="x" * 204_789),
        sample(a=["x" * 100_000, {"b": "x" * 100_000}, "é" * 100_000]),
        sample(a=[1] * 100_000),
    ):
        await table.put(item)

        assert await table.get((item["pk"], item["sk"])) == item
