"""Checks the declared attributes of every item that is written, and the values of every key that is read.

The common case is tested here: in one loop over the attributes that the item has, or by compiled code, see `usual`.
Any other value goes to the attribute's own `check`, which knows all cases and reports the error.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

from graph.core.compilation import Namespace
from graph.store.attributes import Attribute, Real, Text, Whole
from graph.store.values import GREATEST_INTEGER, LEAST_INTEGER, LEAST_MAGNITUDE, MAGNITUDE_END, InvalidItem

_ANY_LENGTH = 1 << 62
_GREATEST_REAL = MAGNITUDE_END / 2  # any bound below the end: a larger value is checked by the attribute


Check = tuple[Any, Any, Any, Attribute]
"""The class of a common value, its least and its greatest one; of a text, lengths."""


@dataclass(frozen=True, slots=True)
class AttributeChecks:
    """The attributes of an entity, with what a common value is compared with."""

    by_name: Mapping[str, Check]
    required: frozenset[str]

    @classmethod
    def of(cls, attributes: tuple[Attribute, ...]) -> "AttributeChecks":
        """Prepare the checks of these attributes."""
        required = frozenset(attribute.name for attribute in attributes if not attribute.optional)
        return cls({attribute.name: _check_of(attribute) for attribute in attributes}, required)

    def count(self, item: Mapping[str, Any]) -> int:
        """Check an item's attributes, and return how many of the entity's it has.

        Raises:
            InvalidItem: An attribute is missing, or has a value that it cannot have.
        """
        check_of, found = self.by_name.get, 0
        for name, value in item.items():
            if (check := check_of(name)) is None:
                continue
            found += 1
            kind, least, greatest, attribute = check
            if value.__class__ is kind:
                if kind is str:
                    if least <= len(value) <= greatest and value.isascii():
                        continue
                elif least <= value <= greatest and not (kind is float and -LEAST_MAGNITUDE < value < LEAST_MAGNITUDE):
                    continue
            attribute.check(value)
        if not self.required <= item.keys():
            raise InvalidItem(f"an item lacks `{min(self.required - item.keys())}`")
        return found


def values_check(attributes: Sequence[Attribute]) -> Callable[[Iterable[Sequence[Any]]], None]:
    """Compile the function that raises `InvalidItem` unless attributes can have the values of some rows."""
    namespace = Namespace()
    names = [f"value{at}" for at in range(len(attributes))]
    lines = [f"for {', '.join(names)}, in rows:"] if names else ["for _ in rows:", "    pass"]
    for attribute, name in zip(attributes, names, strict=True):
        lines.append(f"    if not ({usual(attribute, name)}): {namespace.constant('check', attribute.check)}({name})")
    return namespace.define("rows", lines)


def usual(attribute: Attribute, name: str) -> str:
    """The source of a test: only values that the attribute can have pass it, and most of them do.

    Args:
        name: of the variable that has the value.
    """
    kind, least, greatest, _ = _check_of(attribute)
    if kind is EllipsisType:
        return "False"
    if kind is str:
        return f"{name}.__class__ is str and {least} <= len({name}) <= {greatest} and {name}.isascii()"
    test = f"{name}.__class__ is {kind.__name__} and {least!r} <= {name} <= {greatest!r}"
    if kind is float:
        test += f" and not {-LEAST_MAGNITUDE!r} < {name} < {LEAST_MAGNITUDE!r}"
    return test


def _check_of(attribute: Attribute) -> Check:
    match attribute:
        case Text(plain=False):
            return str, attribute.shortest, _longest(attribute), attribute
        case Whole():
            return int, *_bounds(attribute, LEAST_INTEGER, GREATEST_INTEGER), attribute
        case Real():
            return float, *_bounds(attribute, -_GREATEST_REAL, _GREATEST_REAL), attribute
        case _:
            return EllipsisType, None, None, attribute  # the class of no value


def _longest(attribute: Text) -> int:
    return _ANY_LENGTH if attribute.longest is None else attribute.longest


def _bounds(attribute: Any, least: Any, greatest: Any) -> tuple[Any, Any]:
    return (
        least if attribute.least is None else attribute.least,
        greatest if attribute.greatest is None else attribute.greatest,
    )
