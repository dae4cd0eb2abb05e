"""Faster resolvers: what Strawberry's asynchronous resolvers compute on every call is computed once.

To call a resolver with six arguments, Strawberry walks through their types, looks up their names and
builds the chain of extensions: 8 µs, and 5 µs for the lookup of an event. A field with plain
parameters gets a resolver that has all of this ready. Any other field keeps Strawberry's.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import MISSING
from functools import partial, reduce
from typing import Any, cast

from graphql import (
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLResolveInfo,
    Undefined,
    get_nullable_type,
    is_required_input_field,
)
from strawberry.extensions import FieldExtension
from strawberry.extensions.field_extension import build_field_extension_resolvers
from strawberry.relay import GlobalID
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types import Info
from strawberry.types.base import StrawberryMaybe, StrawberryObjectDefinition
from strawberry.types.field import StrawberryField

from graph.api.fast.plain_fields import NeedsExecutor, field_of
from graph.core.compilation import Namespace

Convert = Callable[[Any], Any]
"""A coerced value → the value for a resolver. It is never called for null, which stays None."""


def replace_slow_resolvers(types: Iterable[GraphQLNamedType]) -> None:
    """Replace the resolvers of fields with plain parameters by faster ones."""
    for named in types:
        if isinstance(named, GraphQLObjectType):
            for definition in named.fields.values():
                field = field_of(definition)
                if definition.subscribe:
                    continue  # its resolver returns a stream, not the field's value
                if field and field.base_resolver and field.is_async:
                    with suppress(NeedsExecutor):
                        definition.resolve = _resolver(definition, field)


def _resolver(definition: GraphQLField, field: StrawberryField) -> Callable[..., Any]:
    base = field.base_resolver
    if base is None or base.root_parameter or any(_maps_arguments(extension) for extension in field.extensions):
        raise NeedsExecutor
    resolve = cast("Callable[..., Any]", base.wrapped_func)
    takes_self = base.self_parameter is not None
    parent = base.parent_parameter.name if base.parent_parameter else None
    info_name = base.info_parameter.name if base.info_parameter else None
    names = {
        name: (argument.python_name, _conversion(given.type))
        for (name, given), argument in zip(definition.args.items(), field.arguments, strict=True)
    }

    def call(source: Any, info: Info, **arguments: Any) -> Any:
        if info_name:
            arguments[info_name] = info
        if parent:
            arguments[parent] = source
        return resolve(source, **arguments) if takes_self else resolve(**arguments)

    chain: Callable[..., Any] = reduce(
        lambda next_, extension: partial(extension, next_), build_field_extension_resolvers(field), call
    )

    async def resolved(source: Any, raw: GraphQLResolveInfo[Any], **given: Any) -> Any:
        arguments: dict[str, Any] = {}
        for name, value in given.items():
            python_name, convert = names[name]
            arguments[python_name] = value if value is None or convert is None else convert(value)
        return await chain(source, Info(_raw_info=raw, _field=field), **arguments)

    return resolved


def _maps_arguments(extension: FieldExtension) -> bool:
    return type(extension).map_arguments is not FieldExtension.map_arguments


def _conversion(of: GraphQLInputType, inside: tuple[GraphQLInputObjectType, ...] = ()) -> Convert | None:
    """The function that converts values of a type; None if they need no conversion."""
    named = get_nullable_type(of)
    if isinstance(named, GraphQLList):
        each = _conversion(named.of_type, inside)
        return list if each is None else partial(_list, each)
    if isinstance(named, GraphQLInputObjectType):
        return _input(named, inside)
    return None


def _list(convert: Convert, values: list[Any]) -> list[Any]:
    return [value if value is None else convert(value) for value in values]


def _input(of: GraphQLInputObjectType, inside: tuple[GraphQLInputObjectType, ...]) -> Convert:
    """A function that makes instances of an input type's class."""
    if of in inside:
        raise NeedsExecutor
    definition = of.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
    if not isinstance(definition, StrawberryObjectDefinition) or definition.from_input:
        raise NeedsExecutor
    namespace = Namespace(make=definition.origin)
    arguments: list[str] = []
    alternatives: dict[str, tuple[str, Convert | None]] = {}
    for name, given in of.fields.items():
        field = given.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
        if not isinstance(field, StrawberryField) or isinstance(field.type, StrawberryMaybe) or field.type is GlobalID:
            raise NeedsExecutor
        if field.default_factory is not MISSING:
            raise NeedsExecutor
        convert = _conversion(given.type, (*inside, of))
        if definition.is_one_of:
            alternatives[name] = field.python_name, convert
            continue
        # A value with a default for clients is always there. Other optional values default to None in Python.
        is_there = is_required_input_field(given) or given.default_value is not Undefined
        if not is_there and field.default_value not in (None, MISSING):
            raise NeedsExecutor
        value = f"value[{name!r}]" if is_there else f"value.get({name!r})"
        if convert:
            value = f"None if (given := {value}) is None else {namespace.constant('convert', convert)}(given)"
        arguments.append(f"{field.python_name}=({value})")
    if definition.is_one_of:
        return partial(_one_of, definition.origin, alternatives)
    return namespace.define("value", [f"return make({', '.join(arguments)})"])


def _one_of(make: Callable[..., Any], alternatives: Mapping[str, tuple[str, Convert | None]], value: Any) -> Any:
    """An instance of an input type that has exactly one of its fields."""
    ((name, given),) = value.items()
    python_name, convert = alternatives[name]
    return make(**{python_name: convert(given) if convert else given})
