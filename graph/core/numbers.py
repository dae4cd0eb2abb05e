"""Whole numbers as programs write them: a table's column of whole numbers with a gap in it is written as `12.0`."""

from typing import Any


def whole(value: Any) -> int | None:
    """The whole number that a value of JSON stands for, `12` or `12.0`; None for any other value."""
    if value.__class__ is int:
        number: int = value
        return number
    return int(value) if value.__class__ is float and value.is_integer() else None
