"""GraphQL over HTTP: reads a request, has it executed, and writes the answer.

A framework's own view would do, were it not for what the specification and our error contract
ask: the media type and status of each kind of failure, `Allow` with 405, no `data` key where
nothing was executed, a stable code on every error and nothing of the inside in any.

Source: https://graphql.github.io/graphql-over-http/ and the audits of the npm package
`graphql-http`, where a document that cannot be executed is 400 in the newer media type and
200 in `application/json`.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import strawberry
from graphql import FieldNode, GraphQLError, GraphQLSyntaxError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.types.execution import ExecutionResult, PreExecutionError
from strawberry.types.graphql import OperationType

from graph import callers, graphiql
from graph.context import Context
from graph.errors import BadUserInput, DatabaseUnavailable, GraphError, InternalServerError, OperationResolutionFailure

JSON = "application/json"
GRAPHQL_JSON = "application/graphql-response+json"
MOST_BODY_BYTES = 1024 * 1024  # a thousand events of an ingest take about 400 KB

logger = logging.getLogger(__name__)


class Refused(Exception):
    """The HTTP request asks for nothing that can be executed."""

    def __init__(self, status: int, message: str, *, code: str = "BAD_REQUEST", allow: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.allow = allow  # the methods that would do


@dataclass(frozen=True, slots=True)
class Operation:
    """What a client asks to be executed."""

    query: str
    variables: dict[str, Any] | None
    name: str | None

    @classmethod
    def of(cls, parameters: object) -> "Operation":
        """Read the parameters of a request; None is the same as absent, and unknown ones are ignored."""
        if not isinstance(parameters, dict):
            raise Refused(
                400, "The body must be one JSON object: `query`, and perhaps `variables` and `operationName`."
            )
        query, variables, name, extensions = map(parameters.get, ("query", "variables", "operationName", "extensions"))
        if not isinstance(query, str) or not query:
            raise Refused(400, "`query` must be a GraphQL document as text.")
        if not isinstance(variables, dict | None):
            raise Refused(400, "`variables` must be a JSON object.")
        if not isinstance(name, str | None):
            raise Refused(400, "`operationName` must be text.")
        if not isinstance(extensions, dict | None):
            raise Refused(400, "`extensions` must be a JSON object.")
        return cls(query, variables, name)


class GraphQLEndpoint:
    """The ASGI application behind the graph's one path."""

    def __init__(self, schema: strawberry.Schema) -> None:
        self._schema = schema

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        try:
            response = await self._answer(Request(scope, receive))
        except ClientDisconnect:
            return  # while its body came: nobody is left to be told
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        accepted = _accepted(request)
        if request.method in ("GET", "HEAD") and "text/html" in accepted:
            return graphiql.page(request.url.path)
        media_type = _media_type(accepted)
        context: Context = request.state.new_context(caller=callers.Caller(None, frozenset(callers.Scope)))
        headers = {"X-Request-Id": context.request_id, "Vary": "Accept"}
        try:
            if media_type is None:
                raise Refused(406, f"This answers {GRAPHQL_JSON} or {JSON}.")
            operation = await _operation(request)
            body, executed = await self._execute(operation, context, reading=request.method != "POST")
        except Refused as refusal:
            body, status = _failed(str(refusal), refusal.code), refusal.status
            if refusal.allow:
                headers["Allow"] = refusal.allow
        else:
            status = 200 if executed or media_type == JSON else 400
        return Response(orjson.dumps(body), status, headers, media_type=f"{media_type or JSON}; charset=utf-8")

    async def _execute(self, operation: Operation, context: Context, *, reading: bool) -> tuple[dict[str, Any], bool]:
        """The body of the answer, and whether anything was executed."""
        allowed = {OperationType.QUERY} if reading else {OperationType.QUERY, OperationType.MUTATION}
        try:
            result = await self._schema.execute(
                operation.query, operation.variables, context, None, operation.name, allowed
            )
        except CannotGetOperationTypeError:
            failure = OperationResolutionFailure()
            return _failed(str(failure), failure.code), False
        except InvalidOperationTypeError as error:
            if reading and error.operation_type is OperationType.MUTATION:
                raise Refused(405, "GET can only query: send mutations by POST.", allow="POST") from error
            return _failed("This graph has no subscriptions.", OperationResolutionFailure.code), False
        errors = [_told(error, result, context.request_id) for error in result.errors or ()]
        executed = _was_executed(result)
        body: dict[str, Any] = {"data": result.data} if executed else {}
        if errors:
            body["errors"] = errors
        return body, executed


