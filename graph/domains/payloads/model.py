"""What is kept and recorded of a payload, see `earthquakes.ingest.payload`. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass

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
class IngestEnding:
    """How the ingest of a payload ended."""

    counts: Mapping[str, int]  # what became of its events
    error: str | None  # stable code; None if it succeeded
    at: int  # epoch milliseconds
