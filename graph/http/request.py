"""Reads what a client asks from an HTTP request, and refuses what asks for nothing.

Source: https://graphql.github.io/graphql-over-http/ and the audits of the npm package
`graphql-http`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.requests import Request

from graph.errors import BadRequest, CsrfPrevention

JSON = "application/json"
GRAPHQL_JSON = "application/graphql-response+json"
MOST_BODY_BYTES = 1024 * 1024  # a thousand events of an ingest take about 400 KB

# A page can have a browser send any of these to another origin only after that origin has agreed to it.
PREFLIGHTED = (
    *("GraphQL-Require-Preflight", "Apollo-Require-Preflight", "X-Apollo-Operation-Name", "Authorization"),
    "GraphQL-Cost",
)
MARKS_OF_A_BROWSER = ("Sec-Fetch-Site", "Origin", "Referer", "Cookie")


@dataclass(frozen=True, slots=True)
class Asked:
    """The parameters of a request."""

    query: str | None  # None where `extensions` name a document
    variables: dict[str, Any] | None
    operation_name: str | None
    extensions: dict[str, Any] | None

    @classmethod
    def of(cls, parameters: object) -> "Asked":
        """Read the parameters of a request; None is the same as absent, and unknown ones are ignored."""
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
        return cls(query or None, variables, name or None, extensions)


async def asked_by(request: Request) -> Asked:
    """What a request asks.

    Raises:
        BadRequest: It cannot be read.
        CsrfPrevention: Any page could have had a browser send it.
    """
    match request.method:
        case "POST":
            return Asked.of(await _json_body(request))
        case "GET" | "HEAD":
            if _any_page_could_send(request):
                raise CsrfPrevention
            return Asked.of(_url_parameters(request.query_params))
        case _:
            raise BadRequest("Send queries by POST or GET, mutations by POST.", status=405, allow="GET, HEAD, POST")


def _any_page_could_send(request: Request) -> bool:
    """Whether a browser sends such a GET for a page of any origin without a preflight.

    What bears no mark of a browser is let through: audit 5A70 asks for a bare GET. Every browser
    names itself `Mozilla`, and a page can change that only with a preflight. A POST needs no such
    question, since only `application/json` will do, which takes one too.
    """
    headers = request.headers
    if any(headers.get(name) for name in PREFLIGHTED) or _media_type_of(request)[0] == JSON:
        return False
    if GRAPHQL_JSON in accepted(request) and headers.get("Sec-Fetch-Site") not in ("cross-site", "same-site"):
        return False
    return headers.get("User-Agent", "").startswith("Mozilla/") or any(name in headers for name in MARKS_OF_A_BROWSER)


def _media_type_of(request: Request) -> tuple[str, list[str]]:
    media_type, *parameters = (part.strip().lower() for part in request.headers.get("Content-Type", "").split(";"))
    return media_type, parameters


async def _json_body(request: Request) -> object:
    """The parsed body, read no further than its greatest size."""
    media_type, parameters = _media_type_of(request)
    charsets = {p.removeprefix("charset=").strip('"') for p in parameters if p.startswith("charset=")}
    if media_type != JSON or not charsets <= {"utf-8", "utf8"}:
        raise BadRequest(f"The body must be {JSON} in UTF-8.", status=415)
    if request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise BadRequest("The body must not be compressed.", status=415)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BODY_BYTES:
            raise BadRequest(f"The body must not be larger than {MOST_BODY_BYTES:,} bytes.", status=413)
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
        raise BadRequest(f"{what} is not JSON: {error.msg}.") from error


def accepted(request: Request) -> set[str]:
    """The media types that the client accepts, in lower case; not those with a quality of 0, and all by default."""
    named = ",".join(request.headers.getlist("Accept")).lower() or "*/*"
    found = set()
    for part in named.split(","):
        media_type, *parameters = (piece.strip() for piece in part.split(";"))
        if media_type and not any(_is_zero_quality(parameter) for parameter in parameters):
            found.add(media_type)
    return found


def _is_zero_quality(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name == "q" and value.strip("0.") == ""


def media_type(types: set[str]) -> str | None:
    """The media type to answer in: the newer one only where it is asked for by name."""
    if GRAPHQL_JSON in types:
        return GRAPHQL_JSON
    return JSON if types & {JSON, "application/*", "*/*"} else None