def _was_executed(result: ExecutionResult) -> bool:
    """Whether execution began: with its errors comes a path, unlike with those of a document or its variables."""
    if isinstance(result, PreExecutionError):
        return False
    return result.data is not None or not result.errors or any(error.path for error in result.errors)


def _told(error: GraphQLError, result: ExecutionResult, request_id: str) -> dict[str, Any]:
    """An error as the client is told: with a stable code, and nothing of the inside."""
    cause = error.original_error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    told: dict[str, Any] = dict(error.formatted)
    if isinstance(cause, GraphError):
        if isinstance(cause, DatabaseUnavailable):
            logger.error("Request %s: %s", request_id, cause.detail)
        told["message"], code = str(cause), cause.code
    elif isinstance(error, GraphQLSyntaxError):
        code = "GRAPHQL_PARSE_FAILED"
    elif isinstance(cause, GraphQLError | None) and not error.path:
        code = "GRAPHQL_VALIDATION_FAILED" if isinstance(result, PreExecutionError) else BadUserInput.code
    elif _is_about_an_argument(cause):
        code = BadUserInput.code
    else:
        unforeseen = InternalServerError(request_id)
        logger.error("Request %s failed", request_id, exc_info=cause or error)
        told["message"], code = str(unforeseen), unforeseen.code
    told["extensions"] = {"code": code}
    return told


def _is_about_an_argument(cause: Exception | None) -> bool:
    """Whether graphql-core refused an argument's value, which for null in a variable it does only in execution."""
    return isinstance(cause, GraphQLError) and any(not isinstance(node, FieldNode) for node in cause.nodes or ())


def _failed(message: str, code: str) -> dict[str, Any]:
    return {"errors": [{"message": message, "extensions": {"code": code}}]}


async def _operation(request: Request) -> Operation:
    match request.method:
        case "POST":
            return Operation.of(await _json_body(request))
        case "GET" | "HEAD":
            return Operation.of(_url_parameters(request.query_params))
        case _:
            raise Refused(405, "Send queries by POST or GET, mutations by POST.", allow="GET, HEAD, POST")


async def _json_body(request: Request) -> object:
    """The parsed body, read no further than its greatest size."""
    media_type, *parameters = (part.strip().lower() for part in request.headers.get("Content-Type", "").split(";"))
    charsets = {p.removeprefix("charset=").strip('"') for p in parameters if p.startswith("charset=")}
    if media_type != JSON or not charsets <= {"utf-8", "utf8"}:
        raise Refused(415, f"The body must be {JSON} in UTF-8.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BODY_BYTES:
            raise Refused(413, f"The body must not be larger than {MOST_BODY_BYTES:,} bytes.")
    return _parsed(bytes(body), "The body")


def _url_parameters(given: Mapping[str, str]) -> dict[str, Any]:
    parameters: dict[str, Any] = dict(given)
    for name in ("variables", "extensions"):
        if text := parameters.get(name):
            parameters[name] = _parsed(text, f"`{name}`")
        else:
            parameters.pop(name, None)
    return parameters


def _parsed(text: str | bytes, what: str) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Refused(400, f"{what} is not JSON: {error.msg}.") from error


def _accepted(request: Request) -> set[str]:
    """The media types that the client accepts, in lower case; not those with a quality of 0, and all by default."""
    named = ",".join(request.headers.getlist("Accept")).lower() or "*/*"
    accepted = set()
    for part in named.split(","):
        media_type, *parameters = (piece.strip() for piece in part.split(";"))
        if media_type and not any(_is_zero_quality(parameter) for parameter in parameters):
            accepted.add(media_type)
    return accepted


def _is_zero_quality(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name == "q" and value.strip("0.") == ""


def _media_type(accepted: set[str]) -> str | None:
    """The media type to answer in: the newer one only where it is asked for by name."""
    if GRAPHQL_JSON in accepted:
        return GRAPHQL_JSON
    return JSON if accepted & {JSON, "application/*", "*/*"} else None
