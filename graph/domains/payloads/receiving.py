"""Receives payloads: gives each an id, keeps it if that is wanted, and tells the recorders of other domains."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from graph.core.errors import DatabaseUnavailable, outcome_of
from graph.core.uuid7 import uuid7
from graph.domains.earthquakes.ingest.payload import GEOJSON, Body, Received, Receiver
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.payloads.keeping import PayloadFolder
from graph.domains.payloads.model import CANCELLED, IngestEnding, Payload
from graph.work.tasks import BackgroundTasks, Work, attempt

CANCELLED_ENDS_WITHIN_S = 5.0  # seconds to record that an ingest was cancelled


class IngestRecord(Protocol):
    """What another domain records of the ingest of one payload."""

    async def received(self, payload: Payload) -> None:
        """A payload is there. None of its records is stored before this returns."""

    async def ended(self, payload: Payload, ending: IngestEnding) -> None:
        """Its ingest has ended, well or not.

        That of a cancelled one is recorded after the cancellation, within some seconds, and that of a killed one never.
        """


Recorder = Callable[[], IngestRecord]
"""Begins the record of one more ingest."""


@dataclass(eq=False)
class Payloads(Receiver):
    """The payloads that this process ingests."""

    folder: PayloadFolder | None = None  # where they are kept; None for not at all
    cancelled_ends_within_s: float = CANCELLED_ENDS_WITHIN_S  # after which no end of a cancelled ingest is recorded
    recorders: list[Recorder] = field(default_factory=list)  # a domain adds its own before anything is ingested
    _later: BackgroundTasks = field(default_factory=BackgroundTasks)  # which record the ends of cancelled ingests

    async def close(self) -> None:
        """Wait until the ends of all cancelled ingests are recorded, or have taken too long."""
        await self._later.finish()

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
        """Receive a payload, see `Receiver`.

        Raises:
            PayloadNotKept: The folder cannot be written.
        """
        now = self.clock() if received_at is None else received_at
        known = body() if body and (self.folder or self.recorders) else None
        size, sha256 = (known.size, known.sha256) if known else (None, None)
        payload = Payload(uuid7(now), route, media_type, now, url, size, sha256)
        kept = await self.folder.keep(payload, known.gzipped() if known else None) if self.folder else None
        records = [recorder() for recorder in self.recorders]
        received, code = kept or Received(payload.payload_id, now), None
        try:
            for record in records:
                await record.received(payload)
            yield received
        except BaseException as error:
            code = outcome_of(error)[1] if isinstance(error, Exception) else CANCELLED
            raise
        finally:
            ending = IngestEnding(report.counts, code, self.clock() if kept or records else 0)
            if stream := received.stream:
                payload = replace(payload, size=stream.size, sha256=stream.sha256)
            try:
                if kept:
                    await kept.end(payload, ending)
            finally:
                for record in records:
                    end = partial(record.ended, payload, ending)
                    if code == CANCELLED:  # an operation that is over must not wait for a store again
                        self._later.start("ending a cancelled ingest", partial(self._attempt, end))
                    else:
                        await end()

    async def _attempt(self, end: Work) -> None:
        """Record the end of a cancelled ingest, unless that takes too long."""

        async def bounded() -> None:
            try:
                async with asyncio.timeout(self.cancelled_ends_within_s):
                    await end()
            except TimeoutError as error:
                raise DatabaseUnavailable("it took too long") from error

        await attempt(bounded, failure="The end of a cancelled ingest cannot be recorded")
