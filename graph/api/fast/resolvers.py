"""Faster resolvers: what Strawberry's asynchronous resolvers compute on every call is computed once.

To call a resolver with six arguments, Strawberry walks through their types, looks up their names and
builds the chain of extensions: 8 µs, and 5 µs for the lookup of an event. Here graphql-core, which coerces the
arguments, also gives them their names in Python, and makes instances of input types, once for each document or
variable. So a resolver gets them ready, and nothing may change them.
"""

from collections.abc import Callable, Iterable
from dataclasses import MISSING
from functools import partial, reduce
from typing import Any, cast

from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLResolveInfo,
    Undefined,
    get_named_type,
    is_required_input_field,
)
from strawberry.extensions import FieldExtension
from strawberry.extensions.field_extension import build_field_extension_resolvers
from strawberry.relay import GlobalID
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types import Info
from strawberry.types.arguments import StrawberryArgument
from strawberry.types.base import StrawberryMaybe, StrawberryObjectDefinition, StrawberryOptional
from strawberry.types.field import StrawberryField
from strawberry.utils.await_maybe import await_maybe

from graph.api.fast.plain_fields import field_of


def replace_slow_resolvers(types: Iterable[GraphQLNamedType]) -> None:
    """Replace the resolvers of asynchronous fields, and of those that take input objects, by faster ones."""
    for named in types:
        if isinstance(named, GraphQLInputObjectType):
            _make_instances(named)
        elif isinstance(named, GraphQLObjectType):
            for definition in named.fields.values():
                field = field_of(definition)
                if field and field.base_resolver and (field.is_async or any(map(_is_object, definition.args.values()))):
                    which = "subscribe" if definition.subscribe else "resolve"
                    setattr(definition, which, _resolver(definition, field))


def _is_object(given: GraphQLArgument | GraphQLInputField) -> bool:
    return isinstance(get_named_type(given.type), GraphQLInputObjectType)


def _make_instances(of: GraphQLInputObjectType) -> None:
    """Let graphql-core make instances of an input type's class."""
    definition: StrawberryObjectDefinition = of.extensions[GraphQLCoreConverter.DEFINITION_BACKREF]
    checked, make = of.out_type, cast("Callable[..., Any]", definition.origin)
    for given in of.fields.values():
        field: StrawberryField = given.extensions[GraphQLCoreConverter.DEFINITION_BACKREF]
        _take(given, field)
        if not is_required_input_field(given) and field.default_value is field.default_factory is MISSING:
            make = partial(make, **{field.python_name: None})
    of.out_type = lambda value: make(**checked(value))  # type: ignore[method-assign]


def _take(given: GraphQLArgument | GraphQLInputField, declared: StrawberryArgument | StrawberryField) -> None:
    """Let graphql-core give a value ready under its name in Python.

    Raises:
        TypeError: Only Strawberry could make it.
    """
    of = declared.type
    if isinstance(of, StrawberryMaybe) or (of.of_type if isinstance(of, StrawberryOptional) else of) is GlobalID:
        raise TypeError(f"`{declared.python_name}` is a Maybe or a GlobalID: make it optional, or an ID")
    if _is_object(given) and given.default_value not in (None, Undefined, []):
        raise TypeError(f"`{declared.python_name}` has an object by default: let the resolver make it")
    given.out_name = declared.python_name


def _resolver(definition: GraphQLField, field: StrawberryField) -> Callable[..., Any]:
    base = field.base_resolver
    assert base is not None  # noqa: S101 - the caller has asked
    resolve = cast("Callable[..., Any]", base.wrapped_func)
    takes_self = base.self_parameter is not None
    parents = [each.name for each in (base.parent_parameter, base.root_parameter) if each]
    info_name = base.info_parameter.name if base.info_parameter else None
    mappings = [each.map_arguments for each in field.extensions if _maps_arguments(each)]
    for argument, given in zip(field.arguments, definition.args.values(), strict=True):
        _take(given, argument)

    def call(source: Any, info: Info, /, **arguments: Any) -> Any:
        if info_name:
            arguments[info_name] = info
        for parent in parents:
            arguments[parent] = source
        return resolve(source, **arguments) if takes_self else resolve(**arguments)

    chain: Callable[..., Any] = reduce(
        lambda next_, extension: partial(extension, next_), build_field_extension_resolvers(field), call
    )

    def resolved(source: Any, raw: GraphQLResolveInfo[Any], /, **arguments: Any) -> Any:
        for mapping in mappings:
            arguments = mapping(arguments)
        return chain(source, Info(_raw_info=raw, _field=field), **arguments)

    async def resolved_later(source: Any, raw: GraphQLResolveInfo[Any], /, **arguments: Any) -> Any:
        return await await_maybe(resolved(source, raw, **arguments))

    return resolved_later if field.is_async else resolved


def _maps_arguments(extension: FieldExtension) -> bool:
    return type(extension).map_arguments is not FieldExtension.map_arguments
