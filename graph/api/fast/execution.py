"""Executes operations, those of one plain root field without an executor.

Nearly all operations have one root field, whose resolver is a coroutine function and whose selection is
plain. From the second execution on, their plan knows all that an executor would find out in 40 µs. Whatever
is in doubt, and every error, is left to an executor, which goes on with the resolver's outcome.
"""

from contextlib import suppress
from typing import Any, NamedTuple, cast

from graphql import ExecutionResult, GraphQLResolveInfo, is_non_null_type
from graphql.execution.values import VariableValues
from graphql.pyutils import Path
from strawberry.execution import optimized_is_awaitable

from graph.api.fast.coercion import Doubtful
from graph.api.fast.completion import CompiledInfo
from graph.api.fast.executor import PlainExecutor, ResolverOutcome
from graph.api.fast.plan import OperationPlan, SoleField


class Request(NamedTuple):
    """What an operation is executed with."""

    variables: VariableValues
    context: Any
    root: object = None


async def execute(plan: OperationPlan, request: Request) -> ExecutionResult:
    """Execute a query or a mutation, or a subscription's event, which is `root`."""
    outcome: ResolverOutcome | None = None
    if (sole := plan.sole_field(plan.switched(request.variables.coerced))) is not None:
        outcome = await _resolved(plan, sole, request)
        if outcome and outcome.error is None:
            with suppress(Exception):  # the executor finds the error again, and reports its place
                return ExecutionResult({sole.name: _completed(sole, outcome.value, request)}, None)
    return await executor_of(plan, request, outcome).execute()


def executor_of(plan: OperationPlan, request: Request, outcome: ResolverOutcome | None = None) -> PlainExecutor:
    """An executor, which goes on after the resolver of the sole field if its outcome is known."""
    variables, context, root = request
    return PlainExecutor(plan, variables, context, root=root, outcome=outcome)


async def _resolved(plan: OperationPlan, sole: SoleField, request: Request) -> ResolverOutcome | None:
    """The outcome of the field's resolver; None if an executor must find the arguments."""
    try:
        given = sole.ready.arguments(request.variables.coerced)
    except Doubtful:
        return None
    try:
        return ResolverOutcome(await sole.ready.resolve(request.root, _info(plan, sole, request), **given))
    except Exception as error:
        return ResolverOutcome(error=error)


def _info(plan: OperationPlan, sole: SoleField, request: Request) -> GraphQLResolveInfo[Any]:
    return GraphQLResolveInfo(
        sole.nodes[0].name.value,
        sole.nodes,
        sole.ready.definition.type,
        plan.root_type,
        Path(None, sole.name, plan.root_type.name),
        plan.schema,
        plan.fragment_definitions,
        request.root,
        plan.operation,
        request.variables,
        request.context,
        cast("Any", optimized_is_awaitable),  # its declared type is bool instead of a type guard
        None,
        cast("Any", None),  # no resolver of this service leaves work to the executor
    )


def _completed(sole: SoleField, value: Any, request: Request) -> Any:
    if value is None and not is_non_null_type(sole.ready.definition.type):
        return None
    return sole.complete(value, CompiledInfo(request.context))  # which refuses None
