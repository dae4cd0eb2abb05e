"""The plan of an operation: all that does not depend on variables, computed once and kept with its document.

It holds the fragments, the selected root fields and the functions of `completion`. The selected fields
may depend on `@skip` and `@include`, so they are kept for each set of values of these directives.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from inspect import iscoroutinefunction
from typing import Any, NamedTuple, cast

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
    get_nullable_type,
    is_non_null_type,
)
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetails, FragmentDetails, GroupedFieldSet, collect_fields
from graphql.execution.get_variable_signature import GraphQLVariableSignature, get_variable_signature
from graphql.execution.values import VariableValues, VariableValueSource, get_variable_values

from graph.api.fast.arguments import Arguments, compiled_arguments
from graph.api.fast.coercion import Coerce, Coercions, Doubtful
from graph.api.fast.completion import Complete, compiled
from graph.api.fast.extents import extent_error
from graph.api.fast.nodes import variables_of_directives
from graph.core import garbage

MOST_ERRORS = 20  # of a document or its variables; more would not help
MOST_FIELDS_KEPT = 1000  # by default
COMPILED_WEIGHT = 4  # of a compiled field; a field that is only looked up, or not plain, weighs 1

Switched = tuple[Any, ...]
"""The values of the variables of `@skip` and `@include`."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """A field whose resolver is a coroutine function, so that it cannot fail before it is awaited."""

    definition: GraphQLField
    resolve: Callable[..., Any]
    arguments: Arguments


class SoleField(NamedTuple):
    """The one root field of an operation, with all that its execution needs."""

    name: str  # in the answer
    nodes: list[FieldNode]
    ready: Resolution
    complete: Complete


@dataclass(eq=False)
class OperationPlan:
    """The plan of one operation.

    A client can set directives in more ways than fit into memory. All that is kept has at most the
    size of `most_fields` compiled fields; beyond that it is computed again.
    """

    schema: GraphQLSchema
    coercions: Coercions
    document: DocumentNode
    operation: OperationDefinitionNode
    most_fields: int = MOST_FIELDS_KEPT
    compiled: bool = True  # otherwise graphql-core alone coerces, resolves and completes
    suggesting: bool = True  # whether errors suggest names of the schema
    _roots: dict[Switched, GroupedFieldSet] = field(default_factory=dict)
    _sole_fields: dict[Switched, SoleField] = field(default_factory=dict)
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
        """The values of the directives' variables."""
        return tuple(map(variables.get, self._switches)) if self._switches else ()

    def variables(
        self, given: Mapping[str, Any], *, max_errors: int = MOST_ERRORS
    ) -> VariableValues | list[GraphQLError]:
        """The coerced variables, or the errors of the given ones."""
        if self.compiled:
            with suppress(Exception):  # graphql-core finds the error again, and reports it
                return self._coerced(given)
        declared = [(each.name, each.type, given[each.name]) for each in self._signatures if each.name in given]
        if error := extent_error(declared):
            return [error]
        found = get_variable_values(
            self.schema,
            self.operation.variable_definitions or (),
            dict(given),
            max_errors=max_errors,
            hide_suggestions=not self.suggesting,
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
        return [(signature, self.coercions.of(signature.type)) for signature in self._signatures]

    @cached_property
    def _signatures(self) -> list[GraphQLVariableSignature]:
        """The declared variables. In a valid document, each has a type."""
        declared = [get_variable_signature(self.schema, node) for node in self.operation.variable_definitions or ()]
        return [signature for signature in declared if isinstance(signature, GraphQLVariableSignature)]

    def resolution(self, parent_type: GraphQLObjectType, node: FieldNode) -> "Resolution | None":
        """How a root field is resolved; None if the executor must find out."""
        if not self.compiled:
            return None
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

    def sole_field(self, switched: Switched) -> SoleField | None:
        """The operation's one root field, if an executor has prepared it; None for any other operation."""
        found = self._sole_fields.get(switched)
        if found is None and (found := self._sole_field(switched)) is not None:
            self._sole_fields[switched] = found
        return found

    def _sole_field(self, switched: Switched) -> SoleField | None:
        fields = self._roots.get(switched)
        if fields is None or len(fields) != 1:
            return None
        ((name, details),) = fields.items()
        ready = self._resolutions.get(id(details[0].node))
        if ready is None:
            return None
        of = cast("GraphQLOutputType", get_nullable_type(ready.definition.type))
        complete = self._functions.get(self._key(of, details, switched))
        return SoleField(name, [field.node for field in details], ready, complete) if complete else None

    def root(self, executor: Executor[Any], switched: Switched) -> GroupedFieldSet:
        """The selected root fields.

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
        """Returns the compiled completer, or None if graphql-core must complete the selection."""
        if not self.compiled:
            return None
        key = self._key(of, fields, switched)
        try:
            return self._functions[key]
        except KeyError:
            made = compiled(executor, of, fields)
            if self._has_room(COMPILED_WEIGHT * made.fields if made.complete else 1):
                self._functions[key] = made.complete
            return made.complete

    def _key(self, of: GraphQLOutputType, fields: list[FieldDetails], switched: Switched) -> tuple[Any, ...]:
        return (of, *[id(field.node) for field in fields], *switched)

    def _has_room(self, weight: int) -> bool:
        """Whether something can be kept. If it does not fit beside the rest, the rest is dropped."""
        most = self.most_fields * (COMPILED_WEIGHT + 1)  # a whole operation fits, for one set of values
        if weight > most:
            return False
        self._kept += weight
        if self._kept > most:
            self._roots.clear()
            self._sole_fields.clear()
            self._functions.clear()
            self._kept = weight
        return True
