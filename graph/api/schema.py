"""Assembles the schema from the domains' root fields, nodes and contributions to each other's types.

Each root field is recorded, and its description names its scope. The domains' own types are never
changed, so any number of schemas can be made of them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from enum import Enum
from types import new_class
from typing import Any, cast

import strawberry
from graphql import (
    GraphQLArgument,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    Undefined,
    get_nullable_type,
)
from strawberry.exceptions import DuplicatedTypeName
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.name_converter import NameConverter
from strawberry.schema.schema_converter import CustomGraphQLEnumType
from strawberry.types.base import StrawberryObjectDefinition
from strawberry.types.field import StrawberryField
from strawberry.types.scalar import ScalarDefinition

from graph.access.callers import Scope
from graph.api.fast.resolvers import replace_slow_resolvers
from graph.api.federation import FEDERATION_SCALARS, SDL, subgraph, subgraph_queries
from graph.api.fields import BEFORE
from graph.api.nodes import Node, node_queries
from graph.api.recorded import Recorded
from graph.api.scalars import SCALARS
from graph.api.scopes import describe_scope, required_scope
from graph.core.paging import USUAL_SIZES, PageSizes

NAMES = NameConverter()

ROOTS = {
    "Query": "The operations that read.",
    "Mutation": "The operations that change something.",
    "Subscription": "The operations that stream new data.",
}


Scalars = Mapping[object, ScalarDefinition]
"""Scalars by the Python types that name them."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """Fields that a domain adds to a type of a domain that it builds on."""

    to: type  # of Strawberry, such as Event
    fields: type  # its resolvers take the object as `strawberry.Parent`


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SchemaPart:
    """The part of the schema that a domain provides. Types are classes of Strawberry, unless they only have fields."""

    name: str
    scopes: tuple[Scope, ...] = ()  # all that its fields and nodes need
    queries: tuple[type, ...] = ()  # types whose fields become fields of Query
    mutations: tuple[type, ...] = ()
    subscriptions: tuple[type, ...] = ()
    nodes: tuple[Node, ...] = ()  # types whose objects `node` finds
    contributions: tuple[Contribution, ...] = ()  # fields added to types of the domains that it builds on
    scalars: Scalars = field(default_factory=dict)  # of its own


class ImproperSchema(ValueError):
    """The parts do not fit together: a defect of a domain."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of a service."""

    graphql: GraphQLSchema  # for execution
    printed: str  # in the schema definition language, as in `schema.graphql`


def build_schema(
    parts: Sequence[SchemaPart], sizes: PageSizes = USUAL_SIZES, *, compiled: bool = True, federation: bool = False
) -> Schema:
    """The schema of these parts. Each part may refer to those before it.

    Args:
        parts: in the order of the domains.
        sizes: of pages, for the descriptions.
        compiled: whether fields have faster resolvers than Strawberry's.
        federation: whether it is a subgraph, see `graph.api.federation`.

    Raises:
        ImproperSchema: Two parts have the same field or type, or no part declares a scope that is used.
        Exception: Another one, of the libraries, where a type is wrong.
    """
    nodes = [node for part in parts for node in part.nodes]
    own = [node_queries(nodes), *([subgraph_queries(nodes)] if federation and nodes else [])]
    types = {
        "Query": [*(("the service", each) for each in own), *_owned(parts, lambda part: part.queries)],
        "Mutation": _owned(parts, lambda part: part.mutations),
        "Subscription": _owned(parts, lambda part: part.subscriptions),
    }
    query, mutation, subscription = (_root(name, types[name]) for name in ROOTS)
    assert query is not None  # noqa: S101 - it has `node`
    contributions = [each for part in parts for each in part.contributions]
    for to in {each.to for each in contributions}:
        name = _definition(to).name
        added = [(part.name, each.fields) for part in parts for each in part.contributions if each.to is to]
        _check_names(name, [(name, to), *added])
    scalars = {
        **SCALARS,
        **(FEDERATION_SCALARS if federation else {}),
        **{kind: scalar for part in parts for kind, scalar in part.scalars.items()},
    }
    try:
        made = _AssembledSchema(contributions, scalars, query, mutation, subscription, types=nodes)
    except DuplicatedTypeName as error:
        modules = (str(getattr(each, "__module__", each)) for each in (error.first_cls, error.second_cls))
        raise ImproperSchema(f"{error}, in {' and '.join(modules)}: rename one") from None
    schema = made._schema
    _finish(schema.type_map.values(), sizes)
    for root in filter(None, (schema.query_type, schema.mutation_type)):
        for name, of_root in root.fields.items():
            if not name.startswith("_"):  # those of Federation have its types
                of_root.type = get_nullable_type(of_root.type)  # so that a field that fails is null alone
    _check_scopes(schema.type_map.values(), nodes, {scope for part in parts for scope in part.scopes})
    if compiled:
        replace_slow_resolvers(schema.type_map.values())
    printed = f"{made.as_str()}\n"
    if federation:
        schema.extensions[SDL] = subgraph(printed, nodes)
    return Schema(schema, printed)


