"""What is known of an operation before its variables are, found out once and kept with its document.

The fragments, the fields that are selected of the root, the functions of `completion`. Which fields
are selected may depend on `@skip` and `@include`: what is kept holds for the values that their
variables had.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from inspect import iscoroutinefunction
from typing import Any, cast

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLField,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLSchema,
    OperationDefinitionNode,
    is_non_null_type,
)
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetails, FragmentDetails, GroupedFieldSet, collect_fields
from graphql.execution.get_variable_signature import GraphQLVariableSignature, get_variable_signature
from graphql.execution.values import VariableValues, VariableValueSource, get_variable_values

from graph.api.fast.arguments import Arguments, compiled_arguments
from graph.api.fast.coercion import Coerce, Coercions, Doubtful
from graph.api.fast.completion import Complete, compiled
from graph.api.fast.nodes import variables_of_directives
from graph.core import garbage

MOST_FIELDS_KEPT = 1000  # where nothing else is said
COMPILED_WEIGHT = 4  # of a compiled field; what is only looked up, or known not to be plain, takes a quarter of it

Switched = tuple[Any, ...]
"""The values that decide which fields of an operation are selected."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """A field whose resolver is a coroutine function, so that it cannot fail before it is awaited."""

    definition: GraphQLField
    resolve: Callable[..., Any]
    arguments: Arguments


@dataclass(eq=False)
class Plan:
    """What is known of an operation before its variables are.

    A client can set directives in more ways than there is memory for. What is kept of all of them
    together has the size of `most_fields` compiled fields; it is made again where it does not fit.
    """

    schema: GraphQLSchema
    coercions: Coercions
    document: DocumentNode
    operation: OperationDefinitionNode
    most_fields: int = MOST_FIELDS_KEPT
    _roots: dict[Switched, GroupedFieldSet] = field(default_factory=dict)
    _resolutions: "dict[int, Resolution | None]" = field(default_factory=dict)
    _functions: dict[tuple[Any, ...], Complete | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fragment_definitions = {
            node.name.value: node for node in self.document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self.fragments = {name: FragmentDetails(node) for name, node in self.fragment_definitions.items()}
        self.root_type = cast("GraphQLObjectType", self.schema.get_root_type(self.operation.operation))
        self._switches = variables_of_directives(self.document)
        self._kept = 0

    def switched(self, variables: Mapping[str, Any]) -> Switched:
        """What these variables switch on and off."""
        return tuple(map(variables.get, self._switches)) if self._switches else ()

    def variables(
        self, given: Mapping[str, Any], *, max_errors: int, hide_suggestions: bool
    ) -> VariableValues | list[GraphQLError]:
        """The variables as they are declared, or what is wrong with those that were given."""
        try:
            return self._coerced(given)
        except Exception:  # noqa: S110 — graphql-core finds it again, and tells what it is
            pass
        found = get_variable_values(
            self.schema,
            self.operation.variable_definitions or (),
            dict(given),
            max_errors=max_errors,
            hide_suggestions=hide_suggestions,
        )
        if isinstance(found, list):
            garbage.forget_frames(found)
        return found

    def _coerced(self, given: Mapping[str, Any]) -> VariableValues:
        sources: dict[str, VariableValueSource] = {}
        coerced: dict[str, Any] = {}
        for signature, coerce in self._variables:
            name = signature.name
            if name in given:
                sources[name] = VariableValueSource(signature, given[name])
                coerced[name] = coerce(given[name])
            elif signature.default or is_non_null_type(signature.type):
                raise Doubtful
            else:
                sources[name] = VariableValueSource(signature)
        return VariableValues(sources, coerced)

    @cached_property
    def _variables(self) -> list[tuple[GraphQLVariableSignature, Coerce]]:
        """The declared variables. Of a valid document, none lacks a type."""
        declared = [get_variable_signature(self.schema, node) for node in self.operation.variable_definitions or ()]
        return [
            (signature, self.coercions.of(signature.type))
            for signature in declared
            if isinstance(signature, GraphQLVariableSignature)
        ]

    def resolution(self, parent_type: GraphQLObjectType, node: FieldNode) -> "Resolution | None":
        """How a field of the root is resolved; None where the executor has to find out."""
        key = id(node)
        if key not in self._resolutions:
            self._resolutions[key] = self._resolution(parent_type, node)
        return self._resolutions[key]

    def _resolution(self, parent_type: GraphQLObjectType, node: FieldNode) -> "Resolution | None":
        definition = self.schema.get_field(parent_type, node.name.value)
        if definition is None or definition.resolve is None or not iscoroutinefunction(definition.resolve):
            return None
        arguments = compiled_arguments(definition, node)
        return Resolution(definition, definition.resolve, arguments) if arguments else None

    def root(self, executor: Executor[Any], switched: Switched) -> GroupedFieldSet:
        """The fields that are selected of the root.

        Raises:
            GraphQLError: An argument of a directive cannot be used.
        """
        fields = self._roots.get(switched)
        if fields is None:
            fields = collect_fields(
                self.schema,
                self.fragments,
                executor.variable_values,
                self.root_type,
                self.operation,
                executor.hide_suggestions,
            ).grouped_field_set
            if self._has_room(len(fields)):
                self._roots[switched] = fields
        return fields

    def function(
        self, executor: Executor[Any], switched: Switched, of: GraphQLOutputType, fields: list[FieldDetails]
    ) -> Complete | None:
        """What completes values of a type with these fields; None where the executor has to."""
        key = (of, *[id(field.node) for field in fields], *switched)
        try:
            return self._functions[key]
        except KeyError:
            made = compiled(executor, of, fields)
            if self._has_room(COMPILED_WEIGHT * made.fields if made.complete else 1):
                self._functions[key] = made.complete
            return made.complete

    def _has_room(self, weight: int) -> bool:
        """Whether something can be kept. Where it does not fit beside the rest, the rest has to go."""
        most = self.most_fields * (COMPILED_WEIGHT + 1)  # which all of an operation fits into, set in one way
        if weight > most:
            return False
        self._kept += weight
        if self._kept > most:
            self._roots.clear()
            self._functions.clear()
            self._kept = weight
        return True
