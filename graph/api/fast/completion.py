"""Completes plain values by functions that are compiled once for each selection.

For a page of 100 events with 11 fields, graphql-core takes 3 ms: for each of 1,100 values it makes
a path and an `info`, calls a resolver that reads an attribute, and walks through the types. For a
plain selection all of that is known before the first record, and a function such as this completes
the page in 0.1 ms:

    def complete(records, info):
        found = []
        append = found.append
        for c0, c1, … in records.items.values:
            v0 = c0
            if not (v0.__class__ is str): v0 = leaf0(v0)
            …
            append({"id": v0, …})
        return found

It reads the rows of `Records` that an engine has read as rows. Any other record is completed by a function
that reads its item.

A selection is plain if its types are objects, lists and leaves, and each field's resolver takes only
the parent and perhaps `info`, of which it uses the context: Strawberry's default resolver, or a function
such as that of an edge's `cursor`. An optional argument may be left out. The executor handles given
arguments, the rest of `info`, coroutines, extensions, interfaces and introspection.

A compiled function never reports an error. If a value does not fit its type (null in a non-null
place, an exception, an awaitable, a float for an Int), the function raises `Unplain` or what the
resolver raised, and the executor completes the same value again.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from inspect import getattr_static
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLList,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLScalarType,
    get_nullable_type,
)
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetails

from graph.api.fast.leaves import PASSES, Convert, LeafCompletion, Unplain, completion_of_leaf
from graph.api.fast.plain_fields import NeedsExecutor, resolution
from graph.api.fast.sources import AttributeSource
from graph.api.relay import SAME
from graph.core.compilation import Namespace
from graph.store.records import Derived, Records, Stored
from graph.store.rows import Columns, Rows

PARAMETERS = "value, info"  # of a compiled function
MOST_CLASSES = 16  # of records, for which functions of one selection are kept

Complete = Callable[[Any, "CompiledInfo"], Any]
"""A resolver's value, and how it was asked for → the value in the answer. Raises if it is in doubt."""


@dataclass(frozen=True, slots=True)
class CompiledInfo:
    """The part of `info` that compiled code may read."""

    context: Any


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
        with suppress(NeedsExecutor):
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
        return namespace.define(PARAMETERS, [*self.completion(of, fields)(namespace, "value"), "return value"])

    def completion(self, of: GraphQLOutputType, fields: list[FieldDetails]) -> "_Completion | LeafCompletion":
        """How values of a type are completed."""
        named = get_nullable_type(of)
        match named:
            case GraphQLList():
                return _Completion(named is of, self._elements(named.of_type, fields))
            case GraphQLObjectType():
                return _Completion(named is of, _Records(_Selection(self, named, fields)).one)
            case GraphQLScalarType() | GraphQLEnumType():
                return completion_of_leaf(named, nullable=named is of)
        raise NeedsExecutor

    def _elements(self, of: GraphQLOutputType, fields: list[FieldDetails]) -> Complete:
        """The function that completes the elements of a list."""
        named = get_nullable_type(of)
        if isinstance(named, GraphQLObjectType):
            return partial(_each_record, _Records(_Selection(self, named, fields)), named is of)
        return partial(_each_value, self.function(of, fields))


@dataclass(frozen=True, slots=True)
class _Completion:
    """How values of a type of objects or of a list are completed."""

    nullable: bool
    complete: Complete

    def __call__(self, namespace: Namespace, name: str) -> list[str]:
        """Lines that complete the variable `name`."""
        function = namespace.constant("complete", self.complete)
        test = f"if {name} is not None: " if self.nullable else f"if {name} is None: raise Unplain\n"
        return [*f"{test}{name} = {function}({name}, info)".split("\n")]


def _each_value(complete: Complete, values: Any, info: CompiledInfo) -> list[Any]:
    if not (values.__class__ is list or values.__class__ is tuple):
        raise Unplain
    return [complete(each, info) for each in values]


def _each_record(records: "_Records", nullable: bool, values: Any, info: CompiledInfo) -> list[Any]:
    if values.__class__ is Records:
        if (complete := records.of_rows(values)) is not None:
            return complete(values, info)  # type: ignore[no-any-return]
    elif not (values.__class__ is list or values.__class__ is tuple):
        raise Unplain
    if nullable:
        return [None if each is None else records[each.__class__](each, info) for each in values]
    return [records[each.__class__](each, info) for each in values]


class _Selection:
    """The selected fields of an object type."""

    def __init__(self, compilation: _Compilation, of: GraphQLObjectType, fields: list[FieldDetails]) -> None:
        executor = compilation.executor
        collected = executor.collect_subfields(of, fields)
        if collected.new_defer_usages:
            raise NeedsExecutor
        self.is_type_of = of.is_type_of
        self._members: list[tuple[str, str | _CompiledField]] = []
        for response_name, details in collected.grouped_field_set.items():
            compilation.fields += 1
            name = details[0].node.name.value
            if name == "__typename":
                self._members.append((response_name, repr(of.name)))
                continue
            definition = executor.schema.get_field(of, name)
            if definition is None or any(each.node.arguments for each in details):
                raise NeedsExecutor
            self._members.append((response_name, _CompiledField(compilation, definition, details)))

    def lines(self, namespace: Namespace, source: AttributeSource) -> tuple[list[str], str]:
        """Lines that complete the fields, and the expression of the object."""
        lines, members = [], []
        for response_name, member in self._members:
            if isinstance(member, _CompiledField):
                of_member, member = member.lines(namespace, source)
                lines += of_member
            members.append(f"{response_name!r}: {member}")
        return lines, f"{{{', '.join(members)}}}"

    def types(self) -> Iterator[Any]:
        """The functions `is_type_of` that a record must pass: its own, and those of what is the same record."""
        if self.is_type_of:
            yield self.is_type_of
        for _, member in self._members:
            if isinstance(member, _CompiledField) and member.same:
                yield from member.same.types()