class _AssembledSchema(strawberry.Schema):
    """Adds contributed fields to their types, and records root fields."""

    def __init__(
        self,
        contributions: Sequence[Contribution],
        scalars: Scalars,
        query: type,
        mutation: type | None,
        subscription: type | None,
        types: Sequence[type],
    ) -> None:
        self._contributions = contributions
        self._roots = {root for root in (query, mutation, subscription) if root}
        super().__init__(query, mutation, subscription, types=types, config=StrawberryConfig(scalar_map=dict(scalars)))

    def get_fields(self, type_definition: StrawberryObjectDefinition) -> list[StrawberryField]:
        """The fields of a type. Changed ones are copies."""
        own = _in_order(_with_contributions(type_definition, self._contributions))
        if type_definition.origin in self._roots:
            own = [_recorded(type_definition.name, field) for field in own]
        return own


def _owned(parts: Iterable[SchemaPart], types: Callable[[SchemaPart], Iterable[type]]) -> list[tuple[str, type]]:
    """Types that the parts give, each with the name of its part."""
    return [(part.name, each) for part in parts for each in types(part)]


def _root(name: str, types: Sequence[tuple[str, type]]) -> type | None:
    """The root type that has the fields of all these types."""
    if not types:
        return None
    _check_names(name, types)
    merged: type = strawberry.type(new_class(name, tuple(each for _, each in types)), description=ROOTS[name])
    return merged


def _with_contributions(of: StrawberryObjectDefinition, contributions: Iterable[Contribution]) -> list[StrawberryField]:
    """The fields of a type, its own first."""
    given = (each.fields for each in contributions if each.to is of.origin)
    return [*of.fields, *(field for each in given for field in _definition(each).fields)]


def _in_order(fields: Iterable[StrawberryField]) -> list[StrawberryField]:
    """The fields, each before the one that it names. If there is none of that name, it keeps its place."""
    placed: list[StrawberryField] = []
    for each in fields:
        names = list(map(_name, placed))
        following = each.metadata.get(BEFORE)
        placed.insert(names.index(following) if following in names else len(placed), each)
    return placed


def _check_names(type_name: str, types: Iterable[tuple[str, type]]) -> None:
    """Refuse two fields of one name. Each type comes with who defines it."""
    owners: dict[str, str] = {}
    for owner, each in types:
        for name in map(_name, _definition(each).fields):
            if name in owners:
                raise ImproperSchema(f"{owners[name]} and {owner} define {type_name}.{name}: keep it in one of them")
            owners[name] = owner


def _recorded(root: str, field: StrawberryField) -> StrawberryField:
    """A copy of the field that is recorded. Recording is its outermost extension."""
    same = copy(field)
    same.extensions = [Recorded(root, _name(field), field.metadata or {}), *field.extensions]
    return same


def _name(field: StrawberryField) -> str:
    """A field's name in the schema."""
    return NAMES.get_graphql_name(field)


def _definition(of: Any) -> StrawberryObjectDefinition:
    """What a type consists of. A class of root fields, or of contributed ones, need not be declared as one."""
    if "__strawberry_definition__" not in vars(of):  # a subclass has that of its base
        strawberry.type(of)
    definition: StrawberryObjectDefinition = of.__strawberry_definition__
    return definition


def _check_scopes(types: Iterable[GraphQLNamedType], nodes: Iterable[Node], declared: set[Scope]) -> None:
    """Refuse a scope that no domain declares: no token could have it."""
    needed = {scope for node in nodes if (scope := node.found_by.scope)}
    for named in types:
        if isinstance(named, GraphQLObjectType):
            needed |= {scope for field in named.fields.values() if (scope := required_scope(field))}
    if undeclared := sorted(needed - declared):
        raise ImproperSchema(f"no domain declares the scope {undeclared[0]}: add it to `scopes` of its domain")


def _finish(types: Iterable[GraphQLNamedType], sizes: PageSizes) -> None:
    """Describe pages, scopes and enums of lower layers, and remove the default null of optional arguments.

    Strawberry adds this default, and clients would print it everywhere.
    """
    for named in types:
        if isinstance(named, GraphQLInputObjectType):
            _leave_out(named.fields.values())
        elif isinstance(named, GraphQLObjectType):
            for field in named.fields.values():
                _leave_out(field.args.values())
                if {"first", "last"} <= field.args.keys():
                    field.description = f"{field.description} A page has at most {sizes.most:,} nodes."
                describe_scope(field)
        elif isinstance(named, CustomGraphQLEnumType):
            _describe_enum(named)


def _describe_enum(named: CustomGraphQLEnumType) -> None:
    """Take from an enum of a lower layer what its docstring and the descriptions of its values say."""
    of = cast("type[Enum]", named.wrapped_cls)
    named.description = named.description or (of.__doc__ or "").partition("\n")[0] or None
    for member, value in zip(of, named.values.values(), strict=True):
        value.description = value.description or getattr(member, "description", None)


def _leave_out(values: Iterable[GraphQLArgument | GraphQLInputField]) -> None:
    for value in values:
        if value.default_value is None:
            value.default_value = Undefined
