"""Values as DynamoDB's typed attribute values, and back."""

from typing import Any

import pytest

from graph.store.dynamodb.codec import decode, decode_item, encode, encode_item
from graph.store.values import InvalidItem


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
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
    ],
)
def test_a_value_has_one_encoding_and_returns_from_it(value: Any, encoded: dict[str, Any]) -> None:
    assert encode(value) == encoded
    assert decode(encoded) == value
    assert type(decode(encoded)) is type(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.0, "2"), (-0.0, "0"), (1e15, "1000000000000000"), (1e18, "1000000000000000000"), (-(2.0**63), str(-(2**63)))],
)
def test_a_whole_float_is_written_digit_by_digit(value: float, text: str) -> None:
    assert encode(value) == {"N": text}
    assert decode({"N": text}) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
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
    ],
)
def test_numbers_that_others_wrote_are_read(text: str, value: float) -> None:
    read = decode({"N": text})

    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("encoded", "value"),
    [
        ({"SS": ["b", "a"]}, ["a", "b"]),
        ({"NS": ["2", "1.5"]}, [1.5, 2]),
        ({"BS": ["Yg==", "YQ=="]}, ["YQ==", "Yg=="]),
        ({"B": "AP8="}, "AP8="),
    ],
)
def test_types_that_only_others_write_are_read_as_json_would_have_them(encoded: dict[str, Any], value: Any) -> None:
    assert decode(encoded) == value


@pytest.mark.parametrize(
    "value",
    [
        *(float("nan"), float("inf"), float("-inf"), 1e126, -1e126, 1e-131, 5e-324, 2**63, -(2**63) - 1),
        *("\ud800", "a\udfff", {"\ud800": 1}, {"": 1}, {1: 1}, [float("nan")], {"a": ["\ud800"]}),
        *(b"a", {1}, (1,), object, 1j),
    ],
    ids=ascii,
)
def test_a_value_that_dynamodb_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(InvalidItem):
        encode(value)


def test_an_item_is_encoded_attribute_by_attribute() -> None:
    item = {"pk": "p", "n": 1, "list": [True]}
    encoded: dict[str, Any] = {"pk": {"S": "p"}, "n": {"N": "1"}, "list": {"L": [{"BOOL": True}]}}

    assert encode_item(item) == encoded
    assert decode_item(encoded) == item
