"""Values as DynamoDB's typed attribute values, and back."""

from typing import Any

import pytest

from graph.store.dynamodb.codec import decode, encode
from graph.store.values import InvalidItem


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


def test_a_value_that_dynamodb_cannot_hold_is_refused() -> None:
    values: list[Any] = [
        *(float("nan"), float("inf"), float("-inf"), 1e126, -1e126, 1e-131, 5e-324, 2**63, -(2**63) - 1),
        *("\ud800", "a\udfff", {"\ud800": 1}, {"": 1}, {1: 1}, [float("nan")], {"a": ["\ud800"]}),
        *(b"a", {1}, (1,), object, 1j),
    ]
    for value in values:
        with pytest.raises(InvalidItem):
            encode(value)
