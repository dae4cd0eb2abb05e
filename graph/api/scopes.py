"""The scopes that an operation needs. Fields declare them; they are known before any field is resolved.

    @field("Requests of the last 7 days.", scope=LOGS_READ)
    @strawberry.field(metadata=requires_scopes_of(scopes_of_ids))

The first is for a field that always needs the same scope. The schema shows it as a directive and in
the field's description. The second is for a field whose arguments decide which scopes it needs.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import strawberry
from graphql import FieldNode, FragmentDefinitionNode, GraphQLField, GraphQLSchema, OperationDefinitionNode
from strawberry.schema_directive import Location

from graph.access.callers import Scope
from graph.api.fast.nodes import has_variables
from graph.api.fast.plain_fields import field_of
from graph.api.selections import arguments_of, by_variables, fields_of
from graph.api.sizes import directive_of

Arguments = Mapping[str, Any]
"""The arguments of a field by their names in the schema, unchecked, as the client sent them."""

ScopesOf = Callable[[Arguments], Iterable[Scope]]
"""Arguments of a field → the scopes that they need. Invalid arguments need none: the field refuses them."""

RequiredScopes = Callable[[Mapping[str, Any]], frozenset[Scope]]
"""Variables as the client sent them → the scopes that an operation needs."""

_SCOPES_OF = "scopes_of_arguments"


@strawberry.schema_directive(
    locations=[Location.FIELD_DEFINITION], description="The caller's token must have these scopes."
)
class RequiresScopes:
    scopes: list[list[str]] = strawberry.directive_field("scopes")  # all of one of these lists


def requires_scopes_of(scopes_of: ScopesOf) -> Mapping[str, ScopesOf]:
    """The metadata of a field whose arguments decide which scopes it needs."""
    return {_SCOPES_OF: scopes_of}


def required_scope(field: GraphQLField) -> Scope | None:
    """The scope that a field of the schema always needs."""
    directive = directive_of(field, RequiresScopes)
    return cast("Scope", directive.scopes[0][0]) if directive else None


def describe_scope(field: GraphQLField) -> None:
    """Add the scope to the field's description, since GraphiQL shows no directives."""
    if scope := required_scope(field):
        unless = ", unless public reading is on" if scope.public else ""
        field.description = f"{field.description} Needs the scope `{scope}`{unless}."


def required_scopes(
    schema: GraphQLSchema, operation: OperationDefinitionNode, fragments: Mapping[str, FragmentDefinitionNode]
) -> RequiredScopes:
    """The scopes that a valid operation needs, for its own fields and those of its fragments."""
    always: set[Scope] = set()
    found: list[tuple[ScopesOf, FieldNode]] = []
    for _, definition, node in fields_of(schema, operation, fragments):
        if scope := required_scope(definition):
            always.add(scope)
        field = field_of(definition)
        if field and (scopes_of := field.metadata.get(_SCOPES_OF)):
            if any(has_variables(argument) for argument in node.arguments or ()):
                found.append((scopes_of, node))
            else:
                always.update(scopes_of(arguments_of(node, {})))
    fixed, of_arguments = frozenset(always), by_variables(operation, found)
    return lambda variables: fixed.union(*of_arguments(variables)) if found else fixed
