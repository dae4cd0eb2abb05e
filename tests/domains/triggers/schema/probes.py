"""Documents made of the schema: for each root field of the triggers, one that selects all that it answers.

    root = ROOTS["deliveries"]
    root.document({"endpointId": "…"})     # query { deliveries(endpointId: "…") { nodes { id … } … } }

A value is given for each argument and input field that names something. Of one that is not known here, `values_of` says
so; then it belongs into the callers' values.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLObjectType,
    GraphQLSchema,
    get_named_type,
    is_composite_type,
    is_enum_type,
    is_required_argument,
    is_required_input_field,
)

from graph.app import schema_of
from graph.domains import DOMAINS
from graph.domains.triggers import DOMAIN
from tests.domains.triggers.in_store import URL
from tests.schemas import schema

DEPTH = 5  # levels of a selection
WITHOUT: GraphQLSchema = schema_of(tuple(domain for domain in DOMAINS if domain is not DOMAIN)).graphql

NAMING = {"ID", "String", "Int"}
"""Types of arguments that may name something of a user."""

HARMLESS: Mapping[str, Any] = {
    "type": "user.created",
    "payload": {"n": 1},
    "url": URL,
    "name": "Mine",
    "overlapHours": 1,
    "filter": None,
    "first": None,
    "last": None,
    "types": None,
    "description": None,
    "correlationId": None,
}
"""Arguments and input fields that name nothing of a user, with a value; None to leave them out."""


@dataclass(frozen=True)
class Root:
    """A root field."""

    operation: str  # query, mutation or subscription
    name: str
    field: GraphQLField

    @property
    def cursors(self) -> list[str]:
        """Its arguments that are cursors."""
        return [name for name in ("after", "before") if name in self.field.args]

    def document(self, values: Mapping[str, Any]) -> str:
        """The operation with these values of whatever names something; cursors only if they are among them."""
        given = {
            name: value
            for name, argument in self.field.args.items()
            if (value := _value(name, argument, values)) is not None
        }
        arguments = ", ".join(f"{name}: {_literal(value)}" for name, value in given.items())
        return f"{self.operation} {{ {self.name}{f'({arguments})' if arguments else ''} {selection(self.field.type)} }}"


def _roots() -> Iterator[Root]:
    for operation in ("query", "mutation", "subscription"):
        ours, others = (getattr(each, f"{operation}_type").fields for each in (schema, WITHOUT))
        for name, field in ours.items():
            if name not in others:
                yield Root(operation, name, field)


ROOTS = {f"{root.operation} {root.name}": root for root in _roots()}
TYPES = {name: each for name, each in schema.type_map.items() if name not in WITHOUT.type_map}


def selection(of: Any, depth: int = DEPTH) -> str:
    """All fields of a type without required arguments, so many levels deep."""
    named = get_named_type(of)
    if not isinstance(named, GraphQLObjectType):
        return ""
    parts = []
    for name, field in named.fields.items():
        if any(map(is_required_argument, field.args.values())):
            continue
        if not is_composite_type(get_named_type(field.type)):
            parts.append(name)
        elif depth > 1 and (inner := selection(field.type, depth - 1)):
            parts.append(f"{name}{'(first: 2)' if 'first' in field.args else ''} {inner}")
    return f"{{ {' '.join(parts)} }}" if parts else ""


def _value(name: str, argument: GraphQLArgument | GraphQLInputField, values: Mapping[str, Any]) -> Any:
    """The value of an argument or input field; None to leave it out."""
    of = get_named_type(argument.type)
    if name in values:
        return values[name]
    if name in ("after", "before"):
        return None
    is_required = is_required_argument if isinstance(argument, GraphQLArgument) else is_required_input_field
    if isinstance(of, GraphQLInputObjectType) and (name == "input" or is_required(argument)):  # type: ignore[arg-type]
        inner = {each: _value(each, field, values) for each, field in of.fields.items()}
        return {each: value for each, value in inner.items() if value is not None}
    if name in HARMLESS:
        return HARMLESS[name]
    assert of.name not in NAMING, f"`{name}` may name something of a user: say what"
    assert is_enum_type(of) or not is_required(argument), name  # type: ignore[arg-type]
    return None


def _literal(value: Any) -> str:
    """A value as GraphQL writes it."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {_literal(each)}' for name, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return orjson.dumps(value).decode()
