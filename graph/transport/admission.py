"""From what is asked to what may be executed, whatever carries it: a request of HTTP, or a socket.

    document → scopes → cost → variables → fields

Whatever is wrong is found at the first step that can know it, and of an operation that any of
the steps before the last refuses, nothing is resolved.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from graphql import ExecutionResult, GraphQLError, OperationType
from graphql.execution.values import VariableValues
from starlette.types import Receive

from graph.access.callers import Caller
from graph.access.rate import Rates
from graph.api.context import Context
from graph.api.documents.persisted import Persisted
from graph.api.documents.prepared import (
    MOST_ERRORS,
    Document,
    Documents,
    InvalidDocument,
    Operation,
)
from graph.api.fast.executor import PlainExecutor
from graph.core.errors import (
    BadRequest,
    BadUserInput,
    ExecutionTimeout,
    GraphError,
    OperationResolutionFailure,
    QueryTooComplex,
)
from graph.observability import requests
from graph.observability.requests import Answer
from graph.transport.deadline import within
from graph.transport.errors import cause_of, is_about_an_argument
from graph.transport.request import Asked
from graph.transport.streams import Streams
from graph.work.account import Account, Work, charged_to
from graph.work.slots import Slots

CHARACTERS_ON_THE_LOOP = 1000  # of a document, which takes some 3 ms to parse and validate
CHARACTERS_FREE = 64  # of a document that has to be prepared: its operation's own price covers them
CHARACTERS_A_POINT = 16  # of the rest; each takes some 3 µs

TYPES: dict[OperationType, requests.Operation] = {
    OperationType.QUERY: "query",
    OperationType.MUTATION: "mutation",
    OperationType.SUBSCRIPTION: "subscription",
}


@dataclass(frozen=True, slots=True)
class ExecutionLimits:
    """What one operation may take."""

    cost: int  # points
    query_seconds: float
    mutation_seconds: float  # an ingest waits for USGS


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks."""

    caller: Caller
    who: str  # the name that is charged
    request_id: str  # UUID v4


class Admission:
    """Lets operations in."""

    def __init__(
        self, documents: Documents, persisted: Persisted, limits: ExecutionLimits, *, suggesting: bool = True
    ) -> None:
        self.limits = limits
        self.suggesting = suggesting
        self._documents = documents
        self._persisted = persisted

    async def admitted(
        self, asked: Asked, asker: Asker, state: Mapping[str, Any], answer: Answer, *, reading: bool = False
    ) -> "Admitted":
        """What is asked, once its caller was charged for it; a refusal costs a point.

        Args:
            state: of the application.
            answer: is told what is asked.
            reading: whether nothing may be changed.

        Raises:
            GraphError, InvalidDocument: It is refused, and why.
        """
        rates: Rates = state["rates"]
        work: Work = state["work"]
        await work.pace.give_way(asker.who)
        try:
            operation = await self._operation(asked, asker, state, reading=reading)
            answer.operation, answer.name = TYPES[operation.type], operation.name
            asker.caller.require(operation.scopes(asked.variables or {}))
            points = answer.points = operation.points(asked.variables or {})
            if points > self.limits.cost:
                raise QueryTooComplex(
                    f"The operation costs {points:,} points, and one may cost {self.limits.cost:,}: "
                    "ask for smaller pages or fewer fields at once."
                )
        except (GraphError, InvalidDocument):
            await rates.spend(asker.who, 1)  # so that refusals have an end too
            raise
        await rates.spend(asker.who, points)

        async def charge_replay(read: int, told: int) -> None:
            await rates.spend_in_time(asker.who, read + told * points)

        context: Context = state["new_context"](
            caller=asker.caller, request_id=asker.request_id, charge_replay=charge_replay
        )
        new_account = partial(Account, work, asker.who, self.limits.cost - points, partial(rates.spend, asker.who))
        given = asked.variables or {}
        streams, slots = state["streams"], state["operations"]
        return Admitted(self, operation, given, context, streams, slots, asker, answer, new_account)

    async def _operation(self, asked: Asked, asker: Asker, state: Mapping[str, Any], *, reading: bool) -> Operation:
        """The operation that is asked for, where it can be executed."""
        text = self._persisted.text(asked.query, asked.extensions)
        document = self._documents.remembered(text)
        if document is None:
            # Before it is parsed, so that a caller without points costs nothing more.
            if points := max(len(text) - CHARACTERS_FREE, 0) // CHARACTERS_A_POINT:
                await state["rates"].spend(asker.who, points)
            document = await self._prepared(text, asked.operation_name, asker, state)
        operation = document.operation(asked.operation_name)
        self._persisted.remember(text, asked.extensions)
        if reading and operation.type is OperationType.MUTATION:
            raise BadRequest("GET can only query: send mutations by POST.", status=405, allow="POST")
        return operation

    async def _prepared(
        self, text: str, operation_name: str | None, asker: Asker, state: Mapping[str, Any]
    ) -> Document:
        """A document, prepared with the operation that is asked for, on a thread if that takes long."""
        if len(text) <= CHARACTERS_ON_THE_LOOP:
            return self._documents.of(text)

        def prepare() -> Document:
            document = self._documents.valid(text)
            with suppress(OperationResolutionFailure):  # of a document that is remembered all the same
                document.operation(operation_name)
            return document

        with charged_to(Account(state["work"], asker.who, 0, partial(state["rates"].spend, asker.who))):
            return self._documents.remember(text, await state["preparing"].run(prepare))


