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
from typing import Any

import orjson
from graphql import ExecutionResult, OperationType
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from graph import graphiql
from graph.access.rate import spender
from graph.context import Context
from graph.errors import BadRequest, BadUserInput, GraphError, InternalServerError, QueryTooComplex
from graph.execution.executor import PlainExecutor
from graph.http.request import GRAPHQL_JSON, JSON, Asked, Head, asked_by, media_type
from graph.http.telling import Told, told, told_of_document, told_of_field
from graph.operations.deadline import within
from graph.operations.documents import MOST_ERRORS, Documents, InvalidDocument, Operation
from graph.operations.persisted import Persisted
from graph.telemetry import metrics
from graph.telemetry.logs import get_logger, on_behalf_of
from graph.telemetry.requests import Answer

COST_HEADER = "graphql-cost"  # asks for `extensions.cost`
TYPES: dict[OperationType, metrics.Operation] = {
    OperationType.QUERY: "query",
    OperationType.MUTATION: "mutation",
}

ANSWER_HEADERS = {
    media: {
        b"content-type": f"{media}; charset=utf-8".encode(),
        b"vary": b"Accept",
        b"cache-control": b"no-store",
    }
    for media in (JSON, GRAPHQL_JSON)
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
        documents: Documents,
        persisted: Persisted,
        limits: ExecutionLimits,
        *,
        with_graphiql: bool = True,
        suggesting: bool = True,
    ) -> None:
        self._documents = documents
        self._persisted = persisted
        self._limits = limits
        self._with_graphiql = with_graphiql
        self._suggesting = suggesting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        head = Head(scope)
        types = head.accepted
        if self._with_graphiql and head.method in ("GET", "HEAD") and "text/html" in types:
            await graphiql.page(scope["path"])(scope, receive, send)
            return
        try:
            status, headers, body = await self._answer(_Asking(scope, receive, head), media_type(types))
        except ClientDisconnect:
            return  # nobody is left to be told
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, asking: "_Asking", media: str | None) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        headers: Mapping[str, str] = {}
        body: dict[str, Any] = {}
        errors: list[Told] = []
        status = 200
        state = asking.scope["state"]
        with state["telemetry"].request(asking.head.headers) as answer:
            try:
                if media is None:
                    raise BadRequest("This answers application/graphql-response+json or application/json.", status=406)
                result = await self._executed(asking, answer)
                if result.errors:
                    errors = [told_of_field(error, state["request_id"]) for error in result.errors]
                body["data"] = result.data
            except InvalidDocument as invalid:
                errors = [told_of_document(error, invalid.code) for error in invalid.errors]
                status = 200 if media == JSON else 400
            except GraphError as error:
                errors = [told(error)]
                about_document = error.status == 400 and not isinstance(error, BadRequest)
                status = 200 if about_document and media == JSON else error.status
                headers = error.headers
            except ClientDisconnect:
                raise
            except Exception:
                logger.exception("A request could not be answered")
                errors, status = [told(InternalServerError(state["request_id"]))], 500
            answer.code, answer.status = errors[0]["extensions"]["code"] if errors else metrics.OK, status
        if errors:
            body["errors"] = errors
        if answer.points is not None and asking.head.headers.get(COST_HEADER):
            body["extensions"] = {"cost": {"points": answer.points, "limit": self._limits.cost}}
        written = orjson.dumps(body)
        own = {name.lower().encode(): value.encode() for name, value in headers.items()}
        told_headers = {**ANSWER_HEADERS[media or JSON], b"content-length": b"%d" % len(written), **own}
        return status, list(told_headers.items()), written

    async def _executed(self, asking: "_Asking", answer: Answer) -> ExecutionResult:
        """The outcome of what is asked. What forbids its execution is raised."""
        state = asking.scope["state"]
        address = asking.scope["client"][0] if asking.scope.get("client") else None
        who = spender(None, address)  # until the caller is known
        try:
            asked = await asked_by(asking.head, asking.receive)
            caller = await state["authenticate"](asking.head.headers.get("authorization"))
            on_behalf_of(caller.subject)
            who = spender(caller.subject, address)
            operation = self._operation(asked, reading=asking.head.method != "POST")
            answer.operation, answer.name = TYPES[operation.type], operation.name
            caller.require(operation.scopes)
            points = answer.points = operation.points(asked.variables or {})
            if points > self._limits.cost:
                raise QueryTooComplex(
                    f"The operation costs {points:,} points, and one may cost {self._limits.cost:,}: "
                    "ask for smaller pages or fewer fields at once."
                )
        except (GraphError, InvalidDocument):
            await state["rates"].spend(who, 1)  # so that refusals have an end too
            raise
        await state["rates"].spend(who, points)
        context: Context = state["new_context"](caller=caller, request_id=state["request_id"])
        return await self._execute(operation, asked.variables or {}, context, asking.receive)

    def _operation(self, asked: Asked, *, reading: bool) -> Operation:
        """The operation that is asked for, where it can be executed."""
        text = self._persisted.text(asked.query, asked.extensions)
        operation = self._documents.of(text).operation(asked.operation_name)
        self._persisted.remember(text, asked.extensions)
        if reading and operation.type is OperationType.MUTATION:
            raise BadRequest("GET can only query: send mutations by POST.", status=405, allow="POST")
        return operation

    async def _execute(
        self, operation: Operation, given: Mapping[str, Any], context: Context, receive: Receive
    ) -> ExecutionResult:
        variables = operation.plan.variables(given, max_errors=MOST_ERRORS, hide_suggestions=not self._suggesting)
        if isinstance(variables, list):
            raise InvalidDocument(variables, BadUserInput.code)
        work = PlainExecutor(operation.plan, variables, context, hide_suggestions=not self._suggesting).execute()
        if operation.type is OperationType.MUTATION:
            # An ingest that nobody waits for any more is finished all the same.
            result = await within(self._limits.mutation_seconds, work)
        else:
            result = await within(self._limits.query_seconds, work, unless_gone=receive)
        if result.data is None and result.errors and not any(error.path for error in result.errors):
            raise InvalidDocument(result.errors, BadUserInput.code)  # a directive's argument, before any field
        return result


@dataclass(frozen=True, slots=True)
class _Asking:
    """A request that is being answered."""

    scope: Scope
    receive: Receive
    head: Head
