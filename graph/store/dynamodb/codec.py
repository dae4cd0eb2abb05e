"""Items and values ⇄ DynamoDB's typed attribute values, `{"S": "text"}`, `{"N": "4.55"}` and so on.

A number travels as decimal text. What fits 64 bits and is whole is written digit by digit
and read as int; any other is written as the shortest text that reads back as the same
float. boto's own serializer would want Decimal for every magnitude and refuse float.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from graph.store.entity import Item
from graph.store.values import GREATEST_INTEGER, LEAST_INTEGER, InvalidItem, check_value

AttributeValue = dict[str, Any]
EncodedItem = dict[str, AttributeValue]


def encode(value: Any) -> AttributeValue:
    """A value from anywhere, checked.

    Raises:
        InvalidItem: No attribute can have that value.
    """
    check_value(value)
    return _encode(value)


def encode_item(item: Mapping[str, Any]) -> EncodedItem:
    """An item, or a part of one, that has been checked already."""
    return {name: _encode(value) for name, value in item.items()}


def decode_item(item: Mapping[str, Mapping[str, Any]]) -> Item:
    """The item that an answer holds, with all that is stored of it."""
    return {name: decode(value) for name, value in item.items()}


def _encode(value: Any) -> AttributeValue:
    if isinstance(value, str):
        return {"S": value}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, int | float):
        return {"N": _number(value)}
    if value is None:
        return {"NULL": True}
    if isinstance(value, dict):
        return {"M": encode_item(value)}
    if isinstance(value, list):
        return {"L": [_encode(element) for element in value]}
    raise InvalidItem(f"a {type(value).__name__} cannot be stored")


def _number(value: int | float) -> str:
    if isinstance(value, int) or (value.is_integer() and LEAST_INTEGER <= value <= GREATEST_INTEGER):
        return str(int(value))
    return repr(float(value))


def decode(value: Mapping[str, Any]) -> Any:
    """The value that an answer holds. Of the types that we never write, sets are read as lists."""
    if (text := value.get("S")) is not None:  # as most are, and a look-up takes less than to take the value apart
        return text
    ((kind, content),) = value.items()
    match kind:
        case "BOOL":
            return content
        case "N":
            return _read_number(content)
        case "NULL":
            return None
        case "M":
            return decode_item(content)
        case "L":
            return [decode(element) for element in content]
        case "SS":
            return sorted(content)
        case "NS":
            return sorted(map(_read_number, content))
        case "BS":
            return sorted(content)
        case _:
            return content  # binary, in base64: an item is made of what JSON has


def _read_number(text: str) -> int | float:
    if "." in text and not (short := float(text)).is_integer():
        return short  # as nearly all that have a point
    try:
        number = int(text)
    except ValueError:
        exact = Decimal(text)  # only to tell 2.50E+3, which is whole, from 2.5
        if exact != exact.to_integral_value():
            return float(text)
        number = int(exact)
    return number if LEAST_INTEGER <= number <= GREATEST_INTEGER else float(text)
