"""Items and values ⇄ DynamoDB's typed attribute values, `{"S": "text"}`, `{"N": "4.55"}` and so on.

DynamoDB's numbers are decimal text. A whole number that fits 64 bits is written with all digits
and read as int. Any other number is written as the shortest text that reads back as the same
float. boto's own serializer requires Decimal and refuses float.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from graph.store.values import GREATEST_INTEGER, LEAST_INTEGER, InvalidItem, check_value

AttributeValue = dict[str, Any]
EncodedItem = dict[str, AttributeValue]

NULL: AttributeValue = {"NULL": True}


def encode(value: Any) -> AttributeValue:
    """Check and encode a value.

    Raises:
        InvalidItem: No attribute can have that value.
    """
    check_value(value)
    return _encode(value)


def encode_item(item: Mapping[str, Any]) -> EncodedItem:
    """Encode a checked item, or a part of one."""
    return {name: _encode(value) for name, value in item.items()}


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
    """Decode the value of an answer. Sets, which this service never writes, are read as lists."""
    if (text := value.get("S")) is not None:  # most values are text, and a look-up is the fastest test
        return text
    ((kind, content),) = value.items()
    match kind:
        case "BOOL":
            return content
        case "N":
            return read_number(content)
        case "NULL":
            return None
        case "M":
            return {name: decode(each) for name, each in content.items()}
        case "L":
            return [decode(element) for element in content]
        case "SS" | "BS":
            return sorted(content)
        case "NS":
            return sorted(map(read_number, content))
        case _:
            return content  # binary, in base64, since items hold only JSON's types


def read_number(text: str) -> int | float:
    """Read a number. Any number of an item is decimal text."""
    if "." in text and not (short := float(text)).is_integer():
        return short  # true for nearly all numbers with a point
    try:
        number = int(text)
    except ValueError:
        exact = Decimal(text)  # to distinguish 2.50E+3, which is whole, from 2.5
        if exact != exact.to_integral_value():
            return float(text)
        number = int(exact)
    return number if LEAST_INTEGER <= number <= GREATEST_INTEGER else float(text)
