"""Takes records into the catalogue, a bounded number at a time: checks each by itself, and stores the valid ones.

values → chunks → check each value → store the chunk's records, see `storing` → counts
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

from graph.core.clock import Clock
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.ingest.storing import Storing
from graph.domains.earthquakes.ingest.write import Write
from graph.domains.earthquakes.live import event_sequence
from graph.domains.earthquakes.model import Incoming
from graph.domains.earthquakes.rules import RejectedFeature
from graph.domains.earthquakes.usgs.geojson import InvalidGeoJson, RawFeature
from graph.domains.earthquakes.usgs.normalise import read_record
from graph.store.contract import Database

T = TypeVar("T")

EVENTS_AT_ONCE = 1000  # in memory; the ingest gives way to other work after each such chunk

Read = Callable[[], Callable[[], None]]
"""Called when a chunk was read. Returns a function, which is called when that chunk is stored."""


def without_progress() -> Callable[[], None]:
    """Report no progress."""
    return lambda: None


class Intake:
    """The way of every record into the catalogue."""

    def __init__(self, database: Database, clock: Clock, *, revises: bool) -> None:
        """Prepare to take records.

        Args:
            revises: whether stored events are revised; otherwise the first write of an event wins.
        """
        self._storing = Storing(database, event_sequence(database), clock, revises=revises)
        self._clock = clock

    async def features(
        self, report: IngestReport, features: Iterable[RawFeature], read: Read = without_progress
    ) -> None:
        """Check and store features of USGS, counting in `report`."""
        await self.values(report, features, self._check, read)

    async def plan(self, features: Iterable[RawFeature]) -> list[Write]:
        """What taking these features would change. Features that would be rejected change nothing."""
        check = self._check
        writes: list[Write] = []
        for chunk in _chunks(features):
            writes += await self._storing.plan(_checked(IngestReport(), chunk, check))
        return writes

    @property
    def _check(self) -> Callable[[RawFeature], Incoming]:
        """Reads a feature that is ingested now."""
        return partial(read_record, ingested_at=self._clock())

    async def values(
        self, report: IngestReport, values: Iterable[T], check: Callable[[T], Incoming], read: Read = without_progress
    ) -> None:
        """Check and store values, counting in `report`.

        While the store writes a chunk and waits for the disk, the next chunk is read and checked.

        Args:
            check: makes a record of a value, or raises `RejectedFeature`.
        """
        storing: asyncio.Task[None] | None = None
        try:
            for chunk in _chunks(values):
                stored = read()
                records = _checked(report, chunk, check)
                if storing:
                    await storing
                storing = asyncio.create_task(self._store(report, records, stored))
                await asyncio.sleep(0)  # lets the task begin
        finally:
            if storing:
                await storing

    async def _store(self, report: IngestReport, records: list[Incoming], stored: Callable[[], None]) -> None:
        # If all events so far were new, the others probably are too.
        probably_new = report.upserted > 0 and not report.revised and not report.skipped
        await self._storing.store(records, report.count, probably_new=probably_new)
        stored()


def _chunks(values: Iterable[T]) -> Iterator[list[T]]:
    """The values, a bounded number at a time. If reading fails, the values before come first."""
    chunk: list[T] = []
    try:
        for value in values:
            chunk.append(value)
            if len(chunk) == EVENTS_AT_ONCE:
                yield chunk
                chunk = []
    except InvalidGeoJson:
        yield chunk
        raise
    if chunk:
        yield chunk


def _checked(report: IngestReport, chunk: Iterable[T], check: Callable[[T], Incoming]) -> list[Incoming]:
    """The records of a chunk, without rejected ones, and those no newer than one before with their id. These count."""
    records: list[Incoming] = []
    published: dict[str, int | None] = {}
    for value in chunk:
        try:
            record = check(value)
        except RejectedFeature as refusal:
            report.reject(refusal.rejection)
            continue
        known, updated = published.get(record.event_id, 0), record.updated
        if record.event_id in published and (updated is None or (known is not None and updated <= known)):
            report.count("skipped", 1)
        else:
            published[record.event_id] = updated
            records.append(record)
    return records
