"""Decides which operations may be executed, for HTTP and WebSocket alike.

    document → scopes → cost → variables → fields

Each step refuses what it can. No field is resolved before all other steps have passed.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

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
from graph.api.fast.execution import Request, execute, executor_of
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
from graph.settings import Settings
from graph.transport.deadline import run_with_timeout
from graph.transport.errors import refusal_of
from graph.transport.request import GraphQLRequest
from graph.transport.streams import Streams
from graph.work.account import Account, Work, charged_to
from graph.work.length import Length
from graph.work.slots import OperationSlots

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


@dataclass(frozen=True, slots=True)
class Client:
    """Who sent a request."""

    caller: Caller
    spender: str  # the name that points are charged to
    request_id: str  # UUID v4
    address: str | None  # None if the server does not know it


class Admission:
    """Decides which operations may be executed, and charges their callers."""

    def __init__(
        self, documents: Documents, persisted: Persisted, limits: ExecutionLimits, *, suggesting: bool = True
    ) -> None:
        self.limits = limits
        self.suggesting = suggesting
        self._documents = documents
        self._persisted = persisted

    async def admitted(
        self,
        request: GraphQLRequest,
        client: Client,
        state: Mapping[str, Any],
        answer: Answer,
        *,
        reading: bool = False,
    ) -> "Admitted":
        """Check the requested operation and charge its caller. A refusal costs one point.

        Args:
            state: of the application.
            answer: receives the operation's type, name, points and limit.
            reading: whether mutations are refused.

        Raises:
            GraphError, InvalidDocument: The operation is refused.
        """
        rates: Rates = state["rates"]
        work: Work = state["work"]
        await work.pace.begin(client.spender)
        try:
            operation = await self._operation(request, client, state, reading=reading)
            answer.operation, answer.name = TYPES[operation.type], operation.name
            client.caller.require(operation.scopes(request.variables or {}))
            points = answer.points = operation.points(request.variables or {})
            limit = answer.limit = max(self.limits.cost, operation.least_limit)
            if points > limit:
                raise QueryTooComplex(
                    f"The operation costs {points:,} points, and one may cost {limit:,}: "
                    "ask for smaller pages or fewer fields at once."
                )
        except (GraphError, InvalidDocument):
            await rates.spend(client.spender, 1)  # limits refused requests too
            raise
        await rates.spend(client.spender, points)

        async def charge_replay(read: int, sent: int) -> None:
            await rates.spend_in_time(client.spender, read + sent * points)

        context: Context = state["new_context"](
            caller=client.caller, request_id=client.request_id, address=client.address, charge_replay=charge_replay
        )
        charge = partial(rates.spend, client.spender)
        new_account = partial(Account, work, client.spender, limit - points, charge, points)
        variables = partial(self._variables, operation, request, client, state)
        streams, slots = state["streams"], state["operations"][Length.of(points)]
        return Admitted(self, operation, variables, context, streams, slots, client, answer, new_account)

    async def _variables(
        self, operation: Operation, request: GraphQLRequest, client: Client, state: Mapping[str, Any]
    ) -> VariableValues:
        """The coerced variables. Many are coerced on a thread."""
        coerce = partial(
            operation.plan.variables,
            request.variables or {},
            max_errors=MOST_ERRORS,
            hide_suggestions=not self.suggesting,
        )
        is_long = request.values > VALUES_ON_THE_LOOP
        variables = await _on_a_thread(coerce, client, state) if is_long else coerce()
        if isinstance(variables, list):
            raise InvalidDocument(variables, BadUserInput.code)
        return variables

    async def _operation(
        self, request: GraphQLRequest, client: Client, state: Mapping[str, Any], *, reading: bool
    ) -> Operation:
        """The requested operation, from a document that is parsed and validated."""
        text = self._persisted.text(request.query, request.extensions)
        document = self._documents.remembered(text)
        if document is None:
            # Charged before parsing, so that a caller without points costs nothing more.
            if points := max(len(text) - CHARACTERS_FREE, 0) // CHARACTERS_PER_POINT:
                await state["rates"].spend(client.spender, points)
            document = await self._prepared(text, request.operation_name, client, state)
        operation = document.operation(request.operation_name)
        self._persisted.remember(text, request.extensions)
        if reading and operation.type is OperationType.MUTATION:
            raise BadRequest("GET can only query: send mutations by POST.", status=405, allow="POST")
        return operation

    async def _prepared(
        self, text: str, operation_name: str | None, client: Client, state: Mapping[str, Any]
    ) -> Document:
        """Prepare a document and the requested operation. A long document is prepared on a thread."""
        if len(text) <= CHARACTERS_ON_THE_LOOP:
            await state["work"].pace.give_way(client.spender, Length.USUAL)  # as long as a page, not as a lookup
            return self._documents.of(text)

        def prepare() -> Document:
            document = self._documents.valid(text)
            with suppress(OperationResolutionFailure):  # the document itself is valid, and remembered
                document.operation(operation_name)
            return document

        return self._documents.remember(text, await _on_a_thread(prepare, client, state))


async def _on_a_thread(job: Callable[[], T], client: Client, state: Mapping[str, Any]) -> T:
    with charged_to(Account(state["work"], client.spender, 0, partial(state["rates"].spend, client.spender))):
        return cast("T", await state["preparing"].run(job))


@dataclass(frozen=True, slots=True)
class Admitted:
    """An operation that may be executed, once."""

    admission: Admission
    operation: Operation
    variables: Callable[[], Awaitable[VariableValues]]  # coerces those that the client sent
    context: Context
    streams: Streams
    slots: OperationSlots  # of operations of its length in progress
    client: Client
    answer: Answer  # its points grow by what reading costs
    new_account: Callable[[], Account]  # one for each execution

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
        work = self._executed(await self.variables())
        if self.is_mutation:
            result = await run_with_timeout(self.admission.limits.mutation_seconds, work)
        else:
            result = await run_with_timeout(self.admission.limits.query_seconds, work, while_connected=while_connected)
        if result.data is None and result.errors and not any(error.path for error in result.errors):
            raise InvalidDocument(result.errors, BadUserInput.code)  # a directive's argument, before any field
        return result

    @asynccontextmanager
    async def subscribed(self) -> AsyncIterator[AsyncIterator[ExecutionResult]]:
        """Begin a subscription and yield its results.

        Raises:
            GraphError, InvalidDocument: The subscription is refused.
        """
        variables = await self.variables()
        with self.streams.counted(self.client.spender):
            executor = executor_of(self.operation.plan, self._request(variables))
            try:
                events = await run_with_timeout(self.admission.limits.query_seconds, executor.events())
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
                    result = await run_with_timeout(
                        self.admission.limits.query_seconds, self._executed(variables, event)
                    )
                except ExecutionTimeout as error:  # only this event's; the next may take less time
                    result = ExecutionResult(None, [GraphQLError(str(error), original_error=error)])
                yield result
                await asyncio.sleep(0)  # lets other clients go on while one takes results without waiting

    async def _executed(self, variables: VariableValues, root: object = None) -> ExecutionResult:
        request = self._request(variables, root)
        with charged_to(self.new_account()) as account:
            if not self.is_mutation:  # which takes no slot: an ingest waits for USGS, and queries must not wait with it
                await self.slots.begin(account)
            result = await execute(self.operation.plan, request)
        self.answer.points = (self.answer.points or 0) + account.spent
        return result

    def _request(self, variables: VariableValues, root: object = None) -> Request:
        return Request(variables, self.context, root, hide_suggestions=not self.admission.suggesting)
