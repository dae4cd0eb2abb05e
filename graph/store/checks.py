"""Checks an item's declared attributes, for every item that is written.

The common case is tested here, in one loop for each type. Any other value goes to the attribute's own
`check`, which knows all cases and reports the error.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graph.store.attributes import Attribute, Real, Text, Whole
from graph.store.values import GREATEST_INTEGER, LEAST_INTEGER, LEAST_MAGNITUDE, MAGNITUDE_END, InvalidItem

_MISSING = object()
_ANY_LENGTH = 1 << 62
_GREATEST_REAL = MAGNITUDE_END / 2  # any bound below the end: a larger value is checked by the attribute


@dataclass(frozen=True, slots=True)
class AttributeChecks:
    """The attributes of an entity by type, with the bounds that a value is compared with."""

    texts: tuple[tuple[str, int, int, Attribute], ...]
    wholes: tuple[tuple[str, int, int, Attribute], ...]
    reals: tuple[tuple[str, float, float, Attribute], ...]
    others: tuple[tuple[str, Attribute], ...]

    @classmethod
    def of(cls, attributes: tuple[Attribute, ...]) -> "AttributeChecks":
        """Sort the attributes by type."""
        return cls(
            tuple((a.name, a.shortest, _longest(a), a) for a in attributes if type(a) is Text),
            tuple((a.name, *_bounds(a, LEAST_INTEGER, GREATEST_INTEGER), a) for a in attributes if type(a) is Whole),
            tuple((a.name, *_bounds(a, -_GREATEST_REAL, _GREATEST_REAL), a) for a in attributes if type(a) is Real),
            tuple((a.name, a) for a in attributes if type(a) not in (Text, Whole, Real)),
        )

    def count(self, item: Mapping[str, Any]) -> int:
        """Check an item's attributes, and return how many of them it has.

        Raises:
            InvalidItem: An attribute is missing, or has a value that it cannot have.
        """
        get, found = item.get, 0
        for name, shortest, longest, attribute in self.texts:
            if (value := get(name, _MISSING)) is _MISSING:
                _may_lack(attribute)
                continue
            found += 1
            if value.__class__ is not str or not shortest <= len(value) <= longest or not value.isascii():
                attribute.check(value)
        for name, least, greatest, attribute in self.wholes:
            if (value := get(name, _MISSING)) is _MISSING:
                _may_lack(attribute)
                continue
            found += 1
            if value.__class__ is not int or not least <= value <= greatest:
                attribute.check(value)
        for name, low, high, attribute in self.reals:
            if (value := get(name, _MISSING)) is _MISSING:
                _may_lack(attribute)
                continue
            found += 1
            if value.__class__ is not float or not low <= value <= high or -LEAST_MAGNITUDE < value < LEAST_MAGNITUDE:
                attribute.check(value)
        for name, attribute in self.others:
            if (value := get(name, _MISSING)) is _MISSING:
                _may_lack(attribute)
                continue
            found += 1
            attribute.check(value)
        return found


def _longest(attribute: Text) -> int:
    return _ANY_LENGTH if attribute.longest is None else attribute.longest


def _bounds(attribute: Any, least: Any, greatest: Any) -> tuple[Any, Any]:
    return (
        least if attribute.least is None else attribute.least,
        greatest if attribute.greatest is None else attribute.greatest,
    )


def _may_lack(attribute: Attribute) -> None:
    if not attribute.optional:
        raise InvalidItem(f"an item lacks `{attribute.name}`")
