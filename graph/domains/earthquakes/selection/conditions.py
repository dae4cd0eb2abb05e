"""The conditions of a filter of events. Each is declared once, as a field of `Selection`:

    max_gap: float | None = at_most(GAP, "Greatest angle without a station, degrees, inclusive.", Fdsn("maxgap"))

A condition says how a store tests an item and which values are refused. If its attribute has a facet, it also says
which events of a day may match. A field of the graph's filter and a parameter of FDSN's service are derived from it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from graph.core.described import DescribedText
from graph.core.errors import BadUserInput
from graph.core.names import camel_case
from graph.domains.earthquakes.facets import NumberFacet, TextFacet
from graph.domains.earthquakes.model import LONGEST_TEXT
from graph.store.conditions import Absent, AnyOf, Compare, Condition, HasText, OneOf, SameText
from graph.store.values import MAGNITUDE_END

MOST_TEXTS = 100  # in a list of a filter; a store takes no more at once


def check_order(low_name: str, low: float | None, high_name: str, high: float | None) -> None:
    """Raise `BadUserInput` if the lower bound exceeds the upper one."""
    if low is not None and high is not None and low > high:
        raise BadUserInput(f"`{low_name}` must not be greater than `{high_name}`.")


def check_possible(name: str, value: float | None) -> None:
    """Raise `BadUserInput` for a number that stores cannot compare: one beyond 1e126."""
    if value is not None and not -MAGNITUDE_END < value < MAGNITUDE_END:
        raise BadUserInput(f"`{name}` is outside of all possible values: choose a realistic one.")


def check_texts(name: str, texts: Collection[str]) -> None:
    """Raise `BadUserInput` for too many texts, or for one that is longer than any of an event."""
    if len(texts) > MOST_TEXTS:
        raise BadUserInput(f"`{name}` takes at most {MOST_TEXTS} values.")
    if any(len(text) > LONGEST_TEXT for text in texts):
        raise BadUserInput(f"`{name}` takes values of at most {LONGEST_TEXT:,} characters.")


_CONDITION = "condition"
_conditions: dict[type[Any], "_Conditions"] = {}


class Fdsn(NamedTuple):
    """The parameter of FDSN's service that has the same meaning as a bound."""

    name: str
    least: int | None = None  # of a whole number; a real one has the bounds of the attribute


@dataclass(frozen=True, slots=True)
class FilterCondition:
    """One condition, whatever its value is."""

    of: TextFacet | NumberFacet | str  # the attribute, by its facet if it has one
    description: str  # in the graph and of the parameter
    make: Callable[[str, Any], Condition | None]  # attribute and value → what a store tests
    refuse: Callable[[str, Any], None] = lambda name, value: None  # raises `BadUserInput` for an impossible value
    texts: Callable[[Any], Collection[object]] = tuple  # the values of a text that match
    operator: Literal["<=", ">="] | None = None  # of a bound
    fdsn: Fdsn | None = None
    known: type[DescribedText] | None = None  # the values of a list that a client may give; None for any text

    @property
    def attribute(self) -> str:
        """The attribute that it tests."""
        return self.of if isinstance(self.of, str) else self.of.attribute

    @property
    def is_counted(self) -> bool:
        """Whether facets tell which days may have matching events."""
        return not isinstance(self.of, str)

    def test(self, value: Any) -> Condition | None:
        """What a store tests; None for nothing."""
        return self.make(self.attribute, value)


def at_least(of: NumberFacet | str, description: str, fdsn: Fdsn | None = None) -> Any:
    """A field of a selection: the least number, inclusive. An event without the number does not match."""
    return _field(FilterCondition(of, description, _comparing(">="), check_possible, operator=">=", fdsn=fdsn))


def at_most(of: NumberFacet | str, description: str, fdsn: Fdsn | None = None) -> Any:
    """A field of a selection: the greatest number, inclusive. An event without the number does not match."""
    return _field(FilterCondition(of, description, _comparing("<="), check_possible, operator="<=", fdsn=fdsn))


