"""The limits of values, text and numbers on every engine, which are DynamoDB's.

The checks run for every item of an ingest. So they test the most common type first, and compute an
item's exact size only if a cheap upper bound exceeds the limit.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

ITEM_BYTES = 400 * 1024  # names and values together
NAME_BYTES = 65_535
DEPTH = 32  # levels of lists and mappings, the item itself being the first
VALUES = 10_000  # of a list or a mapping of a client; DynamoDB has no such limit, but each takes time
CONTAINERS = 2_000  # lists and mappings among them

LEAST_INTEGER, GREATEST_INTEGER = -(2**63), 2**63 - 1
LEAST_MAGNITUDE, MAGNITUDE_END = 1e-130, 1e126  # of a number other than zero; the end is exclusive

_BESIDE_BYTES = 32 * 1024  # the most that an item's keys take
_NUMBER_BYTES = 21  # the most that a number takes: a sign, 38 digits in pairs, an exponent
_BYTES_PER_CHARACTER = 4  # the most that UTF-8 takes
_NEST_BYTES = 3  # a list or mapping itself, and 1 more for each element


class InvalidItem(ValueError):
    """The item or key breaks the store's rules: a defect of the calling code."""


def check_size(values: Mapping[str, Any], stored: Callable[[], Mapping[str, Any]] | None = None) -> None:
    """Raise `InvalidItem` unless each value can be stored, and all together fit into an item.

    Args:
        stored: returns the values as they are stored, with keys.
    """
    most = ITEM_BYTES if stored is None else ITEM_BYTES - _BESIDE_BYTES
    if _bytes_at_most(values, 1) > most:
        whole = stored() if stored else values
        if written_bytes(whole) > ITEM_BYTES and (size := item_bytes(whole)) > ITEM_BYTES:
            raise InvalidItem(f"the item has {size} bytes, but may have at most {ITEM_BYTES}")


def check_number_of_values(value: list[Any] | Mapping[str, Any]) -> None:
    """Raise `InvalidItem` for a list or mapping of too many values. It looks at no more than so many."""
    number = len(value)
    containers: list[Any] = [value]
    for container in containers:  # the list grows meanwhile
        if number > VALUES:
            raise InvalidItem(f"lists and mappings have more than {VALUES:,} values")
        values: Any = container if type(container) is list else container.values()
        nested = [each for each in values if type(each) is dict or type(each) is list]
        number += sum(map(len, nested))
        containers += nested
        if len(containers) > CONTAINERS:
            raise InvalidItem(f"more than {CONTAINERS:,} lists and mappings are in one another")


def check_value(value: Any) -> None:
    """Raise `InvalidItem` unless the value can be an attribute's."""
    bytes_at_most(value)


def bytes_at_most(value: Any) -> int:
    """An upper bound of a value's size, which is cheap to compute.

    Raises:
        InvalidItem: The value cannot be an attribute's.
    """
    kind = type(value)
    return _bytes_at_most(value, 2) if kind is dict or kind is list else _bytes_at_most([value], 1)


def check_text(value: str) -> None:
    """Raise `InvalidItem` for a text that UTF-8 cannot express: one with half a surrogate pair."""
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidItem("a text is not valid Unicode: it has a lone surrogate") from None


def check_number(value: int | float) -> None:
    """Raise `InvalidItem` for a number that DynamoDB cannot store exactly."""
    if isinstance(value, int):
        if not LEAST_INTEGER <= value <= GREATEST_INTEGER:
            raise InvalidItem("a whole number does not fit 64 bits")
    elif not LEAST_MAGNITUDE <= abs(value) < MAGNITUDE_END and value != 0:  # NaN compares with nothing
        raise InvalidItem(f"{value} is not a number between ±{LEAST_MAGNITUDE} and ±{MAGNITUDE_END}")


