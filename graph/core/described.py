"""Values that describe their parts. The graph shows these descriptions."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Self, TypeVar, dataclass_transform

DESCRIPTION = "description"
INSTANT = "instant"

T = TypeVar("T")


def described(description: str, **options: Any) -> Any:
    """A part of a value, with its description, and options of a dataclass's field."""
    return field(metadata={DESCRIPTION: description}, **options)


def optional(description: str) -> Any:
    """A described part that is None by default. To a type checker, the call is a default like any other value."""
    return described(description, default=None)


def instant(description: str, **options: Any) -> Any:
    """A part of a value that is a time in epoch milliseconds, and a `DateTime` in the graph."""
    return field(metadata={DESCRIPTION: description, INSTANT: True}, **options)


@dataclass_transform(frozen_default=True, field_specifiers=(described, instant))
def value(of: type[T]) -> type[T]:
    """Make a class a frozen dataclass, whose docstring describes it."""
    return dataclass(frozen=True, slots=True)(of)


@dataclass_transform(field_specifiers=(described, instant))
def mutable(of: type[T]) -> type[T]:
    """Make a class a dataclass whose parts may change, as those of a report that counts."""
    return dataclass(slots=True)(of)


class Described(Enum):
    """An enum, of which each value has a description: `RED = "RED", "Like fire."`."""

    description: str

    def __new__(cls, value: Any, description: str = "") -> Self:  # without one, a type checker sees a look-up
        member = object.__new__(cls)
        member._value_ = value
        member.description = description
        return member


class DescribedText(Described):
    """An enum of texts with descriptions."""

    _value_: str

    @property
    def value(self) -> str:
        return self._value_
