"""What every encoder does: it turns events into the bytes of a format, some at a time.

    encoder = FORMATS["ndjson"].encoder(request)
    body = encoder.begin() + await encoder.rows(events) + … + await encoder.end(ending)

`rows` takes at most `rows_at_once` events, so that it holds the event loop for less than a millisecond.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graph.core.times import rfc3339_of_millis
from graph.domains.earthquakes.model import Event

ROWS_AT_ONCE = 200  # some 1 ms, of the slowest encoder


@dataclass(frozen=True, slots=True)
class ExportEnding:
    """What an export says of itself at its end."""

    count: int  # events
    as_of_ms: int  # epoch milliseconds

    @property
    def as_of(self) -> str:
        """The moment as of which the events were exported."""
        return rfc3339_of_millis(self.as_of_ms)


class Encoder(Protocol):
    """Writes one export."""

    reads: frozenset[str]  # the attributes of an event that it needs, beside its position

    def begin(self) -> bytes:
        """What comes before the first event."""

    async def rows(self, events: Sequence[Event]) -> bytes:
        """The next events, at most `ROWS_AT_ONCE`. Some bytes may come later."""

    async def end(self, ending: ExportEnding) -> bytes:
        """The rest, with the count and a hash."""


class IdsHash:
    """A hash of the ids of events in their order, which a reader of any format can compute again.

    It is the SHA-256 of the ids, each followed by a line feed.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, events: Sequence[Event]) -> None:
        """Add the next events."""
        self._hash.update("".join([f"{event.item['eventId']}\n" for event in events]).encode())

    @property
    def hex(self) -> str:
        """The hash, in hexadecimal digits."""
        return self._hash.hexdigest()
