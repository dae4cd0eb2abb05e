"""Checks the declared attributes of every item that is written, and the values of every key that is read.

Compiled code tests the common case, see `usual`. Any other value goes to the attribute's own `check`, which knows all
cases and reports the error.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import EllipsisType
from typing import Any

from graph.core.compilation import Namespace
from graph.store.attributes import Attribute, Real, Text, Whole
from graph.store.values import GREATEST_INTEGER, LEAST_INTEGER, LEAST_MAGNITUDE, MAGNITUDE_END, InvalidItem

_ANY_LENGTH = 1 << 62
_GREATEST_REAL = MAGNITUDE_END / 2  # any bound below the end: a larger value is checked by the attribute


def item_check(attributes: Sequence[Attribute]) -> Callable[[Mapping[str, Any]], int]:
    """Compile the function that checks an item's attributes, and returns how many of the entity's it has.

    It raises `InvalidItem` if an attribute is missing, or has a value that it cannot have.
    """
    required = frozenset(attribute.name for attribute in attributes if not attribute.optional)

    def lacking(item: Mapping[str, Any]) -> InvalidItem:
        return InvalidItem(f"an item lacks `{min(required - item.keys())}`")

    namespace = Namespace(required=required, lacking=lacking)
    lines = ["get, found = item.get, 0"]
    for attribute in attributes:
        check = namespace.constant("check", attribute.check)
        test = f"    if not ({usual(attribute, 'value')}): {check}(value)"
        lines += [f"value = get({attribute.name!r}, ...)", "if value is not ...:", "    found += 1", test]
    return namespace.define("item", [*lines, "if not required <= item.keys(): raise lacking(item)", "return found"])


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
    kind, least, greatest = _common(attribute)
    if kind is EllipsisType:
        return "False"
    if kind is str:
        is_usual = "isprintable" if getattr(attribute, "in_cursor", False) else "isascii"
        return f"{name}.__class__ is str and {least} <= len({name}) <= {greatest} and {name}.{is_usual}()"
    test = f"{name}.__class__ is {kind.__name__} and {least!r} <= {name} <= {greatest!r}"
    if kind is float:
        test += f" and not {-LEAST_MAGNITUDE!r} < {name} < {LEAST_MAGNITUDE!r}"
    return test


def _common(attribute: Attribute) -> tuple[Any, Any, Any]:
    """The class of a common value, its least and its greatest one; of a text, lengths."""
    match attribute:
        case Text(plain=False) if type(attribute) is Text:
            return str, attribute.shortest, _ANY_LENGTH if attribute.longest is None else attribute.longest
        case Whole():
            return int, *_bounds(attribute, LEAST_INTEGER, GREATEST_INTEGER)
        case Real():
            return float, *_bounds(attribute, -_GREATEST_REAL, _GREATEST_REAL)
        case _:
            return EllipsisType, None, None  # the class of no value


def _bounds(attribute: Any, least: Any, greatest: Any) -> tuple[Any, Any]:
    return (
        least if attribute.least is None else attribute.least,
        greatest if attribute.greatest is None else attribute.greatest,
    )
