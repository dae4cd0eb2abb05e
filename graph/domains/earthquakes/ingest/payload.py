"""A payload: what one ingest takes its events from. A receiver may keep it, or record its ingest."""

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import orjson

from graph.core.clock import Clock
from graph.core.geojson.reading import Fingerprinted, Readable
from graph.core.gzipped import gzipped
from graph.core.uuid7 import uuid7
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.ingest.write import Write
from graph.domains.earthquakes.model import Incoming

GEOJSON = "application/geo+json"
JSON = "application/json"
ANY_FILE = "application/octet-stream"  # of a file, whose form shows only while it is read


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of a payload that is wholly known."""

    size: int
    sha256: str  # hexadecimal
    gzipped: Callable[[], bytes]  # called if payloads are kept


def json_body(value: Any) -> Body:
    """The body of a payload that is made here."""
    try:
        text = orjson.dumps(value)
    except orjson.JSONEncodeError:  # a text has half a surrogate pair, which only ASCII can express
        text = json.dumps(value, separators=(",", ":")).encode()
    return Body(len(text), hashlib.sha256(text).hexdigest(), partial(gzipped, text))


class Received:
    """A payload whose records are being stored. This one is not kept."""

    def __init__(self, payload_id: str, ingested_at: int) -> None:
        self.payload_id = payload_id
        self.ingested_at = ingested_at  # of its events, epoch milliseconds
        self.stream: Fingerprinted | None = None  # its bytes, once they are read bit by bit

    def reading(self, stream: Readable) -> Fingerprinted:
        """Its bytes, as they are read."""
        self.stream = Fingerprinted(stream)
        return self.stream

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Wait until its next transaction may be prepared and sent."""
        return nullcontext()

    async def intend(self, number: int | None, now: int, writes: Sequence[Write], chunk: "Chunk") -> None:
        """Learn what the next transaction is about to store."""

    def learn(self, *, stored: bool) -> None:
        """Learn whether it was stored."""


class Chunk:
    """Records of a payload that were checked and are stored together, with their places in it."""

    def __init__(self, payload: Received, records: Sequence[Incoming], places: Sequence[int]) -> None:
        self.payload = payload
        self.records = records
        self.unreadable: list[Incoming] = []  # those whose id a broken item of another program has
        self._places = places

    @property
    def first(self) -> int:
        """The first place."""
        return self._places[0]

    def of(self, record: Incoming) -> int:
        """The place of a record, from 0."""
        return self._by_record[id(record)]

    @cached_property
    def _by_record(self) -> dict[int, int]:
        return dict(zip(map(id, self.records), self._places, strict=True))


@dataclass(eq=False)
class Receiver:
    """Receives the payloads that this process ingests. This one gives each an id, and does nothing else."""

    clock: Clock

    @asynccontextmanager
    async def receive(
        self,
        route: str,
        report: IngestReport,
        *,
        body: Callable[[], Body] | None = None,
        media_type: str = GEOJSON,
        url: str | None = None,
        received_at: int | None = None,
    ) -> AsyncIterator[Received]:
        """Receive a payload, whose records are stored in this context.

        Args:
            report: that of its records alone.
            body: called if somebody wants its body; None for a stream, of which `Received.reading` tells.
            received_at: epoch milliseconds; by default now.
        """
        now = self.clock() if received_at is None else received_at
        yield Received(uuid7(now), now)
