"""Parts of SQL: quoted names and translated conditions."""

from typing import Any

from graph.store.attributes import Attribute, Real, Text, Truth, Whole
from graph.store.conditions import Absent, AllOf, AnyOf, Compare, Condition, HasText, OneOf, Present, SameText, kind_of
from graph.store.entity import Entity
from graph.store.sqlite.folded import folded_test

Term = tuple[str, list[Any]]
"""A condition in SQL, and the values that it binds."""


def quoted(name: str | None) -> str:
    """A quoted name for SQL."""
    return '"' + str(name).replace('"', '""') + '"'


def translate(condition: Condition, entity: Entity) -> Term | None:
    """The condition as SQL; None if it concerns an attribute without a column.

    A column has one type, so a comparison with a value of another type holds for no item.
    """
    match condition:
        case Compare(name, sign, value):
            if (attribute := entity.named.get(name)) is None:
                return None if entity.open else _constant(False)
            return (f"{quoted(name)} {sign} ?", [value]) if kind_of(value) is _kind(attribute) else _constant(False)
        case OneOf(name, values):
            return translate(AnyOf(tuple(Compare(name, "=", value) for value in values)), entity)
        case Present(name) | Absent(name):
            is_present = isinstance(condition, Present)
            if name not in entity.named:
                return None if entity.open else _constant(not is_present)
            return f"{quoted(name)} IS {'NOT ' if is_present else ''}NULL", []
        case SameText(_, ()):
            return _constant(False)
        case SameText(name) | HasText(name):
            if (attribute := entity.named.get(name)) is None:
                return None if entity.open else _constant(False)
            return folded_test(quoted(name), condition) if _kind(attribute) is str else _constant(False)
        case AllOf(conditions) | AnyOf(conditions):
            parts = [translate(part, entity) for part in conditions]
            operator = " AND " if isinstance(condition, AllOf) else " OR "
            known = [part for part in parts if part is not None]
            if len(known) < len(parts):
                return None
            if not known:
                return _constant(isinstance(condition, AllOf))
            return f"({operator.join(sql for sql, _ in known)})", [value for _, values in known for value in values]


def _constant(holds: bool) -> Term:
    """A constant as a bound value: with a literal, SQLite may refuse the index that a statement names."""
    return "?", [int(holds)]


def _kind(attribute: Attribute) -> type | None:
    """The type that the attribute's values are compared as; None for a list or a mapping."""
    match attribute:
        case Text():
            return str
        case Whole() | Real():
            return float
        case Truth():
            return bool
        case _:
            return None
