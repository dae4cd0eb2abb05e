"""GraphQL over HTTP: executes a request's operation, and writes the answer.

    request → caller → operation → answer, or a stream of answers

No framework's own view follows the specification and our error contract: the media type and status of
each kind of failure, `Allow` with 405, no `data` key where nothing was executed, and a stable code on
every error, which reveals nothing internal. A document that cannot be executed is answered with 400 in
the newer media type and with 200 in `application/json`, as the audits of the npm package `graphql-http`
require. A client that accepts only a stream gets errors in the stream, as the protocol of `graphql-sse`
requires: a browser's `EventSource` cannot read a 400.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import orjson
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from graph.access.callers import Caller
from graph.api.documents.prepared import InvalidDocument
from graph.core.errors import BadRequest, GraphError, InternalServerError
from graph.observability.logs import on_behalf_of
from graph.pages import graphiql
from graph.transport.entrance import Entrance
from graph.transport.errors import code_of, format_refusal
from graph.transport.exchange import Exchange, exchange_by_http
from graph.transport.request import EVENT_STREAM, GRAPHQL_JSON, JSON, Head, read_request
from graph.transport.sse import HEART_BEAT_S, as_json, send_events
from graph.transport.validators import Conditions

COST_HEADER = "graphql-cost"  # asks for `extensions.cost`

ANSWER_HEADERS = {
    media: {
        b"content-type": f"{media}; charset=utf-8".encode(),
        b"vary": b"Accept",
        b"cache-control": b"no-store",
    }
    for media in (JSON, GRAPHQL_JSON)
}

Headers = list[tuple[bytes, bytes]]


class GraphQLEndpoint:
    """The ASGI application behind the graph's one path."""

    def __init__(
        self,
        entrance: Entrance,
        *,
        examples: Sequence[graphiql.Example] | None = None,
        schema_path: str | None = None,
        heart_beat_s: float = HEART_BEAT_S,
    ) -> None:
        """Make the endpoint.

        Args:
            entrance: decides which operations may be executed.
            examples: the tabs of GraphiQL, which browsers get; None switches GraphiQL off.
            schema_path: of the schema as a file, which GraphiQL's page names.
            heart_beat_s: seconds between two heart beats on a silent stream.
        """
        self._entrance = entrance
        self._heart_beat_s = heart_beat_s
        self._examples = examples
        self._schema_path = schema_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        head = Head(scope)
        if self._examples is not None and head.method in ("GET", "HEAD") and "text/html" in head.accepted:
            await graphiql.page(scope["path"], self._examples, schema_path=self._schema_path)(scope, receive, send)
            return
        try:
            with exchange_by_http(scope, head.headers) as exchange:
                answered = await self._answered(head, receive, exchange)
            if isinstance(answered, _Stream):
                async with answered.open:
                    lasts_s, heart_beat_s = answered.lasts_s, self._heart_beat_s
                    await send_events(answered.results, receive, send, lasts_s=lasts_s, heart_beat_s=heart_beat_s)
                return
        except ClientDisconnect:
            return  # there is no client left to answer
        status, headers, body = answered
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answered(
        self, head: Head, receive: Receive, exchange: Exchange
    ) -> "tuple[int, Headers, bytes] | _Stream":
        """The answer, or a stream of answers."""
        media, answer, status = head.media, exchange.answer, 200
        headers: Mapping[str, str] = {}
        try:
            if media is None and not head.takes_stream:
                raise BadRequest(
                    f"This answers {GRAPHQL_JSON}, {JSON} or, of a subscription, {EVENT_STREAM}.", status=406
                )
            request = await read_request(head, receive)
            caller = exchange.process.authenticate(head.headers.get("authorization"))
            exchange.context.caller = caller if isinstance(caller, Caller) else await caller
            on_behalf_of(exchange.context.caller.subject)
            reading, shows_cost = head.method != "POST", bool(head.headers.get(COST_HEADER))
            conditions = Conditions.of(head, media) if reading and media and not shows_cost else None
            admitted = await self._entrance.admitted(
                exchange, request, reading=reading, receive=receive, conditions=conditions
            )
            if admitted.is_known:
                exchange.end_unchanged()
                return 304, list(_tagged(exchange, head).items()), b""
            is_subscription = admitted.operation.type == "subscription"
            if head.method == "HEAD" and (is_subscription or media is None):
                raise BadRequest("A stream is sent by GET or POST alone.", status=405, allow="GET, POST")
            if is_subscription and not head.takes_stream:
                raise BadRequest(f"A subscription is answered in {EVENT_STREAM}, or over a WebSocket.", status=406)
            if is_subscription:
                stack = AsyncExitStack()
                results = await stack.enter_async_context(admitted.subscribed())
                return _Stream(as_json(results, exchange.request_id), exchange.context.caller.lasts_s, stack)
            body = await admitted.result()
        except ClientDisconnect:
            raise
        except Exception as error:
            # Not kept in a variable: its traceback refers to this frame, which would be a reference cycle.
            status, headers, body = _refused(await exchange.refused(error), media, exchange.request_id)
            answer.code, answer.status = code_of(body), status
        if answer.points is not None and head.headers.get(COST_HEADER):
            body["extensions"] = {"cost": {"points": answer.points, "limit": answer.limit}}
        written = orjson.dumps(body)
        if media is None and status == 200:
            return _Stream(_one(written), None)
        own = {name.lower().encode(): value.encode() for name, value in headers.items()}
        if exchange.tag and "errors" not in body:
            own = _tagged(exchange, head)
            if head.headers.get("if-none-match") == "*":  # any answer, but only one that there is
                return 304, list(own.items()), b""
        answer_headers = {**ANSWER_HEADERS[media or JSON], b"content-length": b"%d" % len(written), **own}
        return status, list(answer_headers.items()), written


def _tagged(exchange: Exchange, head: Head) -> dict[bytes, bytes]:
    """The headers of an answer that may be kept, and asked for again with its tag."""
    private = b"private, " if "authorization" in head.headers else b""
    return {
        b"etag": f"W/{exchange.tag}".encode(),
        b"cache-control": private + b"no-cache",
        b"vary": b"Accept, Authorization",
    }


@dataclass(frozen=True, slots=True)
class _Stream:
    """Answers that are sent one by one."""

    results: AsyncIterator[bytes]  # as JSON
    lasts_s: float | None  # the longest that the stream may last
    open: AsyncExitStack = field(default_factory=AsyncExitStack)  # ends the subscription when it is closed


async def _one(written: bytes) -> AsyncIterator[bytes]:
    yield written


def _refused(error: Exception, media: str | None, request_id: str) -> tuple[int, Mapping[str, str], dict[str, Any]]:
    """Status, headers and body of a refusal."""
    body = {"errors": format_refusal(error, request_id)}
    if isinstance(error, InvalidDocument):
        return 400 if media == GRAPHQL_JSON else 200, {}, body
    if not isinstance(error, GraphError):
        return InternalServerError.status, {}, body
    about_document = error.status == 400 and not isinstance(error, BadRequest)
    return error.status if media == GRAPHQL_JSON or not about_document else 200, error.headers, body
