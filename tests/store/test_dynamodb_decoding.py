"""Values as DynamoDB's typed attribute values, and back: an answer becomes rows, whose items are the stored ones."""

from dataclasses import replace
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.store.attributes import Filled, JsonDocument, Real, Text, Truth, Whole
from graph.store.design import Index, KeyAttribute, TableDesign
from graph.store.dynamodb.codec import EncodedItem, decode, encode
from graph.store.dynamodb.items import ItemCodec
from graph.store.entity import Entity, Item
from graph.store.records import Converted, Record, optional, stored
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
    JsonDocument("details", optional=True),
)
KEYS: dict[str, Any] = {
    "table": TABLE,
    "key": ("STATION#{station}", "READING#{number}"),
    "indexes": {BY_DAY: ("DAY#{day}", "{at}")},
    "attributes": ATTRIBUTES,
}
BROKEN: list[str] = []  # the reasons


def report(item: EncodedItem, error: Exception) -> None:
    BROKEN.append(str(error))


READING = ItemCodec(Entity("READING", **KEYS), report)
WITH_OPTIONAL = [replace(each, optional=each.optional or not each.in_key_alone) for each in ATTRIBUTES]
OPEN = ItemCodec(Entity("READING", **{**KEYS, "attributes": WITH_OPTIONAL}, open=True), report)
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
    assert isinstance(decoded, Rows)
    assert decoded == [{name: value for name, value in item.items() if name in wanted} for item in items]


def encoded(**attributes: Any) -> EncodedItem:
    keys = {"pk": {"S": "STATION#here"}, "sk": {"S": "READING#000007"}}
    return {**keys, **attributes}


@pytest.mark.parametrize("name", ["at", "mag"])
@pytest.mark.parametrize("text", ["7", "-7", "7.0", "7E0", "7.5", "1E+3", "0.001E6", "9223372036854775808", "1e30"])
def test_numbers_of_other_writers_are_read(name: str, text: str) -> None:
    (item,) = READING.decoder({name}).decode([encoded(**{name: {"N": text}})])

    assert item == {name: float(text)}
    assert name == "at" or type(item[name]) is float


@pytest.mark.parametrize("codec", [READING, OPEN])
@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"at": {"S": "soon"}}, "`at` cannot be a str"),
        ({"day": {"N": "20240229"}}, "`day` cannot be a int"),
        ({"mag": {"BOOL": True}}, "`mag` cannot be a bool"),
        ({"felt": {"L": []}}, "`felt` cannot be a list"),
    ],
)
def test_a_broken_item_is_left_out_and_reported(codec: ItemCodec, attributes: dict[str, Any], reason: str) -> None:
    BROKEN.clear()

    assert codec.decoder().decode([encoded(**attributes), encoded(at={"N": "7"})]) == [
        {"station": "here", "number": 7, "at": 7}
    ]
    assert [reason] == BROKEN


@pytest.mark.parametrize("codec", [READING, OPEN])
def test_an_item_is_broken_in_an_index_whose_keys_its_attributes_do_not_make(codec: ItemCodec) -> None:
    BROKEN.clear()
    day, at = {"S": "20240229"}, {"N": "7"}
    keys = {"gsi1pk": {"S": "DAY#20240229"}, "gsi1sk": at}
    broken = [{**keys, "at": at}, {**keys, "day": day}, {**keys, "day": day, "at": {"N": "8"}}]
    broken.append({**keys, "gsi1pk": {"S": "DAY#20240301"}, "day": day, "at": at})
    items = [encoded(**each) for each in ({**keys, "day": day, "at": at}, *broken)]

    assert len(codec.decoder(None, BY_DAY).decode(items)) == 1
    assert len(codec.decoder().decode(items)) == 5
    assert [
        f"`{name}` contradicts the attributes that it is made of" for name in ("gsi1pk", "gsi1sk", "gsi1sk", "gsi1pk")
    ] == BROKEN


@pytest.mark.parametrize("codec", [READING, OPEN])
def test_a_null_is_no_value_and_an_item_with_another_key_is_passed_over(codec: ItemCodec) -> None:
    BROKEN.clear()
    of_another_entity = {**encoded(), "sk": {"S": "SUMMARY"}}

    for names, item in ((None, {"station": "here", "number": 7}), ({"mag", "at"}, {})):
        decoder = codec.decoder(names)
        assert decoder.decode([encoded(mag={"NULL": True}), of_another_entity, encoded()]) == [item, item]
    assert not BROKEN


class Kind(StrEnum):
    QUAKE = "quake"


class Reading(Record):
    station = stored("station", Text(shortest=1))
    number = stored("number", Whole(digits=6, least=0, greatest=999_999))
    kind = stored("kind", Converted(Text(absent="quake"), Kind))
    mag = stored("mag", Real(least=-2, greatest=10))
    depth = optional("depth", Real(least=0, unit="km"))
    revision = stored("revision", Whole(least=1, absent=1))
    energy = stored("energy", Real(absent=Filled(lambda mag, revision: mag * revision, "mag", "revision")))


RECORD, OPEN_RECORD = (
    ItemCodec(Entity("READING", TABLE, Reading, key=("STATION#{station}", "READING#{number}"), open=each), report)
    for each in (False, True)
)


