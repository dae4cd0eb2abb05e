"""The conditions of a filter of events. Each is declared once, as a field of `Selection`:

    max_gap: float | None = at_most(GAP, "Greatest angle without a station, degrees, inclusive.", Fdsn("maxgap", …))

A condition says how a store tests an item and which values are refused. If its attribute has a facet, it also says
which events of a day may match. A field of the graph's filter and a parameter of FDSN's service are derived from it.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple

from graph.domains.earthquakes.bounds import check_possible, check_texts
from graph.domains.earthquakes.facets import Names, NumberFacet, TextFacet
from graph.store.conditions import Absent, AnyOf, Compare, Condition, HasText, OneOf, SameText

_CONDITION = "condition"
_conditions: dict[type[Any], Mapping[str, "FilterCondition"]] = {}


class Fdsn(NamedTuple):
    """The parameter of FDSN's service that has the same meaning as a bound."""

    name: str
    description: str
    least: int | None = None  # of a whole number; a real one has the bounds of the attribute


@dataclass(frozen=True, slots=True)
class FilterCondition(ABC):
    """One condition, whatever its value is."""

    of: TextFacet | NumberFacet | str  # the attribute, by its facet if it has one
    description: str  # in the graph

    @property
    def attribute(self) -> str:
        """The attribute that it tests."""
        return self.of if isinstance(self.of, str) else self.of.attribute

    @property
    def is_counted(self) -> bool:
        """Whether facets tell which days may have matching events."""
        return not isinstance(self.of, str)

    @abstractmethod
    def test(self, value: Any) -> Condition | None:
        """What a store tests; None for nothing."""

    @abstractmethod
    def check(self, name: str, value: Any) -> None:
        """Raise `BadUserInput` for a value that it cannot have."""

    def names(self, value: Any) -> Names | None:
        """The names that matching events may have in the facet of a text; None if the attribute has no such facet."""
        return self.of.names(self.texts(value)) if isinstance(self.of, TextFacet) else None

    def texts(self, value: Any) -> Collection[object]:
        """The values of the attribute that match."""
        found: Collection[object] = value
        return found


@dataclass(frozen=True, slots=True)
class Bound(FilterCondition):
    """A bound of a number, inclusive. An event without the number does not match."""

    operator: Literal["<=", ">="]
    fdsn: Fdsn | None = None

    def test(self, value: float) -> Condition:
        return Compare(self.attribute, self.operator, value)

    def check(self, name: str, value: float) -> None:
        check_possible(name, value)


@dataclass(frozen=True, slots=True)
class AnyText(FilterCondition):
    """A list of texts, one of which the attribute has, without regard to case, accents and `_`."""

    def test(self, value: tuple[str, ...]) -> Condition:
        return SameText(self.attribute, value)

    def check(self, name: str, value: tuple[str, ...]) -> None:
        check_texts(name, value)


@dataclass(frozen=True, slots=True)
class AnyKey(AnyText):
    """A list of texts, one of which the attribute is."""

    def test(self, value: tuple[str, ...]) -> Condition:
        return OneOf(self.attribute, value)


@dataclass(frozen=True, slots=True)
class PartOfText(FilterCondition):
    """A part of the attribute's text."""

    def test(self, value: str) -> Condition | None:
        return HasText(self.attribute, value) if value else None

    def check(self, name: str, value: str) -> None:
        check_texts(name, (value,))


@dataclass(frozen=True, slots=True)
class Flag(FilterCondition):
    """A number that stands for true, 1, or false, 0. An event without it matches false."""

    def test(self, value: bool) -> Condition:
        if value:
            return Compare(self.attribute, "=", 1)
        return AnyOf((Absent(self.attribute), Compare(self.attribute, "=", 0)))

    def check(self, name: str, value: bool) -> None:
        """No value is refused."""

    def texts(self, value: bool) -> Collection[object]:
        return [1] if value else [0, None]


def at_least(of: NumberFacet | str, description: str, fdsn: Fdsn | None = None) -> Any:
    """A field of a selection: the least number."""
    return tested_by(Bound(of, description, ">=", fdsn))


def at_most(of: NumberFacet | str, description: str, fdsn: Fdsn | None = None) -> Any:
    """A field of a selection: the greatest number."""
    return tested_by(Bound(of, description, "<=", fdsn))


def tested_by(condition: FilterCondition) -> Any:
    """A field of a selection with a condition; None if it is not given."""
    return field(default=None, metadata={_CONDITION: condition})


def conditions_of(selection: type[Any]) -> Mapping[str, FilterCondition]:
    """The conditions of a class of selections, by their fields, in order."""
    if (found := _conditions.get(selection)) is None:
        all_fields = [(each.name, each.metadata.get(_CONDITION)) for each in fields(selection)]
        found = _conditions[selection] = {name: each for name, each in all_fields if each}
    return found


def ranges_of(selection: type[Any]) -> Sequence[tuple[str, str]]:
    """The fields with the least and the greatest value of one number, of each that has both."""
    fields_of: dict[tuple[str, str], str] = {}
    for name, each in conditions_of(selection).items():
        if isinstance(each, Bound):
            fields_of[each.attribute, each.operator] = name
    return [
        (low, fields_of[attribute, "<="])
        for (attribute, operator), low in fields_of.items()
        if operator == ">=" and (attribute, "<=") in fields_of
    ]
