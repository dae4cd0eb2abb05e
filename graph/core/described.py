"""Frozen values that describe their parts. The graph shows these descriptions."""

from dataclasses import MISSING, dataclass, field
from enum import Enum
from typing import Any, Self, TypeVar, dataclass_transform

DESCRIPTION = "description"

T = TypeVar("T")


def described(description: str, *, default: Any = MISSING) -> Any:
    """A part of a value, with its description."""
    return field(default=default, metadata={DESCRIPTION: description})


@dataclass_transform(frozen_default=True, field_specifiers=(described,))
def value(of: type[T]) -> type[T]:
    """Make a class a frozen dataclass, whose docstring describes it."""
    return dataclass(frozen=True, slots=True)(of)


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
