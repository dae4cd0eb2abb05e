"""Reads the GraphQL request from an HTTP request, and refuses one without a document.

Source: https://graphql.github.io/graphql-over-http/ and the audits of the npm package
`graphql-http`.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from graph.core.errors import BadRequest, CsrfPrevention
from graph.transport.json_values import parsed_json

JSON = "application/json"
GRAPHQL_JSON = "application/graphql-response+json"
EVENT_STREAM = "text/event-stream"
MOST_BODY_BYTES = 1024 * 1024  # a thousand events of an ingest take about 400 KB
MOST_VALUES = 50_000  # of a body; a thousand events with all that they may have are 30,000

# A browser sends these to another origin only after that origin has agreed in a preflight.
PREFLIGHTED = (
    *("GraphQL-Require-Preflight", "Apollo-Require-Preflight", "X-Apollo-Operation-Name", "Authorization"),
    "GraphQL-Cost",
)
MARKS_OF_A_BROWSER = ("sec-fetch-site", "origin", "referer", "cookie")
REMEMBERED = 256  # values of a header; clients of one kind all send the same


class Head:
    """The head of a request: method, query string, and headers by their names in lower case."""

    __slots__ = ("accepted", "headers", "media", "method", "query_string", "takes_stream")

    def __init__(self, scope: Scope) -> None:
        self.method: str = scope["method"]
        self.query_string: bytes = scope["query_string"]
        self.headers: dict[str, str] = {}
        for raw_name, raw_value in scope["headers"]:
            name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
            self.headers[name] = f"{self.headers[name]}, {value}" if name in self.headers else value
        # The accepted media types in lower case, without those of quality 0. Without a header, all are accepted.
        self.accepted = _accepted(self.headers.get("accept", ""))
        self.takes_stream = EVENT_STREAM in self.accepted  # by its name
        self.media: str | None = None  # of an answer in one piece; the newer one only for a client that names it
        if GRAPHQL_JSON in self.accepted:
            self.media = GRAPHQL_JSON
        elif self.accepted & {JSON, "application/*", "*/*"}:
            self.media = JSON


@dataclass(frozen=True, slots=True)
class GraphQLRequest:
    """The parameters of a GraphQL request."""

    query: str | None  # None where `extensions` name a document
    variables: dict[str, Any] | None
    operation_name: str | None
    extensions: dict[str, Any] | None
    values: int = 0  # the most that it has

    @classmethod
    def of(cls, parameters: object, values: int) -> "GraphQLRequest":
        """Read the parameters, which have so many values. None means absent; unknown parameters are ignored."""
        if not isinstance(parameters, dict):
            raise BadRequest("The body must be one JSON object: `query`, and perhaps `variables` and `operationName`.")
        query, variables, name, extensions = map(parameters.get, ("query", "variables", "operationName", "extensions"))
        if not isinstance(variables, dict | None):
            raise BadRequest("`variables` must be a JSON object.")
        if not isinstance(name, str | None):
            raise BadRequest("`operationName` must be text.")
        if not isinstance(extensions, dict | None):
            raise BadRequest("`extensions` must be a JSON object.")
        if not isinstance(query, str | None) or not (query or (extensions or {}).get("persistedQuery") is not None):
            raise BadRequest("`query` must be a GraphQL document as text.")
        return cls(query or None, variables, name or None, extensions, values)


async def read_request(head: Head, receive: Receive) -> GraphQLRequest:
    """Read the GraphQL request from an HTTP request.

    Raises:
        BadRequest: It cannot be read.
        CsrfPrevention: A web page of another site could have sent it.
        ClientDisconnect: The client disconnected before its body had arrived.
    """
    match head.method:
        case "POST":
            return GraphQLRequest.of(*await _json_body(head, receive))
        case "GET" | "HEAD":
            if _any_web_page_could_send(head):
                raise CsrfPrevention
            return GraphQLRequest.of(*await _url_parameters(head.query_string))
        case _:
            raise BadRequest("Send queries by POST or GET, mutations by POST.", status=405, allow="GET, HEAD, POST")


def same_origin(origin: str | None, host: str | None) -> bool:
    """Whether a request comes from the service's own web pages, or names no origin."""
    if origin is None:
        return True
    scheme, _, named = origin.partition("://")  # a browser writes nothing else into this header
    return scheme in ("http", "https") and named == host


def _any_web_page_could_send(head: Head) -> bool:
    """Whether a browser would send this GET for a web page of any origin, without a preflight.

    A GET without any mark of a browser passes: audit 5A70 requires that. Every browser names itself
    `Mozilla`, and a web page can change that only with a preflight. A POST needs no check, since only
    `application/json` is accepted, which also takes a preflight.
    """
    headers = head.headers
    if any(headers.get(name.lower()) for name in PREFLIGHTED):
        return False
    if _content_type(headers.get("content-type", ""))[0] == JSON:
        return False
    accepts_graphql = {GRAPHQL_JSON, EVENT_STREAM} & head.accepted  # an `EventSource` accepts the latter
    if (
        accepts_graphql
        and same_origin(headers.get("origin"), headers.get("host"))
        and headers.get("sec-fetch-site") not in ("cross-site", "same-site")
    ):
        return False
    return headers.get("user-agent", "").startswith("Mozilla/") or any(name in headers for name in MARKS_OF_A_BROWSER)


@lru_cache(REMEMBERED)
def _content_type(header: str) -> tuple[str, frozenset[str]]:
    """The media type and its charsets, in lower case."""
    media_type, *parameters = (part.strip().lower() for part in header.split(";"))
    charsets = (p.removeprefix("charset=").strip('"') for p in parameters if p.startswith("charset="))
    return media_type, frozenset(charsets)


async def _json_body(head: Head, receive: Receive) -> tuple[object, int]:
    """Read and parse the body, up to its greatest size, and the most values that it has."""
    media_type, charsets = _content_type(head.headers.get("content-type", ""))
    if media_type != JSON or not charsets <= {"utf-8", "utf8"}:
        raise BadRequest(f"The body must be {JSON} in UTF-8.", status=415)
    if head.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise BadRequest("The body must not be compressed.", status=415)
    body = b""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > MOST_BODY_BYTES:
            raise BadRequest(f"The body must not be larger than {MOST_BODY_BYTES:,} bytes.", status=413)
        more = message.get("more_body", False)
    return await parsed_json(body, "The body", MOST_VALUES)


async def _url_parameters(query_string: bytes) -> tuple[dict[str, Any], int]:
    parameters: dict[str, Any] = dict(parse_qsl(query_string.decode("latin-1"), keep_blank_values=True))
    values = 0
    for name in ("variables", "extensions"):
        if text := parameters.get(name):
            parameters[name], number = await parsed_json(text.encode(errors="surrogatepass"), f"`{name}`", MOST_VALUES)
            values += number
        else:
            parameters.pop(name, None)
    return parameters, values


@lru_cache(REMEMBERED)
def _accepted(header: str) -> frozenset[str]:
    found = set()
    for part in (header.lower() or "*/*").split(","):
        media_type, *parameters = (piece.strip() for piece in part.split(";"))
        if media_type and not any(_is_zero_quality(parameter) for parameter in parameters):
            found.add(media_type)
    return frozenset(found)


def _is_zero_quality(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name == "q" and value.strip("0.") == ""
