"""A payload: what one ingest took its events from. No I/O."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from graph.domains.payloads.gzipped import gzipped

GEOJSON = "application/geo+json"
JSON = "application/json"
ANY_FILE = "application/octet-stream"  # of a file, whose form shows only while it is read

CANCELLED = "CANCELLED"  # the code of an ingest that was interrupted


@dataclass(frozen=True, slots=True)
class Payload:
    """An answer of USGS, a file, or the events of a caller."""

    payload_id: str  # UUID of version 7
    route: str  # of its ingest, such as `/ingest/recent`
    media_type: str
    received_at: int  # epoch milliseconds; the `ingestedAt` of its events
    url: str | None = None  # of USGS's public service
    size: int | None = None  # bytes; None while a file is read, and where nobody wants to know
    sha256: str | None = None  # of the same bytes, hexadecimal


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of a payload that is wholly known."""

    size: int
    sha256: str  # hexadecimal
    gzipped: Callable[[], bytes]  # called if payloads are kept


@dataclass(frozen=True, slots=True)
class Ending:
    """How the ingest of a payload ended."""

    counts: Mapping[str, int]  # what became of its events
    error: str | None  # stable code; None if it succeeded
    at: int  # epoch milliseconds


def json_body(value: Any) -> Body:
    """The body of a payload that is made here."""
    try:
        text = orjson.dumps(value)
    except orjson.JSONEncodeError:  # a text has half a surrogate pair, which only ASCII can express
        text = json.dumps(value, separators=(",", ":")).encode()
    return Body(len(text), hashlib.sha256(text).hexdigest(), partial(gzipped, text))
