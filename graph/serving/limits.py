"""The limits of a process's connections, and a refusal that needs no application."""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus

import orjson

from graph.core.errors import GraphError
from graph.transport.errors import format_error
from graph.transport.request_ids import SECURITY_HEADERS


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits of a process's connections."""

    seconds: float  # to send a request, and to read an answer
    number: int  # at the same time


def refusal(error: GraphError) -> bytes:
    """An HTTP/1.1 answer with this error, which closes its connection."""
    body = orjson.dumps({"errors": [format_error(error)]})
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **SECURITY_HEADERS,
        **error.headers,
    }
    lines = [f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body


def cancel(timer: asyncio.Handle | None) -> None:
    """Cancel a timer, if it was set."""
    if timer is not None:
        timer.cancel()
