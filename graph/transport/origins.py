"""The origins whose web pages may send requests, by HTTP and by WebSocket alike."""

import re
from collections.abc import Collection

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from graph.settings import ALL_ORIGINS, LOOPBACK_ORIGINS
from graph.transport.request import PREFLIGHTED

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


def with_cors(app: ASGIApp, origins: Collection[str]) -> ASGIApp:
    """Allow requests of web pages of these origins. There are no cookies, so pages send their own credentials."""
    return CORSMiddleware(
        app,
        allow_origins=[each for each in origins if each != LOOPBACK_ORIGINS],
        allow_origin_regex=LOOPBACK.pattern if LOOPBACK_ORIGINS in origins else None,
        allow_methods=["GET", "POST"],
        allow_headers=["Authorization", *PREFLIGHTED],
        expose_headers=["Retry-After", "X-As-Of", "X-Request-Id"],
    )
