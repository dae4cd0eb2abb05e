"""Arguments that come as text, as in a query string, read as the graph reads a field's arguments.

    def export_request(filter: EventFilter | None = None, first: int = 10) -> ExportRequest: …

    TextArguments(export_request, spread="filter").read([("minMagnitude", "5"), ("first", "20")])

So they have the names, types and errors that they have in the graph, and what is added to an input type is known
here too. The function becomes the resolver of a small schema's only field, which is never served.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter, signature
from typing import Any, Generic, TypeVar

import orjson
import strawberry
from graphql import (
    DocumentNode,
    GraphQLArgument,
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLSchema,
    execute_sync,
    get_named_type,
    get_nullable_type,
    is_list_type,
    parse,
)
from strawberry.schema.config import StrawberryConfig

from graph.api.causes import cause_of
from graph.api.fast.extents import MOST_ELEMENTS
from graph.api.scalars import SCALARS
from graph.core.errors import BadUserInput

T = TypeVar("T")

LONGEST_MESSAGE = 1000  # characters; graphql-core's message holds the refused value
NOT_TEXT = frozenset({"Int", "Float", "Boolean", "EpochMillis"})  # scalars that JSON writes without quotation marks

Parameters = Sequence[tuple[str, str]]
"""Names and values. A list of plain values is one parameter with commas, or several with the same name."""


@dataclass(eq=False)
class TextArguments(Generic[T]):
    """Reads the arguments of a function, whose annotations are those of a resolver."""

    function: Callable[..., T]
    spread: str  # an argument that is an input object; its fields can be given as parameters of their own

    def read(self, parameters: Parameters) -> T:
        """Call the function with these arguments.

        Raises:
            BadUserInput: A parameter is unknown, or has an impossible value.
            Exception: What the function raises.
        """
        return self.read_json(self._variables(parameters))

    def read_json(self, values: Mapping[str, Any]) -> T:
        """Call the function with arguments as JSON has them, as the variables of a request.

        Raises:
            BadUserInput: A value is impossible.
            Exception: What the function raises.
        """
        found: list[T] = []
        result = execute_sync(self._schema, self._document, variable_values=dict(values), context_value=found)
        for error in result.errors or ():
            raise _refusal_of(error)
        return found[0]

    @cached_property
    def _schema(self) -> GraphQLSchema:
        function = self.function

        def resolve(info: strawberry.Info[list[T], None], **given: Any) -> bool:
            info.context.append(function(**given))
            return True

        own = signature(function)
        described: Any = resolve
        info = Parameter("info", Parameter.POSITIONAL_OR_KEYWORD, annotation=strawberry.Info)
        described.__signature__ = own.replace(parameters=[info, *own.parameters.values()], return_annotation=bool)
        described.__annotations__ = {**function.__annotations__, "info": strawberry.Info, "return": bool}
        query = type("Query", (), {"read": strawberry.field(described)})
        return strawberry.Schema(strawberry.type(query), config=StrawberryConfig(scalar_map=SCALARS))._schema

    @cached_property
    def _arguments(self) -> dict[str, GraphQLArgument]:
        query = self._schema.query_type
        return query.fields["read"].args if query else {}

    @cached_property
    def _document(self) -> DocumentNode:
        """It is parsed once, and valid."""
        declared = ", ".join(f"${name}: {get_nullable_type(each.type)}" for name, each in self._arguments.items())
        given = ", ".join(f"{name}: ${name}" for name in self._arguments)
        return parse(f"query Read({declared}) {{ read({given}) }}")

    def _variables(self, parameters: Parameters) -> dict[str, Any]:
        spread = get_nullable_type(self._arguments[self.spread].type)
        fields = spread.fields if isinstance(spread, GraphQLInputObjectType) else {}
        texts: dict[str, list[str]] = {}
        for name, value in parameters:
            if name not in self._arguments and name not in fields:
                raise BadUserInput(f"There is no parameter `{name[:LONGEST_MESSAGE]}`.")
            texts.setdefault(name, []).append(value)
        given = {
            name: _value(name, each, self._arguments[name].type) for name, each in texts.items() if name not in fields
        }
        if some := {name: _value(name, each, fields[name].type) for name, each in texts.items() if name in fields}:
            if self.spread in given:
                raise BadUserInput(f"Give `{self.spread}`, or its fields such as `{next(iter(some))}`, not both.")
            given[self.spread] = some
        return given


def _value(name: str, texts: list[str], of: Any) -> Any:
    """The value of an argument, as JSON has it."""
    named = get_named_type(of)
    is_object, is_list = isinstance(named, GraphQLInputObjectType), is_list_type(get_nullable_type(of))
    if is_list and not is_object:
        parts = [each for text in texts for each in text.split(",")]
        if len(parts) > MOST_ELEMENTS:
            raise BadUserInput(f"`{name}` takes at most {MOST_ELEMENTS:,} values.")
        return [_scalar(name, each, named.name) for each in parts]
    if len(texts) > 1:
        raise BadUserInput(f"Give `{name}` once.")
    if is_object:
        return _json(texts[0], f"`{name}` must be JSON")
    return _scalar(name, texts[0], named.name)


def _scalar(name: str, text: str, of: str) -> Any:
    return _json(text, f"`{name}` must be a value of the type {of}") if of in NOT_TEXT else text


def _json(text: str, message: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadUserInput(f"{message}: {error.msg}.") from error


def _refusal_of(error: GraphQLError) -> Exception:
    """What the function raised, or the refusal of an argument."""
    cause = cause_of(error)
    return BadUserInput(error.message[:LONGEST_MESSAGE]) if isinstance(cause, GraphQLError) else cause
