"""GraphQL over HTTP: has what a request asks executed, and writes the answer.

    request → caller → document → scopes → cost → variables → fields

Whatever is wrong is found at the first step that can know it, and of a request that any of
the steps before the last refuses, nothing is resolved and the answer has no `data`.

A framework's own view would do, were it not for what the specification and our error contract
ask: the media type and status of each kind of failure, `Allow` with 405, no `data` key where
nothing was executed, a stable code on every error and nothing of the inside in any. A document
that cannot be executed is 400 in the newer media type and 200 in `application/json`, as the
audits of the npm package `graphql-http` have it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any

import orjson
from graphql import ExecutionResult, GraphQLSchema, OperationType
from graphql.execution import execute_root_selection_set
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from strawberry.execution import optimized_is_awaitable

from graph import graphiql
from graph.access.rate import spender
from graph.context import Context
from graph.errors import BadRequest, BadUserInput, GraphError, InternalServerError, QueryTooComplex
from graph.execution.executor import PlainExecutor
from graph.http.request import JSON, Asked, accepted, asked_by, media_type
from graph.http.telling import Told, told, told_of_document, told_of_field
from graph.operations.deadline import within
from graph.operations.documents import MOST_ERRORS, Documents, InvalidDocument, Operation
from graph.operations.persisted import Persisted
from graph.telemetry import metrics
from graph.telemetry.logs import get_logger, on_behalf_of
from graph.telemetry.requests import Answer

COST_HEADER = "GraphQL-Cost"  # asks for `extensions.cost`
TYPES: dict[OperationType, metrics.Operation] = {
    OperationType.QUERY: "query",
    OperationType.MUTATION: "mutation",
}

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ExecutionLimits:
    """What one operation may take."""

    cost: int  # points
    query_seconds: float
    mutation_seconds: float  # an ingest waits for USGS


class GraphQLEndpoint:
    """The ASGI application behind the graph's one path."""

    def __init__(
        self,
        schema: GraphQLSchema,
        documents: Documents,
        persisted: Persisted,
        limits: ExecutionLimits,
        *,
        with_graphiql: bool = True,
        suggesting: bool = True,
    ) -> None:
        self._schema = schema
        self._documents = documents
        self._persisted = persisted
        self._limits = limits
        self._with_graphiql = with_graphiql
        self._suggesting = suggesting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        request = Request(scope, receive)
        types = accepted(request)
        if self._with_graphiql and request.method in ("GET", "HEAD") and "text/html" in types:
            response = graphiql.page(request.url.path)
        else:
            try:
                response = await self._answer(request, media_type(types))
            except ClientDisconnect:
                return  # nobody is left to be told
        await response(scope, receive, send)

    async def _answer(self, request: Request, media: str | None) -> Response:
        headers = {"Vary": "Accept", "Cache-Control": "no-store"}
        body: dict[str, Any] = {}
        errors: list[Told] = []
        status = 200
        with request.state.telemetry.request(request.headers) as answer:
            try:
                if media is None:
                    raise BadRequest("This answers application/graphql-response+json or application/json.", status=406)
                result = await self._executed(request, answer)
                errors = [told_of_field(error, request.state.request_id) for error in result.errors or ()]
                body["data"] = result.data
            except InvalidDocument as invalid:
                errors = [told_of_document(error, invalid.code) for error in invalid.errors]
                status = 200 if media == JSON else 400
            except GraphError as error:
                errors = [told(error)]
                about_document = error.status == 400 and not isinstance(error, BadRequest)
                status = 200 if about_document and media == JSON else error.status
                headers |= error.headers
            except ClientDisconnect:
                raise
            except Exception:
                logger.exception("A request could not be answered")
                errors, status = [told(InternalServerError(request.state.request_id))], 500
            answer.code, answer.status = errors[0]["extensions"]["code"] if errors else metrics.OK, status
        if errors:
            body["errors"] = errors
        if answer.points is not None and request.headers.get(COST_HEADER):
            body["extensions"] = {"cost": {"points": answer.points, "limit": self._limits.cost}}
        return Response(orjson.dumps(body), status, headers, media_type=f"{media or JSON}; charset=utf-8")

    async def _executed(self, request: Request, answer: Answer) -> ExecutionResult:
        """The outcome of what is asked. What forbids its execution is raised."""
        address = request.client.host if request.client else None
        who = spender(None, address)  # until the caller is known
        try:
            asked = await asked_by(request)
            caller = await request.state.authenticate(request.headers.get("Authorization"))
            on_behalf_of(caller.subject)
            who = spender(caller.subject, address)
            operation = self._operation(asked, reading=request.method != "POST")
            answer.operation, answer.name = TYPES[operation.type], operation.name
            caller.require(operation.scopes)
            points = answer.points = operation.points(asked.variables or {})
            if points > self._limits.cost:
                raise QueryTooComplex(
                    f"The operation costs {points:,} points, and one may cost {self._limits.cost:,}: "
                    "ask for smaller pages or fewer fields at once."
                )
        except (GraphError, InvalidDocument):
            await request.state.rates.spend(who, 1)  # so that refusals have an end too
            raise
        await request.state.rates.spend(who, points)
        context: Context = request.state.new_context(caller=caller, request_id=request.state.request_id)
        return await self._execute(operation, asked.variables, context, request)

    def _operation(self, asked: Asked, *, reading: bool) -> Operation:
        """The operation that is asked for, where it can be executed."""
        text = self._persisted.text(asked.query, asked.extensions)
        operation = self._documents.of(text).operation(asked.operation_name)
        self._persisted.remember(text, asked.extensions)
        if reading and operation.type is OperationType.MUTATION:
            raise BadRequest("GET can only query: send mutations by POST.", status=405, allow="POST")
        return operation

    async def _execute(
        self, operation: Operation, variables: Mapping[str, Any] | None, context: Context, request: Request
    ) -> ExecutionResult:
        executor = PlainExecutor.build(
            self._schema,
            operation.document,
            context_value=context,
            raw_variable_values=dict(variables or {}),
            operation_name=operation.name,
            is_awaitable=optimized_is_awaitable,  # type: ignore[arg-type]  # it says bool where a guard is meant
            max_coercion_errors=MOST_ERRORS,
            hide_suggestions=not self._suggesting,
            functions=operation.functions,
        )
        if isinstance(executor, list):
            raise InvalidDocument(executor, BadUserInput.code)
        result = execute_root_selection_set(executor)
        if isawaitable(result):
            if operation.type is OperationType.MUTATION:
                # An ingest that nobody waits for any more is finished all the same.
                result = await within(self._limits.mutation_seconds, result)
            else:
                result = await within(self._limits.query_seconds, result, unless_gone=request.receive)
        if result.data is None and result.errors and not any(error.path for error in result.errors):
            raise InvalidDocument(result.errors, BadUserInput.code)  # a directive's argument, before any field
        return result
