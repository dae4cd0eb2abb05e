"""Documents of any field of the schema, with a harmless value for each argument that it requires."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    get_named_type,
    is_leaf_type,
    is_required_argument,
    is_required_input_field,
)

from tests.contracts.connections import Word, literal, objects
from tests.schemas import schema

OPERATIONS = {"Query": "query", "Mutation": "mutation", "Subscription": "subscription"}
VALUES: Mapping[str, Any] = {
    **dict.fromkeys(("ID", "String"), "x"),
    **dict.fromkeys(("Int", "Float", "EpochMillis"), 1),
    "DateTime": "2100-01-01T00:00:00Z",
    "Date": "2100-01-01",
    "SightingCategory": "SHAKING",
    "JSON": {},
    "AsOf": {"first": True},  # one of its fields
}


Field = tuple[str, str, GraphQLField]


def fields() -> Iterator[Field]:
    """Each field of the schema: its type, its name and itself."""
    for of in objects():
        for name, field in of.fields.items():
            yield of.name, name, field


def document(parent: str, name: str, given: Mapping[str, Any] | None = None) -> str:
    """An operation that selects a field, and the leaves of its value.

    Args:
        given: arguments of the field, beside those that are required.
    """
    field = schema.type_map[parent].fields[name]  # type: ignore[attr-defined]
    text = f"{name}{_arguments(field, given or {})}{leaves(field.type)}"
    for root, above, of in reversed(WAYS[parent]):
        text, parent = f"{above}{_arguments(of, {})} {{ {text} }}", root
    return f"{OPERATIONS[parent]} {{ {text} }}"


def leaves(of: Any) -> str:
    """A selection of the leaves of a type."""
    named = get_named_type(of)
    if is_leaf_type(named):
        return ""
    if not isinstance(named, GraphQLObjectType):
        return " { __typename }"
    found = [
        name
        for name, field in named.fields.items()
        if is_leaf_type(get_named_type(field.type)) and not any(map(is_required_argument, field.args.values()))
    ]
    return f" {{ __typename {' '.join(found)} }}"


def value_of(of: Any) -> Any:
    """A value of an input type."""
    if isinstance(of, GraphQLNonNull):
        return value_of(of.of_type)
    if isinstance(of, GraphQLList):
        return [value_of(of.of_type)]
    if isinstance(of, GraphQLEnumType):
        return Word(next(iter(of.values)))
    if isinstance(of, GraphQLInputObjectType) and of.name not in VALUES:
        return {name: value_of(field.type) for name, field in of.fields.items() if is_required_input_field(field)}
    return VALUES[of.name]


def value_with(of: Any, path: Sequence[str], value: Any) -> Any:
    """A value of an input type that has another value where the path leads. One value is a list of one."""
    if not path:
        return value
    named: Any = get_named_type(of)
    return {**value_of(named), path[0]: value_with(named.fields[path[0]].type, path[1:], value)}


def _arguments(field: GraphQLField, given: Mapping[str, Any]) -> str:
    values = {name: value_of(each.type) for name, each in field.args.items() if is_required_argument(each)}
    values |= given
    return f"({', '.join(f'{name}: {literal(value)}' for name, value in values.items())})" if values else ""


def _ways() -> dict[str, list[Field]]:
    """How each type is reached from the root fields, those of queries first, by the fewest fields."""
    ways: dict[str, list[Field]] = {root: [] for root in OPERATIONS}
    for parent in (reached := [*OPERATIONS]):
        for name, field in schema.type_map[parent].fields.items():  # type: ignore[attr-defined]
            of = get_named_type(field.type)
            if isinstance(of, GraphQLObjectType) and of.name not in ways:
                ways[of.name] = [*ways[parent], (parent, name, field)]
                reached.append(of.name)
    return ways


WAYS = _ways()
