"""The schema, assembled from what the domains give: their root fields, nodes, and fields of each other's types.

Each root field is recorded, and says which scope it needs. Nothing is changed of the domains' own
types, so that any number of schemas can be made of them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from types import new_class
from typing import Any, Protocol

import strawberry
from graphql import (
    GraphQLArgument,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    Undefined,
)
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.name_converter import NameConverter
from strawberry.types.base import StrawberryObjectDefinition
from strawberry.types.field import StrawberryField

from graph.access.callers import Scope
from graph.api.fast.resolvers import shorten
from graph.api.nodes import Node, node_queries
from graph.api.recording import Recorded
from graph.api.scalars import SCALARS
from graph.api.scopes import describe_scope, required_scope

NAMES = NameConverter()

ROOTS = {
    "Query": "What can be read.",
    "Mutation": "What can be changed.",
    "Subscription": "What can be waited for.",
}


@dataclass(frozen=True, slots=True)
class Contribution:
    """Fields that a domain adds to a type of another one, on which it builds."""

    to: type  # of Strawberry, such as Event
    fields: type  # of Strawberry; its resolvers take the object as `strawberry.Parent`


class SchemaPart(Protocol):
    """What a domain gives the schema. Types are classes of Strawberry."""

    @property
    def name(self) -> str:
        """The domain's name."""

    @property
    def scopes(self) -> Sequence[Scope]:
        """All that its fields and nodes need."""

    @property
    def queries(self) -> Sequence[type]:
        """Types whose fields become those of Query."""

    @property
    def mutations(self) -> Sequence[type]:
        """Types whose fields become those of Mutation."""

    @property
    def subscriptions(self) -> Sequence[type]:
        """Types whose fields become those of Subscription."""

    @property
    def nodes(self) -> Sequence[Node]:
        """Types of which `node` finds the objects."""

    @property
    def contributions(self) -> Sequence[Contribution]:
        """Fields of other domains' types."""


class ImproperSchema(ValueError):
    """The parts do not make a schema: a defect of a domain."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of a service."""

    graphql: GraphQLSchema  # as it is executed: the endpoint takes each step of that by itself
    printed: str  # in the schema definition language, as `schema.graphql` keeps it


def build_schema(parts: Sequence[SchemaPart]) -> Schema:
    """The schema of these parts, each of which may refer to those before it.

    Raises:
        ImproperSchema: Two parts have the same field, or a scope is used that none declares.
    """
    nodes = [node for part in parts for node in part.nodes]
    types = {
        "Query": [node_queries(nodes), *(each for part in parts for each in part.queries)],
        "Mutation": [each for part in parts for each in part.mutations],
        "Subscription": [each for part in parts for each in part.subscriptions],
    }
    query, mutation, subscription = (_root(name, types[name]) for name in ROOTS)
    assert query is not None  # noqa: S101 - it has `node`
    contributions = [each for part in parts for each in part.contributions]
    for to in {each.to for each in contributions}:
        _check_names(_definition(to).name, _with_contributions(_definition(to), contributions))
    made = _AssembledSchema(contributions, query, mutation, subscription, types=[node.type for node in nodes])
    schema = made._schema
    _finish(schema.type_map.values())
    _check_scopes(schema.type_map.values(), nodes, {scope for part in parts for scope in part.scopes})
    shorten(schema.type_map.values())
    return Schema(schema, f"{made.as_str()}\n")


class _AssembledSchema(strawberry.Schema):
    """Gives types their contributed fields, and has root fields recorded."""

    def __init__(
        self,
        contributions: Sequence[Contribution],
        query: type,
        mutation: type | None,
        subscription: type | None,
        types: Sequence[type],
    ) -> None:
        self._contributions = contributions
        self._roots = {root for root in (query, mutation, subscription) if root}
        super().__init__(query, mutation, subscription, types=types, config=StrawberryConfig(scalar_map=SCALARS))

    def get_fields(self, type_definition: StrawberryObjectDefinition) -> list[StrawberryField]:
        """The fields of a type, copied where something is done to them."""
        own = _with_contributions(type_definition, self._contributions)
        if type_definition.origin in self._roots:
            own = [_recorded(type_definition.name, field) for field in own]
        return own


def _root(name: str, types: Sequence[type]) -> type | None:
    """The root type that has the fields of all these types."""
    if not types:
        return None
    _check_names(name, [field for each in types for field in _definition(each).fields])
    merged: type = strawberry.type(new_class(name, tuple(types)), description=ROOTS[name])
    return merged


def _with_contributions(of: StrawberryObjectDefinition, contributions: Iterable[Contribution]) -> list[StrawberryField]:
    """The fields of a type, its own first."""
    given = (each.fields for each in contributions if each.to is of.origin)
    return [*of.fields, *(field for each in given for field in _definition(each).fields)]


def _check_names(type_name: str, fields: Iterable[StrawberryField]) -> None:
    """Refuse two fields of one name."""
    for name, number in Counter(_name(field) for field in fields).items():
        if number > 1:
            raise ImproperSchema(f"{type_name}.{name} is given {number} times: each field has one domain")


def _recorded(root: str, field: StrawberryField) -> StrawberryField:
    """The same field, recorded. What else extends it comes inside."""
    same = copy(field)
    same.extensions = [Recorded(root, _name(field), field.metadata or {}), *field.extensions]
    return same


def _name(field: StrawberryField) -> str:
    """A field's name in the schema."""
    return NAMES.get_graphql_name(field)


def _definition(of: Any) -> StrawberryObjectDefinition:
    definition: StrawberryObjectDefinition = of.__strawberry_definition__
    return definition


def _check_scopes(types: Iterable[GraphQLNamedType], nodes: Iterable[Node], declared: set[Scope]) -> None:
    """Refuse a scope that no domain declares, since no token could have it."""
    needed = {node.scope for node in nodes if node.scope}
    for named in types:
        if isinstance(named, GraphQLObjectType):
            needed |= {scope for field in named.fields.values() if (scope := required_scope(field))}
    if undeclared := sorted(needed - declared):
        raise ImproperSchema(f"no domain declares the scope {undeclared[0]}: add it to `scopes` of its domain")


def _finish(types: Iterable[GraphQLNamedType]) -> None:
    """Say which scopes fields need, and make what is optional just that.

    Strawberry gives the latter the default null, which clients would print everywhere.
    """
    for named in types:
        if isinstance(named, GraphQLInputObjectType):
            _leave_out(named.fields.values())
        elif isinstance(named, GraphQLObjectType):
            for field in named.fields.values():
                _leave_out(field.args.values())
                describe_scope(field)


def _leave_out(values: Iterable[GraphQLArgument | GraphQLInputField]) -> None:
    for value in values:
        if value.default_value is None:
            value.default_value = Undefined
