"""The one way from a GraphQL request to an operation that may run, for HTTP, server-sent events and WebSockets alike.

    document → scopes → cost → points → variables → slot → fields

Each step refuses what it can. No field is resolved before all other steps have passed. A step that has nothing to wait
for makes no coroutine, task or timer: it returns what to wait for, or None.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from graphql import ExecutionResult, GraphQLError, OperationType
from graphql.execution.values import VariableValues
from starlette.types import Receive

from graph.api.documents.persisted import Persisted
from graph.api.documents.prepared import MOST_ERRORS, Document, Documents, InvalidDocument, Operation
from graph.api.fast.execution import Request, execute, executor_of
from graph.core.errors import BadRequest, BadUserInput, ExecutionTimeout, OperationResolutionFailure, QueryTooComplex
from graph.observability import requests
from graph.settings import Settings
from graph.transport.errors import refusal_of
from graph.transport.exchange import Exchange
from graph.transport.request import GraphQLRequest
from graph.work.account import charged_to
from graph.work.length import Length

CHARACTERS_ON_THE_LOOP = 1000  # of a document, which takes some 3 ms to parse and validate
CHARACTERS_FREE = 64  # of a document that must be prepared; the operation's own price covers them
CHARACTERS_PER_POINT = 16  # of the rest; each takes some 3 µs
VALUES_ON_THE_LOOP = 1000  # of variables; graphql-core takes some 10 µs for each of refused ones

T = TypeVar("T")

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

    @classmethod
    def of(cls, settings: Settings) -> "ExecutionLimits":
        """The limits of the settings."""
        return cls(settings.max_cost, settings.execution_timeout, settings.ingest_timeout)


class Entrance:
    """Decides which operations may be executed, and charges their callers."""

    def __init__(
        self, documents: Documents, persisted: Persisted, limits: ExecutionLimits, *, suggesting: bool = True
    ) -> None:
        self.limits = limits
        self.suggesting = suggesting
        self._documents = documents
        self._persisted = persisted

    async def admitted(self, exchange: Exchange, request: GraphQLRequest, *, reading: bool = False) -> "Admitted":
        """Check the requested operation and charge its caller.

        Args:
            exchange: of an identified caller; its answer receives the operation's type, name, points and limit.
            reading: whether mutations are refused.

        Raises:
            GraphError, InvalidDocument: The operation is refused.
        """
        answer, variables = exchange.answer, request.variables or {}
        if permitted := exchange.process.work.pace.begin(exchange.spender):
            await permitted
        text = self._persisted.text(request.query, request.extensions)
        document = self._documents.remembered(text) or await self._prepared(text, request.operation_name, exchange)
        operation = document.operation(request.operation_name)
        if request.extensions:
            self._persisted.remember(text, request.extensions)
        if reading and operation.type is OperationType.MUTATION:
            raise BadRequest("GET can only query: send mutations by POST.", status=405, allow="POST")
        answer.operation, answer.name = TYPES[operation.type], operation.name
        exchange.caller.require(operation.scopes(variables))
        points = answer.points = operation.points(variables)
        limit = answer.limit = max(self.limits.cost, operation.least_limit)
        if points > limit:
            raise QueryTooComplex(
                f"The operation costs {points:,} points, and one may cost {limit:,}: "
                "ask for smaller pages or fewer fields at once."
            )

        rates, spender = exchange.process.rates, exchange.spender  # with the exchange, it would be a reference cycle

        async def charge_replay(read: int, sent: int) -> None:
            await rates.spend_in_time(spender, read + sent * points)

        if charged := exchange.admit(points, charge_replay):
            await charged
        return Admitted(self, exchange, request, operation, points)

    async def _prepared(self, text: str, operation_name: str | None, exchange: Exchange) -> Document:
        """Prepare a document and the requested operation. A long document is prepared on a thread."""
        # Charged before parsing, so that a caller without points costs nothing more.
        points = max(len(text) - CHARACTERS_FREE, 0) // CHARACTERS_PER_POINT
        if points and (charged := exchange.spend(points)):
            await charged
        if len(text) <= CHARACTERS_ON_THE_LOOP:
            # As long as a page, not as a lookup.
            await exchange.process.work.pace.give_way(exchange.spender, Length.USUAL)
            return self._documents.of(text)

        def prepare() -> Document:
            document = self._documents.valid(text)
            with suppress(OperationResolutionFailure):  # the document itself is valid, and remembered
                document.operation(operation_name)
            return document

        return self._documents.remember(text, await _on_a_thread(prepare, exchange))


async def _on_a_thread(job: Callable[[], T], exchange: Exchange) -> T:
    with charged_to(exchange.account(0)):
        return await exchange.process.preparing.run(job)


@dataclass(frozen=True, slots=True)
class Admitted:
    """An operation that may be executed, once."""

    entrance: Entrance
    exchange: Exchange
    request: GraphQLRequest
    operation: Operation
    points: int  # its price

    @property
    def is_subscription(self) -> bool:
        """Whether it is a subscription, which has any number of results."""
        return self.operation.type is OperationType.SUBSCRIPTION

    @property
    def is_mutation(self) -> bool:
        """Whether it is a mutation."""
        return self.operation.type is OperationType.MUTATION

    async def result(self, *, while_connected: Receive | None = None) -> ExecutionResult:
        """Execute a query or mutation.

        Args:
            while_connected: the request's channel, after its body was read. A query is cancelled when the client
                disconnects. A mutation is finished in any case.
        """
        limits = self.entrance.limits
        seconds, channel = (
            (limits.mutation_seconds, None) if self.is_mutation else (limits.query_seconds, while_connected)
        )
        variables = await self._variables()
        with self.exchange.process.deadlines.within(seconds, channel):
            result = await self._executed(variables)
        if result.errors:
            if result.data is None and not any(error.path for error in result.errors):
                raise InvalidDocument(result.errors, BadUserInput.code)  # a directive's argument, before any field
            # graphql-core refuses some values of variables only when it comes to their field.
            self.exchange.failed(refusal_of(result.errors[0]))
        return result

    @asynccontextmanager
    async def subscribed(self) -> AsyncIterator[AsyncIterator[ExecutionResult]]:
        """Begin a subscription and yield its results.

        Raises:
            GraphError, InvalidDocument: The subscription is refused.
        """
        process, seconds = self.exchange.process, self.entrance.limits.query_seconds
        variables = await self._variables()
        with process.subscriptions.counted(self.exchange.spender, "subscriptions"):
            executor = executor_of(self.operation.plan, self._execution(variables))
            try:
                with process.deadlines.within(seconds):
                    events = await executor.events()
            except GraphQLError as error:
                raise refusal_of(error) from error
            async with aclosing(self._results(variables, events)) as results:
                yield results

    async def _results(
        self, variables: VariableValues, events: AsyncGenerator[object, None]
    ) -> AsyncGenerator[ExecutionResult, None]:
        async with aclosing(events):
            async for event in events:
                try:
                    with self.exchange.process.deadlines.within(self.entrance.limits.query_seconds):
                        result = await self._executed(variables, event)
                except ExecutionTimeout as error:  # only this event's; the next may take less time
                    result = ExecutionResult(None, [GraphQLError(str(error), original_error=error)])
                yield result
                await asyncio.sleep(0)  # lets other clients go on while one takes results without waiting

    async def _executed(self, variables: VariableValues, root: object = None) -> ExecutionResult:
        answer, process = self.exchange.answer, self.exchange.process
        most = max(self.entrance.limits.cost, self.operation.least_limit) - self.points
        with charged_to(self.exchange.account(most, price=self.points)) as account:
            # A mutation takes no slot: an ingest waits for USGS, and queries must not wait with it.
            if not self.is_mutation and (granted := account.begin(process.work.operations[Length.of(self.points)])):
                await granted
            result = await execute(self.operation.plan, self._execution(variables, root))
        answer.points = (answer.points or 0) + account.spent
        return result

    def _execution(self, variables: VariableValues, root: object = None) -> Request:
        return Request(variables, self.exchange.context, root, hide_suggestions=not self.entrance.suggesting)

    async def _variables(self) -> VariableValues:
        """The coerced variables. Many are coerced on a thread."""
        coerce = partial(
            self.operation.plan.variables,
            self.request.variables or {},
            max_errors=MOST_ERRORS,
            hide_suggestions=not self.entrance.suggesting,
        )
        is_long = self.request.values > VALUES_ON_THE_LOOP
        variables = await _on_a_thread(coerce, self.exchange) if is_long else coerce()
        if isinstance(variables, list):
            raise InvalidDocument(variables, BadUserInput.code)
        return variables
