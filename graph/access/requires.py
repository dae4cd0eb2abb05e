"""Which scope a field needs: `@strawberry.field(directives=[RequiresScope(Scope.LOGS_READ)])`.

Declared on the field, told by the schema as a directive and in the field's description, and
checked for all of an operation before any of it is resolved (`documents`).
"""

import strawberry
from graphql import GraphQLField
from strawberry.schema_directive import Location
from strawberry.types.field import StrawberryField

from graph.access.callers import Scope


@strawberry.schema_directive(
    locations=[Location.FIELD_DEFINITION], description="The caller's token must have this scope."
)
class RequiresScope:
    scope: str = strawberry.directive_field("scope")


def required_scope(field: GraphQLField) -> Scope | None:
    """The scope that a field of the schema needs."""
    definition = field.extensions.get("strawberry-definition")
    if isinstance(definition, StrawberryField):
        for directive in definition.directives:
            if isinstance(directive, RequiresScope):
                return Scope(directive.scope)
    return None


def describe_scope(field: GraphQLField) -> None:
    """Say in the field's description what it needs, as GraphiQL shows no directives."""
    if scope := required_scope(field):
        unless = ", unless reading is open to all" if scope is Scope.EVENTS_READ else ""
        field.description = f"{field.description} Needs the scope `{scope}`{unless}."