class _Records(dict[type, Complete]):
    """The class of a record → the function that completes it, compiled for the first such record."""

    def __init__(self, selection: _Selection) -> None:
        super().__init__()
        self._selection = selection
        self._of_rows: dict[tuple[type, Columns], Complete] = {}

    def __missing__(self, record_class: type) -> Complete:
        if not PASSES[record_class]:
            raise Unplain
        namespace, source = Namespace(Unplain=Unplain), AttributeSource(record_class)
        lines, found = self._selection.lines(namespace, source)
        item = ["item = value.item"] if any("item" in line for line in lines) else []
        types = self._types(namespace, "value")
        function = namespace.define(PARAMETERS, [*item, *types, *lines, f"return {found}"])
        if len(self) >= MOST_CLASSES:
            self.clear()
        self[record_class] = function
        return function

    def one(self, record: Any, info: CompiledInfo) -> Any:
        """Complete one record."""
        return self[record.__class__](record, info)

    def of_rows(self, records: Records[Any]) -> Complete | None:
        """The function that completes records whose items are rows; None if they are not."""
        items, record_class = records.items, records.record_of
        if items.__class__ is not Rows or not items or not isinstance(record_class, type):
            return None
        key = record_class, items.columns
        function = self._of_rows.get(key)
        if function is None:
            if len(self._of_rows) >= MOST_CLASSES:
                self._of_rows.clear()
            function = self._of_rows[key] = self._compiled(AttributeSource(*key))
        return function

    def _compiled(self, source: AttributeSource) -> Complete:
        """The function for a list of records whose items are rows."""
        namespace = Namespace(Unplain=Unplain)
        lines, found = self._selection.lines(namespace, source)
        rows = "value.items.values"
        each = f"({source.row}), value in zip({rows}, value)" if source.takes_record else f"{source.row}in {rows}"
        # What tells a record's type looks only at its class, so that the first one tells it of all.
        types = self._types(namespace, "value[0]")
        return namespace.define_list(PARAMETERS, f"for {each}:", [*lines, f"append({found})"], before=types)

    def _types(self, namespace: Namespace, record: str) -> list[str]:
        """Lines that test a record's types."""
        tests = [namespace.constant("is_type_of", each) for each in self._selection.types()]
        return [f"if {test}({record}, None) is not True: raise Unplain" for test in tests]


class _CompiledField:
    """A selected field: how its value is read from a record, and completed."""

    def __init__(self, compilation: _Compilation, definition: GraphQLField, details: list[FieldDetails]) -> None:
        self._attribute, self._resolve, self._given = resolution(definition)
        named = get_nullable_type(definition.type)
        self.same: _Selection | None = None
        """The selection of the same record as another type."""
        self._lacking = SAME.get(self._resolve, ())
        if self._resolve in SAME and isinstance(named, GraphQLObjectType):
            self.same = _Selection(compilation, named, details)
        else:
            self._completion = compilation.completion(definition.type, details)

    def lines(self, namespace: Namespace, source: AttributeSource) -> tuple[list[str], str]:
        """Lines that complete the value, and its expression."""
        if self.same and not self._lacking:
            return self.same.lines(namespace, source)
        variable = namespace.constant("v", None)
        if self.same:
            lines, found = self.same.lines(namespace, source)
            has_all = " and ".join(
                f"{source.expression(namespace, name, optional=True)} is not None" for name in self._lacking
            )
            nested = [f"    {line}" for line in (*lines, f"{variable} = {found}")]
            return [f"{variable} = None", f"if {has_all}:", *nested], variable
        match self._attribute and getattr_static(source.record_class, self._attribute, None):
            case Stored(attribute=name, written=written, optional=optional) if written and (
                stored := source.expression(namespace, name, optional=optional)
            ):
                written_as = f"{variable} = {namespace.constant('written', written)}({variable})"
                return [f"{variable} = {stored}", *self._unless_none(variable, written_as)], variable
            case Stored(attribute=name, convert=convert, optional=optional) if (
                stored := source.expression(namespace, name, optional=optional)
            ) and (convert is None or isinstance(self._completion, LeafCompletion)):
                return [f"{variable} = {stored}", *self._completed(namespace, variable, convert)], variable
            case Derived(attributes=names, compute=compute) if None not in (
                values := [source.expression(namespace, name) for name in names]
            ):
                value = f"{namespace.constant('compute', compute)}({', '.join(map(str, values))})"
                lines = source.refuse_missing(values)
            case _:
                resolve = namespace.constant("resolve", self._resolve)
                value = source.of_record(f"value.{self._attribute}" if self._attribute else f"{resolve}({self._given})")
                lines = []
        return [*lines, f"{variable} = {value}", *self._completion(namespace, variable)], variable

    def _unless_none(self, variable: str, line: str) -> list[str]:
        """Lines that complete a value by a line, unless it is None and may be."""
        if self._completion.nullable:
            return [f"if {variable} is not None: {line}"]
        return [f"if {variable} is None: raise Unplain", line]

    def _completed(self, namespace: Namespace, variable: str, convert: Convert | None) -> list[str]:
        """Lines that complete a stored value."""
        if isinstance(self._completion, LeafCompletion):
            return self._completion(namespace, variable, convert)
        return self._completion(namespace, variable)
