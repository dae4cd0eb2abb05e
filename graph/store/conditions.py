"""Conditions on an item: filters of a query, and conditions of a write.

They mean what they mean in DynamoDB: a comparison with an absent attribute, or with one of
another type, does not hold. `predicate` evaluates them in Python. An engine may translate a
condition into its own language, with the same results.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Scalar = str | int | float | bool
Operator = Literal["=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Compare:
    """The attribute is present, has the value's type, and the comparison holds."""

    attribute: str
    operator: Operator
    value: Scalar


@dataclass(frozen=True, slots=True)
class OneOf:
    """The attribute equals one of the values, at most 100."""

    attribute: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Present:
    """The item has the attribute."""

    attribute: str


@dataclass(frozen=True, slots=True)
class Absent:
    """The item lacks the attribute. An item that does not exist lacks every attribute."""

    attribute: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every one of the conditions holds."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of the conditions holds."""

    conditions: tuple["Condition", ...]


Condition = Compare | OneOf | Present | Absent | AllOf | AnyOf

_OPERATORS: dict[Operator, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def all_of(*conditions: Condition | None) -> Condition | None:
    """The given conditions joined by AND; None without any."""
    given = tuple(c for c in conditions if c is not None)
    if len(given) < 2:
        return given[0] if given else None
    return AllOf(given)


def conjuncts(condition: Condition | None) -> Iterator[Condition]:
    """The parts that must all hold for `condition` to hold."""
    match condition:
        case None:
            return
        case AllOf(conditions):
            for part in conditions:
                yield from conjuncts(part)
        case _:
            yield condition


def values_of(condition: Condition | None) -> Iterator[Scalar]:
    """Every value that the condition compares with."""
    match condition:
        case Compare():
            yield condition.value
        case OneOf():
            yield from condition.values
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from values_of(part)


def predicate(condition: Condition) -> Callable[[Mapping[str, Any]], bool]:
    """A function that returns whether the condition holds for an item."""
    match condition:
        case Compare(attribute, sign, value):
            compare, kind = _OPERATORS[sign], kind_of(value)
            return lambda item: (
                (found := item.get(attribute)) is not None and kind_of(found) is kind and compare(found, value)
            )
        case OneOf(attribute, values):
            equalities = tuple(predicate(Compare(attribute, "=", value)) for value in values)
            return lambda item: any(holds(item) for holds in equalities)
        case Present(attribute):
            return lambda item: attribute in item
        case Absent(attribute):
            return lambda item: attribute not in item
        case AllOf(conditions):
            every = tuple(predicate(part) for part in conditions)
            return lambda item: all(holds(item) for holds in every)
        case AnyOf(conditions):
            some = tuple(predicate(part) for part in conditions)
            return lambda item: any(holds(item) for holds in some)


def kind_of(value: object) -> type:
    """The type by which a value is compared: all numbers are one type, a truth value is no number."""
    if isinstance(value, bool):
        return bool
    return float if isinstance(value, int | float) else type(value)