def any_text(of: TextFacet, description: str, known: type[DescribedText] | None = None) -> Any:
    """A field of a selection: texts, one of which the attribute has, without regard to case, accents and `_`.

    Args:
        known: the values that a client may give; None for any text.
    """
    whole = f"{description}." if known else f"{description}; at most {MOST_TEXTS}, without regard to case and `_`."
    return _field(FilterCondition(of, whole, SameText, check_texts, known=known))


def any_key(of: str, description: str) -> Any:
    """A field of a selection: texts, one of which the attribute is."""

    def make(attribute: str, values: Sequence[str]) -> Condition:
        # They are also what the named events turned out to be, and so more than a client may name.
        some = [OneOf(attribute, tuple(values[at : at + MOST_TEXTS])) for at in range(0, len(values) or 1, MOST_TEXTS)]
        return AnyOf(tuple(some)) if len(some) > 1 else some[0]

    return _field(FilterCondition(of, description, make))


def part_of_text(of: str, description: str) -> Any:
    """A field of a selection: a part of the attribute's text."""

    def make(attribute: str, value: str) -> Condition | None:
        return HasText(attribute, value) if value else None

    return _field(FilterCondition(of, description, make, lambda name, value: check_texts(name, (value,))))


def flag(of: TextFacet, description: str) -> Any:
    """A field of a selection: whether the attribute is 1. An event without it matches false."""

    def make(attribute: str, value: bool) -> Condition:
        return Compare(attribute, "=", 1) if value else AnyOf((Absent(attribute), Compare(attribute, "=", 0)))

    return _field(FilterCondition(of, description, make, texts=lambda value: [1] if value else [0, None]))


def _field(condition: FilterCondition) -> Any:
    return field(default=None, metadata={_CONDITION: condition})


def _comparing(operator: Literal["<=", ">="]) -> Callable[[str, float], Condition]:
    return lambda attribute, value: Compare(attribute, operator, value)


def conditions_of(selection: type[Any]) -> Mapping[str, FilterCondition]:
    """The conditions of a class of selections, by their fields, in order."""
    return _of_class(selection).conditions


def given_in(selection: Any) -> list[tuple[FilterCondition, Any]]:
    """The conditions of a selection that have a value, with it, in order."""
    conditions, values, _ = _of_class(type(selection))
    return [each for each in zip(conditions.values(), values(selection), strict=True) if each[1] is not None]


def refuse_impossible(selection: Any) -> None:
    """Raise `BadUserInput` if a condition of a selection has a value that it cannot have."""
    conditions, values, names = _of_class(type(selection))
    for name, each, value in zip(names, conditions.values(), values(selection), strict=True):
        if value is not None:
            each.refuse(name, value)


class _Conditions(NamedTuple):
    """Those of a class of selections."""

    conditions: Mapping[str, FilterCondition]  # by field
    values: Callable[[Any], tuple[Any, ...]]  # of a selection
    names: Sequence[str]  # in the graph


def _of_class(selection: type[Any]) -> _Conditions:
    if (found := _conditions.get(selection)) is None:
        conditions = {each.name: each.metadata[_CONDITION] for each in fields(selection) if _CONDITION in each.metadata}
        found = _Conditions(conditions, attrgetter(*conditions), [*map(camel_case, conditions)])
        _conditions[selection] = found
    return found


def ranges_of(selection: type[Any]) -> Sequence[tuple[str, str]]:
    """The fields with the least and the greatest value of one number, of each that has both."""
    fields_of: dict[tuple[str, str], str] = {}
    for name, each in conditions_of(selection).items():
        if each.operator:
            fields_of[each.attribute, each.operator] = name
    return [
        (low, fields_of[attribute, "<="])
        for (attribute, operator), low in fields_of.items()
        if operator == ">=" and (attribute, "<=") in fields_of
    ]
