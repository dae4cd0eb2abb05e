"""How a plain field is resolved, so that compiled functions can do the same, see `completion`."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, cast

from graphql import GraphQLField, Undefined
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types.field import StrawberryField


class NeedsExecutor(Exception):
    """Only Strawberry can resolve the field, and only the executor can complete its selection."""


def field_of(definition: GraphQLField | None) -> StrawberryField | None:
    """Strawberry's field that a field of the schema was made of; None for one of graphql-core."""
    field = definition.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF) if definition else None
    return field if isinstance(field, StrawberryField) else None


def resolution(definition: GraphQLField) -> tuple[str | None, Callable[..., Any], str]:
    """How a field is resolved: by an attribute of that name or None, and by a function of these parameters.

    Raises:
        NotPlain: The resolver takes more than its parent and `info`, or arguments with defaults.
    """
    field = field_of(definition)
    if field is None or definition.resolve is None:
        raise NeedsExecutor
    if getattr(definition.resolve, "_is_default", False) and field.default_resolver is getattr:
        return field.python_name, attrgetter(field.python_name), "value"
    resolver = field.base_resolver
    if resolver is None or field.extensions or field.is_async:
        raise NeedsExecutor
    if any(each.default_value not in (None, Undefined) for each in definition.args.values()):
        raise NeedsExecutor
    taken = [parameter for parameter in resolver.reserved_parameters.values() if parameter]
    parent, info = resolver.parent_parameter, resolver.info_parameter
    if parent is None or [each for each in taken if each not in (parent, info)]:
        raise NeedsExecutor
    if len(resolver.signature.parameters) != len(taken) + len(definition.args):
        raise NeedsExecutor
    given = f"{parent.name}=value" + (f", {info.name}=info" if info else "")
    return None, cast("Callable[..., Any]", resolver.wrapped_func), given
