"""graphql-core's executor, which takes compiled functions for what is plain.

What does not depend on a request is found out once for an operation and kept in its `Plan`: the
fragments, the fields that are selected of the root, the functions of `completion`. Which fields
are selected may depend on `@skip` and `@include`: what is kept holds for the values that their
variables had.
"""

from asyncio import Task, current_task, gather
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from inspect import CORO_CREATED, getcoroutinestate, iscoroutine, iscoroutinefunction
from typing import Any, cast

from graphql import (
    DirectiveNode,
    DocumentNode,
    ExecutionResult,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLField,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    GraphQLSchema,
    Node,
    OperationDefinitionNode,
    OperationType,
    Undefined,
    VariableNode,
    Visitor,
    is_non_null_type,
    visit,
)
from graphql.execution import Executor, create_source_event_stream
from graphql.execution.collect_fields import FieldDetails, FragmentDetails, GroupedFieldSet, collect_fields
from graphql.execution.executor import default_field_resolver, default_type_resolver
from graphql.execution.get_variable_signature import GraphQLVariableSignature, get_variable_signature
from graphql.execution.values import VariableValues, VariableValueSource, get_variable_values
from graphql.pyutils import AwaitableOrValue, Path
from strawberry.execution import optimized_is_awaitable

from graph.execution.arguments import Arguments, compiled_arguments
from graph.execution.coercion import Coerce, Coercions, Doubtful
from graph.execution.completion import Complete, compiled

