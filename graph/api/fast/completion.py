"""Completes plain values by functions that are compiled once for each selection.

For a page of 100 events with 11 fields, graphql-core takes 3 ms: for each of 1,100 values it makes
a path and an `info`, calls a resolver that reads an attribute, and walks through the types. For a
plain selection all of that is known before the first record, and a function such as this completes
the page in 0.1 ms:

    def complete(record, asked):
        item = record.item
        v0 = item["eventId"]
        if v0.__class__ is not str: v0 = leaf0(get0(record))
        …
        return {"id": v0, …}

A selection is plain if its types are objects, lists and leaves, and each field's resolver takes only
the parent and perhaps `info`, of which it uses the context: Strawberry's default resolver, or a function
such as that of an edge's `cursor`. An optional argument may be left out. The executor handles given
arguments, the rest of `info`, coroutines, extensions, interfaces and introspection.

A compiled function never reports an error. If a value does not fit its type (null in a non-null
place, an exception, an awaitable, a float for an Int), the function raises `Unplain` or what the
resolver raised, and the executor completes the same value again.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from inspect import getattr_static
from operator import attrgetter
from types import CoroutineType, GeneratorType, NoneType
from typing import Any, cast

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLLeafType,
    GraphQLList,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLScalarType,
    Undefined,
    get_nullable_type,
    is_specified_scalar_type,
)
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetails
from strawberry.execution import optimized_is_awaitable
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types.field import StrawberryField

from graph.api.fast.compilation import PASSING, Namespace
from graph.store.records import Stored

PARAMETERS = "value, asked"  # of a compiled function

Complete = Callable[[Any, "Asked"], Any]
"""A resolver's value, and how it was asked for → the value in the answer. Raises if it is in doubt."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What there is of `info` without an executor."""

    context: Any


class NotPlain(Exception):
    """The selection has a field that only the executor can resolve."""


