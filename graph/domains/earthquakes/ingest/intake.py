"""Takes records into the catalogue, a bounded number at a time: checks each by itself, and stores the valid ones.

values → chunks → check each value → store the chunk's records, see `storing` → counts
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TypeVar

from graph.core.clock import Clock
from graph.core.geojson.feature_json import RawFeature
from graph.core.geojson.feature_splitter import InvalidGeoJson
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.ingest.payload import Chunk, Received
from graph.domains.earthquakes.ingest.report import IngestedEvent, IngestReport
from graph.domains.earthquakes.ingest.storing import Storing
from graph.domains.earthquakes.ingest.write import Outcome, Write
from graph.domains.earthquakes.model import Incoming, is_foreign
from graph.domains.earthquakes.revisions.live import event_sequence
from graph.domains.earthquakes.rules import EventProblem, EventRejection, RejectedFeature
from graph.domains.earthquakes.usgs.normalise import read_record
from graph.store.contract import Database
from graph.work.account import give_way

T = TypeVar("T")

EVENTS_AT_ONCE = 1000  # in memory
CHECKED_AT_ONCE = 500  # in some 2 ms, before giving way to other work

UNREADABLE = (
    "Another program has stored an item with this id that cannot be read: the service's log says why. Remove it, and "
    "ingest again."
)

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
        self,
        report: IngestReport,
        payload: Received,
        features: Iterable[RawFeature],
        read: Read = without_progress,
        places: Iterable[int] | None = None,
    ) -> None:
        """Check and store features of USGS, counting in `report`; see `values`."""
        check = partial(read_record, ingested_at=payload.ingested_at)
        await self.values(report, payload, features, check, read, places)

    async def adopt(self, event_ids: Collection[str]) -> int:
        """Take up those of these events that another program stored. Returns how many."""
        return await self._storing.adopt(event_ids, Received("", self._clock()))

    async def adopt_all(self) -> int:
        """Take up all events that other programs stored. Returns how many."""
        adopted, foreign = 0, list[str]()
        async for item in self._storing.database.scan(EVENT, attributes=("eventId", "arrival")):
            if is_foreign(item):
                foreign.append(item["eventId"])
            if len(foreign) == EVENTS_AT_ONCE:
                adopted += await self.adopt(foreign)
                foreign = []
        return adopted + await self.adopt(foreign)

    async def plan(self, features: Iterable[RawFeature]) -> list[Write]:
        """What taking these features would change. Features that would be rejected change nothing."""
        check = partial(read_record, ingested_at=self._clock())
        writes: list[Write] = []
        for some in _chunks(features):
            records, _ = await _checked(IngestReport(), some, count(), check)
            writes += await self._storing.plan(records)
        return writes

    async def values(
        self,
        report: IngestReport,
        payload: Received,
        values: Iterable[T],
        check: Callable[[T], Incoming],
        read: Read = without_progress,
        places: Iterable[int] | None = None,
    ) -> None:
        """Check and store values, counting in `report`.

        While the store writes a chunk and waits for the disk, the next chunk is read and checked.

        Args:
            payload: where the values are from.
            check: makes a record of a value, or raises `RejectedFeature`.
            places: of the values in the payload; by default they are all of its values.
        """
        numbered = iter(count() if places is None else places)
        storing: asyncio.Task[None] | None = None
        try:
            for some in _chunks(values):
                stored = read()
                chunk = Chunk(payload, *await _checked(report, some, numbered, check))
                if storing:
                    await storing
                storing = asyncio.create_task(self._store(report, chunk, stored))
                await asyncio.sleep(0)  # lets the task begin
        finally:
            if storing:
                await storing

    async def _store(self, report: IngestReport, chunk: Chunk, stored: Callable[[], None]) -> None:
        def count(outcome: Outcome, records: Sequence[Incoming]) -> None:
            events = (IngestedEvent(chunk.of(record), record.event_id, outcome) for record in records)
            report.count(outcome, len(records), events)

        # If all events so far were new, the others probably are too.
        await self._storing.store(chunk, count, probably_new=report.all_new)
        for record in chunk.unreadable:
            report.reject(EventRejection(record.event_id, EventProblem.ITEM_UNREADABLE, UNREADABLE, chunk.of(record)))
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


async def _checked(
    report: IngestReport, values: Sequence[T], numbered: Iterator[int], check: Callable[[T], Incoming]
) -> tuple[list[Incoming], list[int]]:
    """The records of some values and their places, without those that are rejected, which count."""
    records: list[Incoming] = []
    places: list[int] = []
    for begin in range(0, len(values), CHECKED_AT_ONCE):
        for value, place in zip(values[begin : begin + CHECKED_AT_ONCE], numbered, strict=False):
            try:
                records.append(check(value))
            except RejectedFeature as refusal:
                report.reject(replace(refusal.rejection, index=place))
            else:
                places.append(place)
        await give_way()
    return records, places