MOST_KEPT = 64  # of each kind in a plan: a client can set its directives in more ways than there is memory for

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
    """What is known of an operation before its variables are."""

    schema: GraphQLSchema
    coercions: Coercions
    document: DocumentNode
    operation: OperationDefinitionNode
    _roots: dict[Switched, GroupedFieldSet] = field(default_factory=dict)
    _resolutions: "dict[int, Resolution | None]" = field(default_factory=dict)
    _functions: dict[tuple[Any, ...], Complete | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fragment_definitions = {
            node.name.value: node for node in self.document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self.fragments = {name: FragmentDetails(node) for name, node in self.fragment_definitions.items()}
        self.root_type = cast("GraphQLObjectType", self.schema.get_root_type(self.operation.operation))
        self._switches = tuple(_switches(self.document))

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
        return get_variable_values(
            self.schema,
            self.operation.variable_definitions or (),
            dict(given),
            max_errors=max_errors,
            hide_suggestions=hide_suggestions,
        )

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
            if len(self._roots) < MOST_KEPT:
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
            if len(self._functions) >= MOST_KEPT:
                return None
            function = self._functions[key] = compiled(executor, of, fields)
            return function


class PlainExecutor(Executor[Any]):
    """Executes one operation, once."""

    def __init__(
        self, plan: Plan, variables: VariableValues, context: Any, *, root: object = None, hide_suggestions: bool
    ) -> None:
        self._awaitables: list[Any] = []  # all that were met, since a field that fails leaves others behind
        self._tasks: set[Task[Any]] = set()  # in which something is awaited
        super().__init__(
            plan.schema,
            plan.fragment_definitions,
            plan.fragments,
            root,
            context,
            plan.operation,
            variables,
            default_field_resolver,
            default_type_resolver,
            default_field_resolver,
            is_awaitable=self._is_awaitable,  # type: ignore[arg-type]  # it says bool where a guard is meant
            hide_suggestions=hide_suggestions,
        )
        self._plan = plan
        self._switched = plan.switched(variables.coerced)

    async def execute(self) -> ExecutionResult:
        """The outcome of the operation."""
        plan = self._plan
        try:
            fields = plan.root(self, self._switched)
            serially = plan.operation.operation is OperationType.MUTATION
            data: Any = self.execute_root_grouped_field_set(plan.root_type, self.root_value, fields, serially, None)
            if self.is_awaitable(data):
                data = await data
        except GraphQLError as error:
            self.collected_errors.add(error, None)
            data = None
        finally:
            await self._end()
        return ExecutionResult(cast("dict[str, Any] | None", data), self.collected_errors.errors or None)

    async def events(self) -> AsyncGenerator[Any, None]:
        """What a subscription is told of: each event is the root of an execution.

        Raises:
            GraphQLError: There is no such stream, and why.
        """
        try:
            stream = create_source_event_stream(self)
            told: Any = await stream if self.is_awaitable(stream) else stream
        finally:
            await self._end()
        if isinstance(told, ExecutionResult):
            raise (told.errors or [GraphQLError("There is no such stream.")])[0]
        return cast("AsyncGenerator[Any, None]", told)

    def execute_fields(
        self,
        parent_type: GraphQLObjectType,
        source_value: Any,
        path: Path | None,
        grouped_field_set: GroupedFieldSet,
        position_context: Any,
    ) -> AwaitableOrValue[dict[str, Any]]:
        if path is not None or len(grouped_field_set) > 1:
            return super().execute_fields(parent_type, source_value, path, grouped_field_set, position_context)
        # The one field of nearly all operations needs nothing that would wait for several.
        ((name, details),) = grouped_field_set.items()
        result = self.execute_field(
            parent_type, source_value, details, Path(None, name, parent_type.name), position_context
        )
        if self.is_awaitable(result):
            return _named(name, result)
        return {} if result is Undefined else {name: result}

    def _is_awaitable(self, value: Any) -> bool:
        if not optimized_is_awaitable(value):
            return False
        self._awaitables.append(value)
        return True

    async def _end(self) -> None:
        """Give up what a field that failed has left behind: nobody waits for it."""
        try:
            own = current_task()
            left = [*self.background_futures, *[task for task in self._tasks if task is not own and not task.done()]]
            for future in left:
                future.cancel()
            if left:
                await gather(*left, return_exceptions=True)
        finally:
            for awaitable in self._awaitables:
                if iscoroutine(awaitable) and getcoroutinestate(awaitable) == CORO_CREATED:
                    awaitable.close()
            # Methods of this executor: left in it, only the garbage collector could free it.
            del self.async_helpers, self.is_awaitable

    def complete_list_item_value(
        self,
        item: Any,
        complete_results: list[Any],
        item_type: GraphQLOutputType,
        field_details_list: list[FieldDetails],
        info: GraphQLResolveInfo[Any],
        item_path: Path,
        position_context: Any,
    ) -> bool:
        waits = super().complete_list_item_value(
            item, complete_results, item_type, field_details_list, info, item_path, position_context
        )
        return waits and self._is_awaitable(complete_results[-1])

    def with_abort_signal(self, awaitable: Any) -> Any:
        """What a resolver's answer is awaited by. An operation has no such signal: `within` cancels it."""
        if task := current_task():
            self._tasks.add(task)
        return awaitable

    def execute_field(
        self,
        parent_type: GraphQLObjectType,
        source: Any,
        field_details_list: list[FieldDetails],
        path: Path,
        position_context: Any,
    ) -> Any:
        ready = self._plan.resolution(parent_type, field_details_list[0].node) if path.prev is None else None
        if ready:
            with suppress(Doubtful):
                given = ready.arguments(self.variable_values.coerced)
                nodes = [details.node for details in field_details_list]
                info = self.build_resolve_info(ready.definition, nodes, parent_type, path)
                work = ready.resolve(source, info, **given)
                self._awaitables.append(work)
                of = ready.definition.type
                return self.complete_awaitable_value(of, field_details_list, info, path, work, position_context)
        return super().execute_field(parent_type, source, field_details_list, path, position_context)

    def complete_value(
        self,
        return_type: GraphQLOutputType,
        field_details_list: list[FieldDetails],
        info: GraphQLResolveInfo[Any],
        path: Path,
        result: Any,
        position_context: Any,
    ) -> AwaitableOrValue[Any]:
        if result is not None and field_details_list[0].node.selection_set:
            complete = self._plan.function(self, self._switched, return_type, field_details_list)
            if complete:
                try:
                    return complete(result)
                except Exception:  # noqa: S110 — the executor finds it again, and tells where it is
                    pass
        return super().complete_value(return_type, field_details_list, info, path, result, position_context)


async def _named(name: str, value: Awaitable[Any]) -> dict[str, Any]:
    return {name: await value}


def _switches(document: DocumentNode) -> dict[str, None]:
    """The variables that directives take."""
    names: dict[str, None] = {}

    class Reader(Visitor):
        def enter_variable(self, node: VariableNode, *context: Any) -> None:
            ancestors: list[Node | tuple[Node, ...]] = context[3]
            if any(isinstance(ancestor, DirectiveNode) for ancestor in ancestors):
                names[node.name.value] = None

    visit(document, Reader())
    return names
