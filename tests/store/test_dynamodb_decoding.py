"""Answers are decoded into rows, whose items are those that were stored."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.store.attributes import Document, Real, Text, Truth, Whole
from graph.store.design import Index, KeyAttribute, TableDesign
from graph.store.dynamodb.codec import EncodedItem, decode_item
from graph.store.dynamodb.items import ItemCodec
from graph.store.entity import Entity, Item
from graph.store.rows import Rows, joined

BY_DAY = Index("DayIndex", KeyAttribute("gsi1pk", "S"), KeyAttribute("gsi1sk", "N"))
TABLE = TableDesign("readings", KeyAttribute("pk", "S"), KeyAttribute("sk", "S"), indexes=(BY_DAY,))
ATTRIBUTES = (
    Text("station", in_key_alone=True, shortest=1),
    Whole("number", digits=6, least=0, greatest=999_999, in_key_alone=True),
    Text("day", plain=True, shortest=1),
    Whole("at"),
    Real("mag", optional=True),
    Truth("felt", optional=True),
    Document("details", optional=True),
)
KEYS: dict[str, Any] = {
    "table": TABLE,
    "key": ("STATION#{station}", "READING#{number}"),
    "indexes": {BY_DAY: ("DAY#{day}", "{at}")},
    "attributes": ATTRIBUTES,
}
READING = ItemCodec(Entity("READING", **KEYS))
OPEN = ItemCodec(Entity("READING", **KEYS, open=True))
DECLARED = [each.name for each in ATTRIBUTES]

REALS = st.floats(-1e6, 1e6).filter(lambda number: not number or abs(number) > 1e-6)
ITEMS = st.fixed_dictionaries(
    {
        "station": st.text(st.characters(codec="utf-8"), min_size=1),
        "number": st.integers(0, 999_999),
        "day": st.from_regex(r"[0-9]{8}", fullmatch=True),
        "at": st.integers(-(2**63), 2**63 - 1),
    },
    optional={
        "mag": REALS,
        "felt": st.booleans(),
        "details": st.dictionaries(st.text(min_size=1, max_size=3), st.none() | st.booleans() | st.text(max_size=3)),
    },
)


@given(st.lists(ITEMS, max_size=5), st.none() | st.sets(st.sampled_from(DECLARED)), st.booleans())
def test_decoded_items_are_the_stored_ones(items: list[Item], needed: set[str] | None, is_open: bool) -> None:
    codec = OPEN if is_open else READING
    decoded = codec.decoder(needed).decode([codec.encode(item) for item in items])

    wanted = DECLARED if needed is None else needed
    assert decoded == [{name: value for name, value in item.items() if name in wanted} for item in items]
    assert isinstance(decoded, Rows) is not (is_open and needed is None)


def encoded(**attributes: Any) -> EncodedItem:
    keys = {"pk": {"S": "STATION#here"}, "sk": {"S": "READING#000007"}}
    return {**keys, **attributes}


@pytest.mark.parametrize("name", ["at", "mag"])
@pytest.mark.parametrize("text", ["7", "-7", "7.0", "7E0", "7.5", "1E+3", "0.001E6", "9223372036854775808", "1e30"])
def test_numbers_of_other_writers_are_read(name: str, text: str) -> None:
    (item,) = READING.decoder({name}).decode([encoded(**{name: {"N": text}})])

    assert item == {name: float(text)}
    assert name == "at" or type(item[name]) is float


def test_what_other_writers_stored_is_read_as_far_as_it_can_be() -> None:
    of_another_type: dict[str, Any] = {
        "at": {"S": "soon"},
        "day": {"N": "20240229"},
        "mag": {"BOOL": True},
        "felt": {"L": []},
    }
    assert READING.decoder(of_another_type.keys()).decode([encoded(**of_another_type)]) == [
        decode_item(of_another_type)
    ]
    assert READING.decoder({"mag", "at"}).decode([encoded(mag={"NULL": True}), encoded()]) == [{}, {}]
    of_another_pattern = {**encoded(), "sk": {"S": "SUMMARY"}}
    assert READING.decoder({"station", "number"}).decode([of_another_pattern]) == [{"station": "here"}]


def test_answers_for_the_same_attributes_are_joined_as_rows() -> None:
    first, second = (READING.decoder(names).decode([encoded()]) for names in (["at", "mag"], {"mag", "at"}))

    assert isinstance(joined(first, second), Rows)


def test_undeclared_attributes_are_those_that_are_needed() -> None:
    item = encoded(at={"N": "7"}, extra={"S": "more"}, other={"S": "less"})

    assert OPEN.decoder({"at", "extra"}).decode([item]) == [{"at": 7, "extra": "more"}]
    assert OPEN.decoder().decode([item]) == [
        {"station": "here", "number": 7, "at": 7, "extra": "more", "other": "less"}
    ]