@dataclass(frozen=True, slots=True)
class Admitted:
    """An operation that may be executed, once."""

    by: Admission
    operation: Operation
    given: Mapping[str, Any]  # variables
    context: Context
    streams: Streams
    slots: Slots  # of operations in progress
    asker: Asker
    answer: Answer  # is told what reading costs, beyond what the document says
    new_account: Callable[[], Account]  # of one execution

    @property
    def is_subscription(self) -> bool:
        """Whether it has any number of results, for as long as its client likes."""
        return self.operation.type is OperationType.SUBSCRIPTION

    @property
    def is_mutation(self) -> bool:
        """Whether it changes something."""
        return self.operation.type is OperationType.MUTATION

    async def result(self, *, unless_gone: Receive | None = None) -> ExecutionResult:
        """The outcome of a query or mutation.

        Args:
            unless_gone: the channel of the request, its body read already: a query goes on only while the client is
                there. An ingest that nobody waits for any more is finished all the same.
        """
        work = self._executed(self._variables())
        if self.is_mutation:
            result = await within(self.by.limits.mutation_seconds, work)
        else:
            result = await within(self.by.limits.query_seconds, work, unless_gone=unless_gone)
        if result.data is None and result.errors and not any(error.path for error in result.errors):
            raise InvalidDocument(result.errors, BadUserInput.code)  # a directive's argument, before any field
        return result

    @asynccontextmanager
    async def subscribed(self) -> AsyncIterator[AsyncIterator[ExecutionResult]]:
        """The results of a subscription, which has begun.

        Raises:
            GraphError, InvalidDocument: It is refused, and why.
        """
        variables = self._variables()
        with self.streams.one_of(self.asker.who):
            try:
                events = await within(self.by.limits.query_seconds, self._executor(variables).events())
            except GraphQLError as error:
                raise _refusal(error) from error
            async with aclosing(self._results(variables, events)) as results:
                yield results

    async def _results(
        self, variables: VariableValues, events: AsyncGenerator[object, None]
    ) -> AsyncGenerator[ExecutionResult, None]:
        async with aclosing(events):
            async for event in events:
                try:
                    result = await within(self.by.limits.query_seconds, self._executed(variables, event))
                except ExecutionTimeout as error:  # of this one; the next may take less
                    result = ExecutionResult(None, [GraphQLError(str(error), original_error=error)])
                yield result
                await asyncio.sleep(0)  # a client that takes all at once leaves no turn to the others

    async def _executed(self, variables: VariableValues, root: object = None) -> ExecutionResult:
        executor = self._executor(variables, root)
        with charged_to(self.new_account()) as account:
            if self.is_mutation:  # an ingest waits for USGS, and must not keep queries waiting meanwhile
                result = await executor.execute()
            else:
                async with self.slots.one():
                    result = await executor.execute()
        self.answer.points = (self.answer.points or 0) + account.spent
        return result

    def _variables(self) -> VariableValues:
        suggesting = self.by.suggesting
        variables = self.operation.plan.variables(self.given, max_errors=MOST_ERRORS, hide_suggestions=not suggesting)
        if isinstance(variables, list):
            raise InvalidDocument(variables, BadUserInput.code)
        return variables

    def _executor(self, variables: VariableValues, root: object = None) -> PlainExecutor:
        hiding = not self.by.suggesting
        return PlainExecutor(self.operation.plan, variables, self.context, root=root, hide_suggestions=hiding)


def _refusal(error: GraphQLError) -> Exception:
    """Why a subscription cannot begin, of what graphql-core makes of it."""
    cause = cause_of(error)
    if isinstance(cause, GraphQLError) and is_about_an_argument(cause):
        return InvalidDocument([error], BadUserInput.code)
    return cause
