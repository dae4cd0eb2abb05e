"""The origins whose web pages may send requests, by HTTP and by WebSocket alike."""

import re
from collections.abc import Awaitable, Collection, Iterator

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from graph.core.errors import Forbidden, GraphError
from graph.observability.logs import get_logger
from graph.settings import ALL_ORIGINS, LOOPBACK_ORIGINS
from graph.transport.request import PREFLIGHTED

ORIGINS_SETTING, HEADERS_SETTING = "GRAPH_CORS_ORIGINS", "GRAPH_CORS_HEADERS"
USUAL_HEADERS = (
    *("ApolloGraphQL-Client-Name", "ApolloGraphQL-Client-Version", "X-Apollo-Operation-Id"),  # of Apollo's clients
    *("Traceparent", "Tracestate", "Baggage"),  # of the W3C's trace context, which OpenTelemetry sends
    "Sentry-Trace",  # of Sentry, beside `baggage`
    *("X-Requested-With", "Cache-Control", "Last-Event-Id"),  # of libraries that fetch, or replace `EventSource`
    "If-None-Match",  # of those that keep answers themselves
)
"""What programs of browsers add to requests. None of it changes what is answered."""

MOST_LOGGED = 100  # origins and headers, since anybody can name any
LONGEST_LOGGED = 200  # characters

logger = get_logger(__name__)

LOOPBACK = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?")
"""An origin of this machine, on any port: that of a development server. A browser writes an origin in lower case."""


def allows(origins: Collection[str], origin: str | None) -> bool:
    """Whether web pages of an origin may send requests.

    Args:
        origins: the allowed ones, as the setting names them.
    """
    if ALL_ORIGINS in origins:
        return True
    if origin is None or origin == LOOPBACK_ORIGINS:
        return False
    return origin in origins or (LOOPBACK_ORIGINS in origins and LOOPBACK.fullmatch(origin) is not None)


class OriginRefused(Forbidden):
    """The web page is of an origin that may not send requests."""

    def __init__(self, reason: str) -> None:
        GraphError.__init__(self, reason)


class Refused:
    """Says which setting allows what is refused: to the page's developer, and in the log, once for each name."""

    def __init__(self) -> None:
        self._logged: set[tuple[str, str]] = set()

    def origin(self, origin: str | None) -> str:
        """Why an origin is refused."""
        self._log("origin", origin or "none", ORIGINS_SETTING)
        return f"The origin {origin or 'of the page'} may not send requests: {ORIGINS_SETTING} allows it."

    def header(self, name: str) -> str:
        """Why a header is refused."""
        self._log("header", name, HEADERS_SETTING)
        return f"The header {name} may not be sent: {HEADERS_SETTING} allows it."

    def _log(self, kind: str, name: str, setting: str) -> None:
        if (kind, name) not in self._logged and len(self._logged) < MOST_LOGGED:
            self._logged.add((kind, name))
            logger.warning("A web page's request was refused", **{kind: name[:LONGEST_LOGGED]}, setting=setting)


class _Cors(CORSMiddleware):
    """Starlette's rules for what pages of other origins may do, with the reasons for what they may not."""

    def __init__(self, app: ASGIApp, origins: Collection[str], headers: Collection[str]) -> None:
        super().__init__(
            app,
            allow_origins=[each for each in origins if each != LOOPBACK_ORIGINS],
            allow_origin_regex=LOOPBACK.pattern if LOOPBACK_ORIGINS in origins else None,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", *PREFLIGHTED, *USUAL_HEADERS, *headers],
            expose_headers=["ETag", "Retry-After", "X-As-Of", "X-Request-Id"],
        )
        self._refused = Refused()

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        if response.status_code != 200:
            response.body = "\n".join(self._reasons(request_headers)).encode()
            response.headers["Content-Length"] = str(len(response.body))
        return response

    def _reasons(self, request: Headers) -> Iterator[str]:
        origin, method = request["origin"], request["access-control-request-method"]
        if not self.is_allowed_origin(origin):
            yield self._refused.origin(origin)
        if method not in self.allow_methods:
            yield f"The method {method} is not allowed: use {' or '.join(self.allow_methods)}."
        asked = request.get("access-control-request-headers", "").lower().split(",")
        for name in filter(None, dict.fromkeys(map(str.strip, asked))):
            if name not in self.allow_headers and not self.allow_all_headers:
                yield self._refused.header(name)
        if "access-control-request-private-network" in request:
            yield "A page of a public network may not send requests to a private one."


def _is_preflight(scope: Scope) -> bool:
    return scope.get("method") == "OPTIONS" and "access-control-request-method" in Headers(scope=scope)


def with_cors(app: ASGIApp, origins: Collection[str], headers: Collection[str]) -> ASGIApp:
    """Allow requests of web pages of these origins, with these headers beside the usual ones.

    There are no cookies, so pages send their own credentials.
    """
    cors = _Cors(app, origins, headers)

    def unless_closed(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        return (cors if _is_preflight(scope) else app)(scope, receive, send)  # nothing else is added to answers

    return cors if origins else unless_closed
