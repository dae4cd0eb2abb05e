"""Parses the bytes of one feature into a mapping, or into the reason why it cannot be read.

orjson parses almost all features. But it turns a whole number of more than 64 bits into a float, and it
refuses a whole feature because of half a surrogate pair in one text. The standard library's decoder is
slower and exact. It parses a feature again if one of the two cases may be present.
"""

import json
import math
from dataclasses import dataclass
from typing import Any

import orjson

LEAST_WHOLE, GREATEST_WHOLE = -(2**63), 2**63 - 1
_LONGEST_WHOLE = len(str(LEAST_WHOLE))

_DIGITS_ALIKE = bytes(ord("0") if byte in b"0123456789" else byte for byte in range(256))
_MANY_DIGITS = b"0" * len(str(GREATEST_WHOLE))  # a whole number out of range has at least as many


@dataclass(frozen=True, slots=True)
class UnreadableFeature:
    """Stands for a feature that cannot be read."""

    position: int  # from 1: in a collection the number of the feature, in a file of lines the number of the line
    reason: str  # completes "rejected, because it is …"


RawFeature = dict[str, Any] | UnreadableFeature


class _OutOfRange(ValueError):
    """A number is out of the accepted range."""


def read_feature(text: bytes, position: int) -> RawFeature:
    """Parse one feature; `position` counts from 1."""
    reason = "nested too deep"
    try:
        value = orjson.loads(text)
        exact = _MANY_DIGITS not in text.translate(_DIGITS_ALIKE)
    except orjson.JSONDecodeError as error:
        reason, exact = f"not JSON: {error.msg}", False
    if not exact:
        try:
            value = _EXACT.decode(text.decode())
        except _OutOfRange:
            return UnreadableFeature(position, "unreadable: it holds a number out of range")
        except (ValueError, RecursionError):
            return UnreadableFeature(position, reason)
    return value if type(value) is dict else UnreadableFeature(position, "not a JSON object")


def read_detail(text: bytes, position: int) -> RawFeature:
    """Parse one feature, and drop its products, which take most of the memory and are not used."""
    feature = read_feature(text, position)
    if not isinstance(feature, UnreadableFeature) and isinstance(properties := feature.get("properties"), dict):
        properties.pop("products", None)
    return feature


def read_member(text: bytes) -> Any:
    """Parse a member's name, or a value that is not a feature. A number out of range is accepted, since none is used.

    Raises:
        ValueError: It is not JSON.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        try:
            return _LENIENT.decode(text.decode())
        except RecursionError:
            raise error from None


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST_WHOLE or not LEAST_WHOLE <= (number := int(digits)) <= GREATEST_WHOLE:
        raise _OutOfRange
    return number


def _real(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise _OutOfRange
    return number


def _constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_EXACT = json.JSONDecoder(parse_int=_whole, parse_float=_real, parse_constant=_constant)
_LENIENT = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=_constant)
