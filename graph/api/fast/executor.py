"""graphql-core's executor, with compiled functions for plain selections.

The `OperationPlan` of an operation holds what outlives a request. An executor is freed as soon as nothing
refers to it: at its end it drops everything that refers back to it.
"""

from asyncio import Task, current_task, gather
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from inspect import CORO_CREATED, getcoroutinestate, iscoroutine
from typing import Any, NamedTuple, cast

from graphql import (
    ExecutionResult,
    GraphQLError,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    OperationType,
)
from graphql.execution import Executor, create_source_event_stream
from graphql.execution.collect_fields import FieldDetails
from graphql.execution.executor import default_field_resolver, default_type_resolver
from graphql.execution.values import VariableValues
from graphql.pyutils import AwaitableOrValue, Path
from strawberry.execution import optimized_is_awaitable

from graph.api.fast.coercion import Doubtful
from graph.api.fast.completion import CompiledInfo, Complete
from graph.api.fast.plan import OperationPlan
from graph.core.errors import GraphError
from graph.work.account import give_way

ITEMS_PER_PIECE = 20  # of a list; graphql-core takes some 0.1 ms to complete an object without a compiled function
RECORDS_PER_PIECE = 100  # of a list with one, which takes some 1 µs for each object


class ResolverOutcome(NamedTuple):
    """What a resolver has returned or raised."""

    value: Any = None
    error: Exception | None = None

    async def again(self) -> Any:
        """Return or raise it."""
        if self.error is not None:
            raise self.error
        return self.value


class PlainExecutor(Executor[Any]):
    """Executes one operation, once."""

    def __init__(
        self,
        plan: OperationPlan,
        variables: VariableValues,
        context: Any,
        *,
        root: object = None,
        outcome: ResolverOutcome | None = None,
    ) -> None:
        """Prepare an execution; `outcome` is that of the resolver of its one root field, if that has run."""
        self._awaitables: list[Any] = []  # all of them, since a failed field leaves others behind
        self._tasks: set[Task[Any]] = set()  # tasks that await a resolver
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
            is_awaitable=self._is_awaitable,  # type: ignore[arg-type]  # its declared type is bool instead of a type guard
            hide_suggestions=not plan.suggesting,
        )
        self._plan = plan
        self._outcome = outcome
        self._switched = plan.switched(variables.coerced)

    async def execute(self) -> ExecutionResult:
        """Execute the operation."""
        plan = self._plan
        try:
            fields = plan.root(self, self._switched)
            serially = plan.operation.operation is OperationType.MUTATION
            data: Any = self.execute_root_grouped_field_set(plan.root_type, self.root_value, fields, serially, None)
            if self.is_awaitable(data):
                data = await data
        except GraphQLError as error:
            self.collected_errors.add(error.with_traceback(None), None)
            data = None
        except BaseException:
            self._pop_errors()
            raise
        finally:
            await self._end()
        return ExecutionResult(cast("dict[str, Any] | None", data), self._pop_errors())

    async def events(self) -> AsyncGenerator[Any, None]:
        """The events of a subscription. Each event is the root value of an execution.

        Raises:
            Exception: The stream could not begin: what its resolver raised, or graphql-core's own error.
        """
        try:
            stream = create_source_event_stream(self)
            events: Any = await stream if self.is_awaitable(stream) else stream
        finally:
            await self._end()
        if isinstance(events, ExecutionResult):
            try:
                raise _cause(events)
            finally:
                del events  # the error's traceback holds this frame
        return cast("AsyncGenerator[Any, None]", events)

    def _is_awaitable(self, value: Any) -> bool:
        if not optimized_is_awaitable(value):
            return False
        self._awaitables.append(value)
        return True

    async def _end(self) -> None:
        """Cancel what a failed field has left behind."""
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
            # These refer back to this executor: with them, only the garbage collector could free it.
            del self.async_helpers, self.is_awaitable
            self._awaitables, self._tasks = [], set()

    def _pop_errors(self) -> list[GraphQLError] | None:
        """Return the errors and drop them: tracebacks hold frames, and those hold this executor and the result."""
        errors = self.collected_errors.errors
        del self.collected_errors
        for error in errors:
            cause: BaseException | None = error
            while isinstance(cause, GraphQLError):
                cause.__traceback__ = None
                cause = cause.original_error
            if isinstance(cause, GraphError):  # any other one is unforeseen, and keeps its trace for the log
                while cause:
                    cause.__traceback__ = None
                    cause = cause.__cause__ or cause.__context__
        return errors or None

    def complete_list_value(
        self,
        return_type: GraphQLList[Any],
        field_details_list: list[FieldDetails],
        info: GraphQLResolveInfo[Any],
        path: Path,
        result: Any,
        position_context: Any,
    ) -> AwaitableOrValue[list[Any]]:
        """Complete a list without a compiled function. A long one gives way to other work between pieces."""
        if not isinstance(result, list | tuple) or len(result) <= ITEMS_PER_PIECE:
            return super().complete_list_value(return_type, field_details_list, info, path, result, position_context)
        return self.complete_async_iterator_value(
            return_type.of_type, field_details_list, info, path, _in_pieces(result), position_context
        )

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
        """Note the task that awaits a resolver. There is no abort signal: `Deadline` cancels an operation."""
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
                work = self._outcome.again() if self._outcome else ready.resolve(source, info, **given)
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
        # A value of a non-null type comes here again, with the nullable type.
        comes_again = isinstance(return_type, GraphQLNonNull)
        if result is not None and not comes_again and field_details_list[0].node.selection_set:
            complete = self._plan.function(self, self._switched, return_type, field_details_list)
            if complete and result.__class__ is list and len(result) > RECORDS_PER_PIECE:
                return self._complete_in_pieces(
                    complete, return_type, field_details_list, info, path, result, position_context
                )
            if complete:
                try:
                    return complete(result, CompiledInfo(self.context_value))
                except Exception:  # noqa: S110 — the executor finds the error again, and reports its place
                    pass
        return super().complete_value(return_type, field_details_list, info, path, result, position_context)

    async def _complete_in_pieces(
        self,
        complete: Complete,
        return_type: GraphQLOutputType,
        field_details_list: list[FieldDetails],
        info: GraphQLResolveInfo[Any],
        path: Path,
        records: list[Any],
        position_context: Any,
    ) -> Any:
        """Complete a long list by its compiled function, and give way to other work between pieces."""
        compiled_info, completed = CompiledInfo(self.context_value), []
        try:
            for first in range(0, len(records), RECORDS_PER_PIECE):
                await give_way()
                completed += complete(records[first : first + RECORDS_PER_PIECE], compiled_info)
        except Exception:
            value = super().complete_value(return_type, field_details_list, info, path, records, position_context)
            return await value if self.is_awaitable(value) else value
        return completed


async def _in_pieces(items: Sequence[Any]) -> AsyncGenerator[Any, None]:
    for at, item in enumerate(items):
        if at % ITEMS_PER_PIECE == 0:
            await give_way()
        yield item


def _cause(failed: ExecutionResult) -> Exception:
    """Why a stream did not begin: the resolver's own error, without graphql-core's error around it."""
    error = failed.errors[0] if failed.errors else GraphQLError("There is no such stream.")
    cause = error.original_error
    return error if cause is None or isinstance(cause, GraphQLError) else cause