def storable_bound(value: Any, *, up: bool) -> Any:
    """The value, or the next storable one if it is a number that is too close to zero.

    Args:
        up: whether the next greater one is meant. That bounds the same storable numbers with `>=` and `<`, and the
            next lesser one with `<=` and `>`.
    """
    if value.__class__ is not float or not 0 < abs(value) < LEAST_MAGNITUDE:
        return value
    if up is (value > 0):
        return LEAST_MAGNITUDE if up else -LEAST_MAGNITUDE
    return 0.0


def _bytes_at_most(container: Mapping[str, Any] | Sequence[Any], depth: int) -> int:
    """Check all elements, and return an upper bound of their bytes."""
    if type(container) is dict or isinstance(container, Mapping):  # the first test is much faster
        characters = _check_names(container)
        values: Any = container.values()
    else:
        characters, values = 0, container
    others = 0
    for value in values:
        kind = type(value)
        if kind is str:
            if not value.isascii():
                check_text(value)
            characters += len(value)
        elif kind is float:
            if not LEAST_MAGNITUDE <= abs(value) < MAGNITUDE_END and value != 0:
                check_number(value)
        elif kind is int:
            if not LEAST_INTEGER <= value <= GREATEST_INTEGER:
                check_number(value)
        elif kind is dict or kind is list:
            if depth == DEPTH:
                raise InvalidItem(f"lists and mappings are nested more than {DEPTH} deep")
            others += _NEST_BYTES + len(value) + _bytes_at_most(value, depth + 1)
        elif isinstance(value, str):  # a subclass, such as a StrEnum
            check_text(value)
            characters += len(value)
        elif isinstance(value, int | float):  # a truth value, or a subclass such as an IntEnum
            check_number(value)
        elif value is not None:
            raise InvalidItem(f"a {kind.__name__} cannot be stored")
    return characters * _BYTES_PER_CHARACTER + len(container) * _NUMBER_BYTES + others


def _check_names(mapping: Mapping[str, Any]) -> int:
    """Check the names, and return the number of their characters."""
    try:
        names = "".join(mapping)
    except TypeError:
        raise InvalidItem("an attribute's name must be a text") from None
    if not names.isascii():
        check_text(names)
    if "" in mapping:
        raise InvalidItem("an attribute's name is empty")
    if len(names) * _BYTES_PER_CHARACTER > NAME_BYTES and max(len(name.encode()) for name in mapping) > NAME_BYTES:
        raise InvalidItem(f"an attribute's name has more than {NAME_BYTES} bytes")
    return len(names)


def written_bytes(value: Any) -> int:
    """A closer upper bound of the size of a value that can be stored, from its JSON.

    A number of one digit and an empty list have one character less than bytes, counted with their places in a list.
    """
    written = orjson.dumps(value)
    return len(written) + 2 + written.count(b",") + written.count(b"[")


def item_bytes(item: Mapping[str, Any]) -> int:
    """The size of an item, at most 1 byte for each number more than DynamoDB's figure.

    Source: "DynamoDB item sizes and formats" of the Developer Guide. The rule for numbers is
    DynamoDB Local's, which stores their digits in pairs on either side of the decimal point.
    """
    size = 0
    for name, value in item.items():
        size += _text_bytes(name)
        size += _text_bytes(value) if value.__class__ is str else value_bytes(value)  # most values are texts
    return size


def value_bytes(value: Any) -> int:
    """The size of a value that can be stored, as `item_bytes` counts it."""
    match value:
        case None | bool():
            return 1
        case str():
            return _text_bytes(value)
        case int() | float():
            # repr is the shortest text that reads back the same, and is what is stored.
            digits = repr(abs(value)).partition("e")[0].replace(".", "").strip("0")
            return 1 if value == 0 else 2 + len(digits) // 2 + (value < 0)
        case dict():
            return _NEST_BYTES + len(value) + item_bytes(value)
        case _:
            return _NEST_BYTES + sum(1 + value_bytes(element) for element in value)


def _text_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
