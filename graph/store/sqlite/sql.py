"""Parts of SQL: quoted names and translated conditions."""

from collections.abc import Callable
from typing import Any

from graph.store.conditions import (
    Absent,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    HasText,
    Not,
    OneOf,
    Present,
    SameText,
    kind_of,
)
from graph.store.entity import Entity
from graph.store.sqlite.folded import folded_test

Term = tuple[str, list[Any]]
"""A condition in SQL, and the values that it binds."""

OTHERS = "others"  # the column of undeclared attributes, a mapping in JSON
UNDECLARED = "undeclared"  # the function of readers that returns one of them: SQLite's own end a text at NUL


def quoted(name: str | None) -> str:
    """A quoted name for SQL."""
    return '"' + str(name).replace('"', '""') + '"'


def translate(condition: Condition, entity: Entity) -> Term:
    """The condition as SQL."""
    match condition:
        case Compare(name, sign, value):
            return _tested(entity, name, kind_of(value), lambda column: (f"{column} {sign} ?", [value]))
        case OneOf(name, values):
            return translate(AnyOf(tuple(Compare(name, "=", value) for value in values)), entity)
        case Present(name) | Absent(name):
            is_present = isinstance(condition, Present)
            if name in entity.named:
                return f"{quoted(name)} IS {'NOT ' if is_present else ''}NULL", []
            if not entity.open:
                return _constant(not is_present)
            return f"{'' if is_present else 'NOT '}{UNDECLARED}({OTHERS}, ?, NULL)", [name]
        case SameText(_, ()):
            return _constant(False)
        case SameText(name) | HasText(name):
            return _tested(entity, name, str, lambda column: folded_test(column, condition))
        case AllOf(conditions) | AnyOf(conditions):
            parts = [translate(part, entity) for part in conditions]
            operator = " AND " if isinstance(condition, AllOf) else " OR "
            if not parts:
                return _constant(isinstance(condition, AllOf))
            return f"({operator.join(sql for sql, _ in parts)})", [value for _, values in parts for value in values]
        case Not(part):
            sql, bound = translate(part, entity)
            return f"({sql}) IS NOT TRUE", bound  # a comparison with NULL is NULL


def _tested(entity: Entity, name: str, kind: type, test: Callable[[str], Term]) -> Term:
    """A test of an attribute's value, which holds only for one of this type. A column has one type."""
    if (attribute := entity.named.get(name)) is not None:
        compared_as = float if attribute.python_type is int else attribute.python_type
        return test(quoted(name)) if compared_as is kind else _constant(False)
    if not entity.open:
        return _constant(False)
    sql, values = test("value")
    found = f"SELECT {UNDECLARED}({OTHERS}, ?, ?) AS value LIMIT 1"  # without LIMIT, SQLite calls it for each `value`
    return f"EXISTS (SELECT 1 FROM ({found}) WHERE {sql})", [name, kind.__name__, *values]


def _constant(holds: bool) -> Term:
    """A constant as a bound value: with a literal, SQLite may refuse the index that a statement names."""
    return "?", [int(holds)]
