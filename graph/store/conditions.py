"""Conditions on an item: filters of a query, and conditions of a write.

They mean what they mean in DynamoDB: a comparison with an absent attribute, or with one of
another type, does not hold. `SameText` and `HasText` are for filters alone, since DynamoDB
cannot fold a text. `predicate` evaluates all of them in Python. An engine may translate a
condition into its own language, with the same results.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from graph.store.folding import fold
from graph.store.values import InvalidItem, check_value, storable_bound

MOST_TEXTS = 100  # of one `SameText`

Scalar = str | int | float | bool
Operator = Literal["=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Compare:
    """The attribute is present, has the value's type, and the comparison holds."""

    attribute: str
    operator: Operator
    value: Scalar  # a number too close to zero to be stored becomes the bound that has the same meaning

    def __post_init__(self) -> None:
        if self.operator != "=":
            object.__setattr__(self, "value", storable_bound(self.value, up=self.operator in (">=", "<")))


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
class SameText:
    """The attribute is a text that equals one of the texts, at most 100, once all are folded. Only in a filter."""

    attribute: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HasText:
    """The attribute is a text that contains the text, once both are folded. Only in a filter."""

    attribute: str
    text: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every one of the conditions holds."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of the conditions holds."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The condition does not hold."""

    condition: "Condition"


SimpleCondition = Compare | OneOf | Present | Absent | SameText | HasText
"""A condition on one attribute."""

Condition = SimpleCondition | AllOf | AnyOf | Not

_OPERATORS: dict[Operator, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def unchanged(before: Mapping[str, Any] | None, *attributes: str) -> Condition:
    """The attributes are as they were in an item that was read; None if there was no item."""
    item = before or {}
    same = [Compare(name, "=", item[name]) if name in item else Absent(name) for name in attributes]
    return same[0] if len(same) == 1 else AllOf(tuple(same))


def all_of(*conditions: Condition | None) -> Condition | None:
    """The given conditions joined by AND; None without any."""
    given = tuple(c for c in conditions if c is not None)
    if len(given) < 2:
        return given[0] if given else None
    return AllOf(given)


def negated(condition: Condition) -> Condition:
    """The opposite of a condition."""
    return condition.condition if isinstance(condition, Not) else Not(condition)


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


def simple_conditions(condition: Condition | None) -> Iterator[SimpleCondition]:
    """The conditions on single attributes that `condition` is made of."""
    match condition:
        case None:
            return
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from simple_conditions(part)
        case Not(part):
            yield from simple_conditions(part)
        case _:
            yield condition


def values_of(condition: Condition | None) -> Iterator[Scalar]:
    """Every value that the condition compares with."""
    for part in simple_conditions(condition):
        match part:
            case Compare(_, _, value) | HasText(_, value):
                yield value
            case OneOf(_, values) | SameText(_, values):
                yield from values


def names_in(condition: Condition | None) -> frozenset[str]:
    """The attributes that the condition concerns."""
    return frozenset(part.attribute for part in simple_conditions(condition))


def folds_text(condition: Condition | None) -> bool:
    """Whether the condition tests a folded text."""
    return any(isinstance(part, SameText | HasText) for part in simple_conditions(condition))


def check_filter(where: Condition | None) -> None:
    """Raise `InvalidItem` for a filter with a value that no attribute can have, or with too many texts."""
    for value in values_of(where):
        check_value(value)
    for part in simple_conditions(where):
        if isinstance(part, SameText) and len(part.texts) > MOST_TEXTS:
            raise InvalidItem(f"a filter names {len(part.texts)} texts, but may name at most {MOST_TEXTS}")


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
        case SameText(attribute, texts):
            folded = frozenset(map(fold, texts))
            return lambda item: isinstance(found := item.get(attribute), str) and fold(found) in folded
        case HasText(attribute, text):
            wanted = fold(text)
            return lambda item: isinstance(found := item.get(attribute), str) and wanted in fold(found)
        case AllOf(conditions):
            every = tuple(predicate(part) for part in conditions)
            return lambda item: all(holds(item) for holds in every)
        case AnyOf(conditions):
            some = tuple(predicate(part) for part in conditions)
            return lambda item: any(holds(item) for holds in some)
        case Not(condition):
            refused = predicate(condition)
            return lambda item: not refused(item)


def kind_of(value: object) -> type:
    """The type by which a value is compared: all numbers are one type, a truth value is no number."""
    if isinstance(value, bool):
        return bool
    return float if isinstance(value, int | float) else type(value)


def are_numbers(values: Iterable[object]) -> bool:
    """Whether all the values are numbers."""
    kinds = set(map(type, values))  # a summary has hundreds of values, and two types at most
    return kinds <= _NUMBERS or (bool not in kinds and all(issubclass(kind, int | float) for kind in kinds))


_NUMBERS = frozenset({int, float})
