"""The one way from a GraphQL request to an operation that may run, for HTTP, server-sent events and WebSockets alike.

    document → scopes → cost → points → variables → slot → fields

Each step refuses what it can. No field is resolved before all other steps have passed. A step that has nothing to wait
for makes no coroutine, task or timer: it returns what to wait for, or None.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from graphql import ExecutionResult, GraphQLError
from graphql.execution.values import VariableValues
from starlette.types import Receive

from graph.api.documents.persisted import Persisted
from graph.api.documents.prepared import Document, Documents, InvalidDocument, Operation
from graph.api.fast.execution import Request, execute, executor_of
from graph.core.errors import BadRequest, BadUserInput, ExecutionTimeout, OperationResolutionFailure, QueryTooComplex
from graph.observability.metrics import OK
from graph.transport.errors import code_of, format_result, refusal_of
from graph.transport.exchange import Exchange
from graph.transport.request import GraphQLRequest
from graph.transport.validators import Conditions, Validators
from graph.work.length import Length

CHARACTERS_ON_THE_LOOP = 1000  # of a document, which takes some 3 ms to parse and validate
CHARACTERS_FREE = 64  # of a document that must be prepared; the operation's own price covers them
CHARACTERS_PER_POINT = 16  # of the rest; each takes some 3 µs
VALUES_ON_THE_LOOP = 1000  # of variables; graphql-core takes some 10 µs for each of refused ones


class Entrance:
    """Decides which operations may be executed, and charges their callers."""

    def __init__(self, documents: Documents, persisted: Persisted, validators: Validators) -> None:
        self._documents = documents
        self._persisted = persisted
        self._validators = validators

    async def admitted(
        self,
        exchange: Exchange,
        request: GraphQLRequest,
        *,
        reading: bool = False,
        receive: Receive | None = None,
        conditions: Conditions | None = None,
    ) -> "Admitted":
        """Check the requested operation and charge its caller.

        Args:
            exchange: of a known caller; its answer receives the operation's type, name, points and limit.
            reading: whether mutations are refused.
            receive: the request's channel, after its body was read. All but a mutation that has begun is cancelled
                when the client disconnects.
            conditions: of an answer that may have a tag, which the exchange receives. If the client has the answer, a
                point is charged for knowing so.

        Raises:
            GraphError, InvalidDocument: The operation is refused.
        """
        answer, process, variables = exchange.answer, exchange.process, request.variables or {}
        with process.deadlines.within(process.limits.query_seconds, receive):
            if permitted := process.work.pace.begin(exchange.spender):
                await permitted
            text = self._persisted.text(request.query, request.extensions)
            document = self._documents.remembered(text) or await self._prepared(text, request.operation_name, exchange)
            operation = document.operation(request.operation_name)
            if request.extensions:
                self._persisted.remember(text, request.extensions)
            if reading and operation.type == "mutation":
                raise BadRequest("GET can only query: send mutations by POST.", status=405, allow="POST")
            answer.operation, answer.name = operation.type, operation.name
            exchange.context.caller.require(operation.scopes(variables))
            points = answer.points = operation.points(variables)
            limit = answer.limit = max(process.limits.cost, operation.least_limit)
            if points > limit:
                raise QueryTooComplex(
                    f"The operation costs {points:,} points, and one may cost {limit:,}: "
                    "ask for smaller pages or fewer fields at once."
                )
            paid, is_known = 0, False
            if conditions:
                if conditions.known:
                    paid = 1  # before the store is asked
                    if charged := exchange.admit(paid):
                        await charged
                exchange.tag = await self._validators.tag(exchange, conditions, text, operation, variables)
                is_known = conditions.names(exchange.tag)
            if is_known:
                answer.points = paid
            elif points > paid and (charged := exchange.admit(points - paid)):
                await charged
        return Admitted(exchange, request, operation, points, limit, receive, is_known)

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

        return self._documents.remember(text, await exchange.on_a_thread(prepare))


@dataclass(frozen=True, slots=True)
class Admitted:
    """An operation that may be executed, once. Its answer receives the outcome."""

    exchange: Exchange
    request: GraphQLRequest
    operation: Operation
    points: int  # its price
    most: int  # points that it may cost, with those for reading
    receive: Receive | None  # see `Entrance.admitted`
    is_known: bool = False  # whether the client has the answer, so that nothing is to be executed

    async def result(self) -> dict[str, Any]:
        """Execute a query or mutation, and format its result."""
        process = self.exchange.process
        seconds, receive = process.limits.query_seconds, self.receive
        if self.operation.type == "mutation":
            seconds, receive = process.limits.mutation_seconds, None
        variables = await self._variables()
        with process.deadlines.within(seconds, receive):
            result = await self._executed(variables)
        if result.errors:
            if result.data is None and not any(error.path for error in result.errors):
                raise InvalidDocument(result.errors, BadUserInput.code)  # a directive's argument, before any field
            # graphql-core refuses some values of variables only when it comes to their field.
            self.exchange.failed(refusal_of(result.errors[0]))
        formatted = format_result(result, self.exchange.request_id)
        self.exchange.answer.code, self.exchange.answer.status = code_of(formatted), 200
        return formatted

    @asynccontextmanager
    async def subscribed(self) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """Begin a subscription and yield its results, formatted.

        Raises:
            GraphError, InvalidDocument: The subscription is refused.
        """
        exchange, process = self.exchange, self.exchange.process
        variables = await self._variables()
        with process.subscriptions.counted(exchange.spender, "subscriptions"):
            executor = executor_of(self.operation.plan, Request(variables, exchange.context))
            try:
                with process.deadlines.within(process.limits.query_seconds):
                    events = await executor.events()
            except GraphQLError as error:
                raise refusal_of(error) from error
            exchange.answer.code, exchange.answer.status = OK, 200
            async with aclosing(self._results(variables, events)) as results:
                yield results

    async def _results(
        self, variables: VariableValues, events: AsyncGenerator[object, None]
    ) -> AsyncGenerator[dict[str, Any], None]:
        process = self.exchange.process
        async with aclosing(events):
            async for event in events:
                try:
                    with process.deadlines.within(process.limits.query_seconds):
                        result = await self._executed(variables, event)
                except ExecutionTimeout as error:  # only this event's; the next may take less time
                    result = ExecutionResult(None, [GraphQLError(str(error), original_error=error)])
                yield format_result(result, self.exchange.request_id)
                await asyncio.sleep(0)  # lets other clients go on while one takes results without waiting

    async def _executed(self, variables: VariableValues, root: object = None) -> ExecutionResult:
        answer, slots = self.exchange.answer, self.exchange.process.work.operations
        with self.exchange.account(self.most - self.points, price=self.points) as account:
            # A mutation takes no slot: an ingest waits for USGS, and queries must not wait with it.
            if self.operation.type != "mutation" and (granted := account.begin(slots[account.length])):
                await granted
            result = await execute(self.operation.plan, Request(variables, self.exchange.context, root))
        answer.points = (answer.points or 0) + account.spent
        if result.errors or not account.is_current:
            self.exchange.tag = None
        return result

    async def _variables(self) -> VariableValues:
        """The coerced variables. Many are coerced on a thread."""
        coerce = partial(self.operation.plan.variables, self.request.variables or {})
        is_long = self.request.values > VALUES_ON_THE_LOOP
        variables = await self.exchange.on_a_thread(coerce) if is_long else coerce()
        if isinstance(variables, list):
            raise InvalidDocument(variables, BadUserInput.code)
        return variables