class Unplain(Exception):
    """A value does not fit its type, or only the executor can complete it."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """The result of compiling a selection."""

    complete: Complete | None  # None if the selection is not plain
    fields: int  # the number of visited fields, for an estimate of its size


def compiled(executor: Executor[Any], of: GraphQLOutputType, fields: list[FieldDetails]) -> Compiled:
    """Compile the function that completes values of a type with these selected fields.

    `@skip` and `@include` are applied with the executor's variables. The function holds no reference
    to the executor, which holds the whole request.
    """
    compilation = _Compilation(executor)
    complete = None
    if not any(field.fragment_variable_values or field.defer_usage for field in fields):
        with suppress(NotPlain):
            complete = compilation.function(of, fields)
    return Compiled(complete, compilation.fields)


class _Compilation:
    """Compiles the functions of one selection.

    Each function has its own namespace, which refers only to the namespaces of the selections below. So
    there is no cycle, and a function is freed as soon as its document is forgotten.
    """

    def __init__(self, executor: Executor[Any]) -> None:
        self.executor = executor
        self.fields = 1

    def function(self, of: GraphQLOutputType, fields: list[FieldDetails]) -> Complete:
        """Compile the function that completes one value."""
        namespace = Namespace(Unplain=Unplain)
        return namespace.define(PARAMETERS, [*self.completion(namespace, of, fields, "value", "value"), "return value"])

    def completion(
        self, namespace: Namespace, of: GraphQLOutputType, fields: list[FieldDetails], name: str, reading: str
    ) -> list[str]:
        """Lines that complete the variable `name`; `reading` is the expression that resolves it again."""
        named = get_nullable_type(of)
        lines = [f"if {name} is None: raise Unplain"] if named is not of else []
        given = "" if named is not of else f"if {name} is not None: "
        match named:
            case GraphQLList():
                each = self._element(namespace, named.of_type, fields)
                listed = f"{name}.__class__ is list or {name}.__class__ is tuple or {name} is None"
                return [*lines, f"if not ({listed}): raise Unplain", f"{given}{name} = [{each} for each in {name}]"]
            case GraphQLObjectType():
                records = namespace.constant("records", _Records(self, named, fields))
                return [f"{given}{name} = {records}[{name}.__class__]({name}, asked)"]
            case GraphQLScalarType() | GraphQLEnumType():
                leaf = namespace.constant("leaf", partial(_leaf, named))
                test = _passing(named).format(name)
                return [f"{given}{name} = {name} if {test} else {leaf}({reading})"]
        raise NotPlain

    def _element(self, namespace: Namespace, of: GraphQLOutputType, fields: list[FieldDetails]) -> str:
        """The expression that completes `each` element of a list."""
        named = get_nullable_type(of)
        if not isinstance(named, GraphQLObjectType):
            return f"{namespace.constant('element', self.function(of, fields))}(each, asked)"
        records = _Records(self, named, fields)
        record = f"{namespace.constant('records', records)}[each.__class__](each, asked)"
        return record if named is not of else f"None if each is None else {record}"


class _Records(dict[type, Complete]):
    """The class of a record → the function that completes it, compiled for the first such record."""

    def __init__(self, compilation: _Compilation, of: GraphQLObjectType, fields: list[FieldDetails]) -> None:
        super().__init__()
        executor = compilation.executor
        collected = executor.collect_subfields(of, fields)
        if collected.new_defer_usages:
            raise NotPlain
        self._namespace = Namespace(Unplain=Unplain)
        self._is_type_of = self._namespace.constant("is_type_of", of.is_type_of) if of.is_type_of else None
        self._members: list[str] = []
        self._fields: list[_Field] = []
        for response_name, details in collected.grouped_field_set.items():
            compilation.fields += 1
            name = details[0].node.name.value
            if name == "__typename":
                self._members.append(f"{response_name!r}: {of.name!r}")
                continue
            definition = executor.schema.get_field(of, name)
            if definition is None or any(each.node.arguments for each in details):
                raise NotPlain
            variable = f"v{len(self._fields)}"
            self._members.append(f"{response_name!r}: {variable}")
            self._fields.append(_Field(compilation, self._namespace, variable, definition, details))

    def __missing__(self, record_class: type) -> Complete:
        if not _may_be_record(record_class):
            raise Unplain
        readings = [line for field in self._fields for line in field.lines(record_class)]
        lines = ["item = value.item"] if any("item" in line for line in readings) else []
        if self._is_type_of:
            lines.append(f"if {self._is_type_of}(value, None) is not True: raise Unplain")
        lines += [*readings, f"return {{{', '.join(self._members)}}}"]
        function = self._namespace.define(PARAMETERS, lines)
        self[record_class] = function
        return function


class _Field:
    """A selected field: how its value is read from a record, and completed."""

    def __init__(
        self,
        compilation: _Compilation,
        namespace: Namespace,
        variable: str,
        definition: GraphQLField,
        details: list[FieldDetails],
    ) -> None:
        self._variable = variable
        self._attribute, resolve, given = _resolution(definition)
        self._is_leaf = isinstance(get_nullable_type(definition.type), GraphQLScalarType | GraphQLEnumType)
        self._resolved = f"{namespace.constant('resolve', resolve)}({given})"
        self._completion = compilation.completion(namespace, definition.type, details, variable, self._resolved)

    def lines(self, record_class: type) -> list[str]:
        """Lines that put the completed value into the variable, for a record of that class."""
        return [f"{self._variable} = {self._reading(record_class)}", *self._completion]

    def _reading(self, record_class: type) -> str:
        if self._attribute is None:
            return self._resolved
        match getattr_static(record_class, self._attribute, None):
            case Stored(convert=convert) if convert is not None and not self._is_leaf:
                return f"value.{self._attribute}"  # a leaf is converted only if it would not pass as it is stored
            case Stored(attribute=attribute, optional=True):
                return f"item.get({attribute!r})"
            case Stored(attribute=attribute):
                return f"item[{attribute!r}]"
        return f"value.{self._attribute}"


def _resolution(definition: GraphQLField) -> tuple[str | None, Callable[..., Any], str]:
    """How a field is resolved: by an attribute of that name or None, and by a function of these parameters.

    Raises:
        NotPlain: The resolver takes more than its parent and `info`, or arguments with defaults.
    """
    field = definition.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
    if not isinstance(field, StrawberryField) or definition.resolve is None:
        raise NotPlain
    if getattr(definition.resolve, "_is_default", False) and field.default_resolver is getattr:
        return field.python_name, attrgetter(field.python_name), "value"
    resolver = field.base_resolver
    if resolver is None or field.extensions or field.is_async:
        raise NotPlain
    if any(each.default_value not in (None, Undefined) for each in definition.args.values()):
        raise NotPlain
    taken = [parameter for parameter in resolver.reserved_parameters.values() if parameter]
    parent, info = resolver.parent_parameter, resolver.info_parameter
    if parent is None or [each for each in taken if each not in (parent, info)]:
        raise NotPlain
    if len(resolver.signature.parameters) != len(taken) + len(definition.args):
        raise NotPlain
    given = f"{parent.name}=value" + (f", {info.name}=asked" if info else "")
    return None, cast("Callable[..., Any]", resolver.wrapped_func), given


def _passing(leaf: GraphQLLeafType) -> str:
    """The test of a value that the type's serializer would not change."""
    if is_specified_scalar_type(leaf):
        return PASSING[leaf.name]
    if isinstance(leaf, GraphQLScalarType) and leaf.coerce_output_value is int:
        return "{0}.__class__ is int"
    return "False"


def _leaf(leaf: GraphQLLeafType, value: Any) -> Any:
    """Serialize any other value of a leaf as the executor does."""
    if value is None or value is Undefined or isinstance(value, Exception) or optimized_is_awaitable(value):
        raise Unplain
    return Executor.complete_leaf_value(leaf, value)


def _may_be_record(value: type) -> bool:
    """Whether the executor would accept values of that class as objects."""
    return not (
        value in (NoneType, type(Undefined), CoroutineType, GeneratorType)
        or issubclass(value, Exception)
        or hasattr(value, "__await__")
    )