def test_what_an_item_lacks_is_taken_from_its_key_or_from_the_declaration() -> None:
    whole: Item = {"station": "here", "number": 7, "kind": "quake", "mag": 4.5, "revision": 1, "energy": 4.5}

    assert RECORD.decoder().decode([encoded(mag={"N": "4.5"})]) == [whole]
    for names in ({"number"}, {"energy"}, {"revision", "kind"}):
        decoder = RECORD.decoder(names)
        item = {name: value for name, value in encoded(mag={"N": "4.5"}).items() if name in (decoder.stored or ())}
        assert decoder.decode([item]) == [{name: whole[name] for name in names}]
    assert RECORD.decoder({"energy"}).decode([encoded(mag={"N": "4.5"}, revision={"N": "3"})]) == [{"energy": 13.5}]


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"mag": {"NULL": True}},
        {"mag": {"N": "10.5"}},
        {"mag": {"N": "4"}, "depth": {"S": "deep"}},
        {"mag": {"N": "4"}, "kind": {"S": "thunder"}},
        {"mag": {"N": "4"}, "energy": {"S": ""}},
    ],
)
def test_an_item_of_which_no_record_can_be_made_is_broken(attributes: dict[str, Any]) -> None:
    BROKEN.clear()

    assert RECORD.decoder().decode([encoded(**attributes)]) == []
    assert len(BROKEN) == 1


@pytest.mark.parametrize("attributes", [{"mag": {"N": "10.5"}}, {"depth": {"S": "deep"}}, {"kind": {"S": "thunder"}}])
def test_a_value_that_no_record_can_take_breaks_an_item_with_undeclared_attributes(attributes: dict[str, Any]) -> None:
    BROKEN.clear()
    good = {"mag": {"N": "4"}, "kind": {"S": "quake"}, "colour": {"S": "blue"}}

    (item,) = OPEN_RECORD.decoder().decode([encoded(**{**good, **attributes}), encoded(**good)])

    assert item["colour"] == "blue"
    assert len(BROKEN) == 1


@pytest.mark.parametrize("needed", [None, {"at"}, {"at", "extra"}])
@pytest.mark.parametrize("lacking", [{}, {"at": {"NULL": True}}])
def test_an_item_with_undeclared_attributes_is_broken_without_one_that_its_kind_needs(
    needed: set[str] | None, lacking: dict[str, Any]
) -> None:
    BROKEN.clear()
    codec = ItemCodec(Entity("READING", **KEYS, open=True), report)
    day, extra = {"S": "20240229"}, {"S": "more"}
    items = [encoded(day=day, extra=extra, **lacking), encoded(day=day, at={"N": "7"}, mag={"NULL": True}, extra=extra)]

    whole = {"station": "here", "number": 7, "day": "20240229", "at": 7, "extra": "more"}
    assert codec.decoder(needed).decode(items) == [{name: whole[name] for name in needed or whole}]
    assert BROKEN == ["`at` cannot be a NoneType"]


def test_answers_for_the_same_attributes_are_joined_as_rows() -> None:
    first, second = (READING.decoder(names).decode([encoded()]) for names in (["at", "mag"], {"mag", "at"}))

    assert isinstance(joined(first, second), Rows)


def test_undeclared_attributes_are_those_that_are_needed() -> None:
    item = encoded(at={"N": "7"}, extra={"S": "more"}, other={"S": "less"})

    assert OPEN.decoder({"at", "extra"}).decode([item]) == [{"at": 7, "extra": "more"}]
    assert OPEN.decoder().decode([item]) == [
        {"station": "here", "number": 7, "at": 7, "extra": "more", "other": "less"}
    ]


def test_a_value_has_one_encoding_and_returns_from_it() -> None:
    encodings: list[tuple[Any, dict[str, Any]]] = [
        ("", {"S": ""}),
        ("é", {"S": "é"}),
        (True, {"BOOL": True}),
        (False, {"BOOL": False}),
        (None, {"NULL": True}),
        (0, {"N": "0"}),
        (-7, {"N": "-7"}),
        (2**63 - 1, {"N": "9223372036854775807"}),
        (-(2**63), {"N": "-9223372036854775808"}),
        (4.55, {"N": "4.55"}),
        (1e-7, {"N": "1e-07"}),
        (1e120, {"N": "1e+120"}),
        (2.0**63, {"N": "9.223372036854776e+18"}),
        ([], {"L": []}),
        ([1, ["a"]], {"L": [{"N": "1"}, {"L": [{"S": "a"}]}]}),
        ({}, {"M": {}}),
        ({"a": {"b": None}}, {"M": {"a": {"M": {"b": {"NULL": True}}}}}),
    ]
    for value, encoded in encodings:
        assert encode(value) == encoded
        assert decode(encoded) == value
        assert type(decode(encoded)) is type(value)
    for number, text in (
        (2.0, "2"),
        (-0.0, "0"),
        (1e15, "1" + "0" * 15),
        (1e18, "1" + "0" * 18),
        (-(2.0**63), str(-(2**63))),
    ):
        assert encode(number) == {"N": text}, "a whole float is written digit by digit"
        assert decode({"N": text}) == number


def test_what_others_wrote_is_read_as_json_would_have_it() -> None:
    numbers = [
        ("1E+3", 1000),
        ("2.50E+3", 2500),
        ("2.0", 2),
        ("9007199254740993.0", 2**53 + 1),
        ("9223372036854775808", 2.0**63),
        ("-9223372036854775809", -(2.0**63)),
        ("10000000000000000000000000", 1e25),
        ("9007199254740993.5", 9007199254740993.5),
        ("0.1000000000000000055511151231257827", 0.1),
        ("0.0000001", 1e-7),
    ]
    for text, number in numbers:
        read = decode({"N": text})
        assert (read, type(read)) == (number, type(number))

    others: list[tuple[dict[str, Any], Any]] = [
        ({"SS": ["b", "a"]}, ["a", "b"]),
        ({"NS": ["2", "1.5"]}, [1.5, 2]),
        ({"BS": ["Yg==", "YQ=="]}, ["YQ==", "Yg=="]),
        ({"B": "AP8="}, "AP8="),
    ]
    for encoded, value in others:
        assert decode(encoded) == value
