"""The service of exports: one for each process, for HTTP and the command line."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.core.clock import Clock
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.model import Event
from graph.domains.export.encoders import ROWS_AT_ONCE, Encoder, ExportEnding
from graph.domains.export.source import ExportRequest, ExportSource
from graph.observability.metrics import Metrics
from graph.store.contract import Database
from graph.work.account import give_way

Run = Callable[[Callable[[], Coroutine[Any, Any, None]]], Coroutine[Any, Any, None]]
"""Runs the reading and writing of a page, perhaps again after a failure."""


async def run_at_once(page: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Read and write a page without limits of its own."""
    await page()


@dataclass(slots=True)
class Export:
    """An export in progress."""

    source: ExportSource
    encoder: Encoder
    written: list[bytes]  # and not taken yet
    count: int = 0  # events so far
    is_over: bool = False
    _has_page: bool = False
    _unwritten: Sequence[Event] = field(default=())  # of the present page

    async def write_page(self) -> None:
        """Read and write the next events. If that fails, the next call neither repeats nor misses an event."""
        if not self._unwritten and not self.source.is_over:
            self._unwritten = await self.source.next_page(self.encoder.reads)
        while self._unwritten:
            piece, self._unwritten = self._unwritten[:ROWS_AT_ONCE], self._unwritten[ROWS_AT_ONCE:]
            self.written.append(await self.encoder.rows(piece))
            self.count += len(piece)
            await give_way()
        if self.source.is_over:
            self.written.append(await self.encoder.end(ExportEnding(self.count, self.source.as_of_ms)))
            self.is_over = True
        self._has_page = True

    async def chunks(self, run: Run = run_at_once) -> AsyncGenerator[bytes, None]:
        """Its bytes, some events at a time. A page is read when all of the one before it was taken.

        The first page may be written before, so that a failure is told before the first byte.
        """
        if not self._has_page:
            await run(self.write_page)
        while True:
            written, self.written = self.written, []
            for chunk in filter(None, written):
                yield chunk
            if self.is_over:
                return
            await run(self.write_page)


class Exports:
    """Begins exports."""

    def __init__(self, database: Database, catalogue: Catalogue, clock: Clock) -> None:
        self._database = database
        self._catalogue = catalogue
        self._clock = clock

    async def begin(self, request: ExportRequest, encoder: Encoder, *, begun: bool = False) -> Export:
        """Begin an export. No event is read.

        Args:
            begun: whether an earlier export has written what comes before the first event.

        Raises: As `ExportSource.begin`.
        """
        source = await ExportSource.begin(self._catalogue, self._database, self._clock, request)
        return Export(source, encoder, [] if begun else [encoder.begin()])


class ExportMetrics:
    """The metrics of exports over HTTP."""

    def __init__(self, metrics: Metrics) -> None:
        self._exports = metrics.counter("exports", "Exports, by outcome.", "format", "code")
        self._events = metrics.counter("export_events", "Events that were exported.", "format")

    def add(self, format_: str, code: str, events: int) -> None:
        """Count an export that has ended."""
        self._exports.labels(format_, code).inc()
        self._events.labels(format_).inc(events)
