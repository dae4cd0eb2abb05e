"""Coerces variables by functions that are compiled once for each input type.

graphql-core walks through the types for each value. An event of an ingest takes 4.5 µs, and a call has
five hundred events. A compiled function takes 2 µs:

    def coerce(value):
        if value.__class__ is not dict: raise Doubtful
        known, result = 0, {}
        v = value.get("eventId", Undefined)
        if v is Undefined: raise Doubtful
        known += 1
        if not (v.__class__ is str): v = leaf0(v)
        result["eventId"] = v
        …
        if known != len(value): raise Doubtful
        return make0(result)

It accepts valid values and reports no errors. For any other value it raises `Doubtful`, or what a
scalar raised; then graphql-core coerces all variables again and reports the error.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from cachetools import LRUCache
from graphql import (
    GraphQLEnumType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLLeafType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    Undefined,
    get_nullable_type,
    is_required_input_field,
    is_specified_scalar_type,
)
from graphql.utilities import coerce_input_value
from graphql.utilities.coerce_input_value import coerce_default_value

from graph.api.fast.extents import MOST_ELEMENTS
from graph.api.fast.passing import PASSING
from graph.core.compilation import Namespace

Coerce = Callable[[Any], Any]
"""A variable's JSON value → the value for resolvers. Raises if it is in doubt."""


MOST_KEPT = 256  # functions; beside nested lists, a document can name fewer types than that


class Doubtful(Exception):
    """The value may not be what its type says."""


class Coercions:
    """The functions of one schema's input types.

    Types are found by their text, since each document has its own objects for wrappers such as `[Int!]`.
    """

    def __init__(self) -> None:
        self._functions: LRUCache[str, Coerce] = LRUCache(MOST_KEPT)
        self._objects: dict[str, Coerce] = {}

    def of(self, type_: GraphQLInputType) -> Coerce:
        """The function that coerces values of a type."""
        name = str(type_)
        function = self._functions.get(name)
        if function is None:
            function = self._functions[name] = self._compiled(type_)
        return function

    def _compiled(self, type_: GraphQLInputType) -> Coerce:
        namespace = _namespace()
        return namespace.define("value", [*self._lines(namespace, type_, "value"), "return value"])

    def _lines(self, namespace: Namespace, type_: GraphQLInputType, name: str) -> Sequence[str]:
        """Lines that coerce the value of the variable `name`."""
        named = get_nullable_type(type_)
        if isinstance(type_, GraphQLNonNull):
            lines, given = [f"if {name} is None: raise Doubtful"], ""
        else:
            lines, given = [], f"if {name} is not None: "
        match named:
            case GraphQLList():
                each = namespace.constant("each", self.of(named.of_type))
                fits = f"{name}.__class__ is list and len({name}) <= {MOST_ELEMENTS}"
                lines.append(f"if not ({fits} or {name} is None): raise Doubtful")
                return [*lines, f"{given}{name} = [{each}(each) for each in {name}]"]
            case GraphQLInputObjectType():
                coerce = namespace.constant("coerce", self._object(named))
                return [*lines, f"{given}{name} = {coerce}({name})"]
            case GraphQLScalarType() | GraphQLEnumType():
                leaf = namespace.constant("leaf", partial(_leaf, named))
                test = PASSING[named.name].format(name) if is_specified_scalar_type(named) else "False"
                return [*lines, f"{given}{name} = {name} if {test} else {leaf}({name})"]
        raise TypeError(f"{type_} is not an input type")

    def _object(self, type_: GraphQLInputObjectType) -> Coerce:
        """The function for an input object, which may hold others of its own type."""
        function = self._objects.get(type_.name)
        if function is None:
            made: list[Coerce] = []
            self._objects[type_.name] = lambda value: made[0](value)  # for a type that contains itself
            made.append(self._object_function(type_))
            function = self._objects[type_.name] = made[0]
        return function

    def _object_function(self, type_: GraphQLInputObjectType) -> Coerce:
        if type_.is_one_of:
            return partial(_leaf, type_)
        namespace = _namespace()
        make = namespace.constant("make", type_.out_type)
        lines = ["if value.__class__ is not dict: raise Doubtful", "known, result = 0, {}"]
        for name, field in type_.fields.items():
            left_out = f"if v is Undefined: {_left_out(namespace, name, field)}"
            lines += [f"v = value.get({name!r}, Undefined)", left_out, "else:"]
            taken = ["known += 1", *self._lines(namespace, field.type, "v"), f"result[{field.out_name or name!r}] = v"]
            lines += [f"    {line}" for line in taken]
        return namespace.define("value", [*lines, "if known != len(value): raise Doubtful", f"return {make}(result)"])


def _namespace() -> Namespace:
    return Namespace(Undefined=Undefined, Doubtful=Doubtful)


def _left_out(namespace: Namespace, name: str, field: GraphQLInputField) -> str:
    """The line for a field that is not given."""
    if is_required_input_field(field):
        return "raise Doubtful"
    default = coerce_default_value(field)
    if default is Undefined:
        return "pass"
    return f"result[{field.out_name or name!r}] = {namespace.constant('default', default)}"


def _leaf(type_: GraphQLLeafType | GraphQLInputObjectType, value: Any) -> Any:
    """Any other value, coerced as graphql-core does it."""
    coerced = coerce_input_value(value, type_)
    if coerced is Undefined:
        raise Doubtful
    return coerced
