"""Ingests events from USGS, a caller or a file into the catalogue, see `intake`, and records each ingest.

The same ingest can be run again after a crash, to finish the work. At every moment,
`fetched = upserted + revised + skipped + rejected`.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from graph.api.recording import RecordedWork, Recording, current
from graph.core.clock import Clock
from graph.core.errors import BadUserInput, outcome_of
from graph.core.geojson.feature_json import RawFeature
from graph.core.geojson.feature_splitter import InvalidGeoJson
from graph.core.geojson.reading import Readable, read_features
from graph.domains.earthquakes.entities import ALIAS, EVENT
from graph.domains.earthquakes.ingest.backfill import NO_EVENTS, Backfill, BackfillProgress
from graph.domains.earthquakes.ingest.backfill_marks import BackfillMarks
from graph.domains.earthquakes.ingest.intake import Intake, Read, without_progress
from graph.domains.earthquakes.ingest.payload import ANY_FILE, JSON, Body, Receiver, json_body
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.ingest.write import Outcome
from graph.domains.earthquakes.rules import given_record
from graph.domains.earthquakes.usgs.answers import NO_VALIDATORS, UsgsAnswer, Validators
from graph.domains.earthquakes.usgs.client import UsgsClient
from graph.domains.earthquakes.usgs.errors import InvalidUpstreamResponse, UpstreamFailure
from graph.domains.earthquakes.usgs.normalise import ids_of, time_of
from graph.domains.earthquakes.usgs.requests import EventQuery, RecentEvents, UsgsFeed
from graph.store.contract import Database
from graph.store.entity import Item, Key

RECENT_ROUTE = "/ingest/recent"
EVENTS_ROUTE = "/ingest/events"
FILES_ROUTE = "/ingest/files"
RECONCILE_ROUTE = "/ingest/reconcile"

MOST_EVENTS_PER_CALL = 1000  # in one call

Observer = Callable[[str, IngestReport, str], None]
"""(route, report, code of its error or OK): called at the end of each ingest."""


def unobserved(route: str, report: IngestReport, code: str) -> None:
    """Observe nothing."""


@dataclass(eq=False)
class Ingest:
    """Ingests events. Each ingest is recorded before its answer."""

    database: Database
    usgs: UsgsClient
    recording: Recording
    clock: Clock
    observe: Observer = unobserved
    revises: bool = True  # whether stored events are revised; otherwise the first write of an event wins

    def __post_init__(self) -> None:
        self.intake = Intake(self.database, self.clock, revises=self.revises)
        self._receiver = Receiver(self.clock)

    def hand_payloads_to(self, receiver: Receiver, *, bodies: bool) -> None:
        """Let another one receive what is ingested from now on.

        Args:
            bodies: whether it needs those of USGS's answers.
        """
        self._receiver = receiver
        self.usgs.copies = bodies

    async def recent(self, request: RecentEvents) -> IngestReport:
        """Fetch from USGS and store.

        Raises:
            BadUserInput: The arguments contradict each other.
            UpstreamUnavailable, InvalidUpstreamResponse: Nothing was stored.
            DatabaseUnavailable: The events may be stored in part; ingesting again completes them.
        """
        async with self.recorded(RECENT_ROUTE) as report:
            query = request.request
            answer = await self.usgs.fetch(query)
            if request.is_window and isinstance(query, EventQuery):
                report.truncated = await self._is_truncated(query, answer)
            await self._take_answer(report, answer)
        return report

    async def _is_truncated(self, query: EventQuery, answer: UsgsAnswer) -> bool:
        """Whether USGS cut its answer at the query's limit. If it cannot be asked, a full answer counts as cut."""
        if len(answer.features) < query.limit:
            return False
        try:
            return (await self.usgs.count(query)).events > len(answer.features)
        except UpstreamFailure:
            return True

    async def feed(self, feed: UsgsFeed, known: Validators = NO_VALIDATORS) -> tuple[IngestReport, Validators]:
        """Fetch a feed in one attempt and store it. The caller tries again later anyway.

        Args:
            known: the validators of the last stored version. If it is still the latest, no events are fetched.

        Returns:
            The report, and the validators of the version that is stored now.

        Raises:
            UpstreamUnavailable, InvalidUpstreamResponse: Nothing was stored. A feed without events is an error.
            DatabaseUnavailable: The events may be stored in part; ingesting the feed again completes them.
        """
        async with self.recorded(RECENT_ROUTE) as report:
            answer = await self.usgs.fetch(feed, known=known, retries=0)
            if answer.size and not answer.features:
                raise InvalidUpstreamResponse("USGS answered with a feed of no events: try again later.")
            await self._take_answer(report, answer)
        return report, answer.validators

    async def window(
        self,
        query: EventQuery,
        advanced: Callable[[IngestReport, BackfillProgress], None] | None = None,
        *,
        only_stored_before: int | None = None,
    ) -> IngestReport:
        """Fetch all events of a window from USGS and store them, in parts of fewer than `query.limit` events each.

        Args:
            query: an interrupted ingest with the same conditions is resumed.
            advanced: called with the progress at the beginning, and after each chunk and each part.
            only_stored_before: an origin time, epoch milliseconds. Earlier events are skipped unless they are stored.

        Raises:
            BadUserInput: The arguments contradict each other.
            UpstreamUnavailable, InvalidUpstreamResponse, DatabaseUnavailable: The events may be stored
                in part; the same ingest resumes from there.
        """
        async with self.recorded(RECENT_ROUTE) as report:

            async def store(answer: UsgsAnswer, _: EventQuery) -> None:
                if answer is NO_EVENTS:
                    return
                report.upstream_hash = answer.sha256 if report.upstream_size is None else None
                report.upstream_size = (report.upstream_size or 0) + answer.size
                places = None
                if only_stored_before is not None:
                    places = await without_unknown(self.database, answer.features, only_stored_before)
                await self.take(RECENT_ROUTE, report.part(), answer, lambda: report_progress, places)

            def report_progress() -> None:
                if advanced:
                    advanced(report, backfill.progress)

            marks = BackfillMarks(self.database, query, self.clock)
            backfill = Backfill(self.usgs, marks, query, self.clock, store=store, advanced=report_progress)
            report_progress()
            try:
                await backfill.run()
            finally:
                report.retries = backfill.progress.retries
        return report

    async def events(self, events: Sequence[Mapping[str, Any]]) -> IngestReport:
        """Store events of a caller, each as `given_record` takes it.

        Raises:
            BadUserInput: There are more than 1,000.
            DatabaseUnavailable: The events may be stored in part; ingesting again completes them.
        """
        ingested_at = self.clock()

        async with self.recorded(EVENTS_ROUTE) as report:
            if len(events) > MOST_EVENTS_PER_CALL:
                raise BadUserInput(f"`events` takes at most {MOST_EVENTS_PER_CALL:,} events a call.")
            body = partial(json_body, events)
            async with self._receiver.receive(
                EVENTS_ROUTE, report, body=body, media_type=JSON, received_at=ingested_at
            ) as payload:
                await self.intake.values(report, payload, events, partial(given_record, ingested_at=ingested_at))
        return report

    async def file(self, stream: Readable, advanced: Callable[[IngestReport], None] | None = None) -> IngestReport:
        """Store the features of a GeoJSON file, a bounded number at a time.

        Args:
            stream: read in the thread of the event loop, as a local file is.
            advanced: called after each chunk with the progress in bytes and events.

        Raises:
            InvalidUpstreamResponse: The file is not GeoJSON, or breaks off; the complete features are stored.
        """
        async with self.recorded(FILES_ROUTE) as report:

            def stored(size: int) -> None:
                report.upstream_size = size
                if advanced:
                    advanced(report)

            async with self._receiver.receive(FILES_ROUTE, report, media_type=ANY_FILE) as payload:
                raw = payload.reading(stream)
                try:
                    await self.intake.features(report, payload, read_features(raw), lambda: partial(stored, raw.size))
                except InvalidGeoJson as error:
                    raise InvalidUpstreamResponse(str(error)) from error
                finally:
                    report.upstream_size, report.upstream_hash = raw.size, raw.sha256
        return report

    async def take(
        self,
        route: str,
        report: IngestReport,
        answer: UsgsAnswer,
        read: Read = without_progress,
        places: Sequence[int] | None = None,
    ) -> None:
        """Check and store the events of USGS's answer, counting in `report`, which is of this answer alone.

        Args:
            places: of the events to store; the others are skipped. By default all of them.
        """
        if not answer.features:
            return
        body = Body(answer.size, answer.sha256, lambda: answer.gzipped)
        async with self._receiver.receive(route, report, body=lambda: body, url=answer.url) as payload:
            features = answer.features
            if places is not None:
                features = [features[place] for place in places]
                report.count(Outcome.SKIPPED, len(answer.features) - len(features))
            await self.intake.features(report, payload, features, read, places)

    async def adopt(self, events: Sequence[Item]) -> None:
        """Take up events that another program stored."""
        await self.intake.adopt([event["eventId"] for event in events])

    async def _take_answer(self, report: IngestReport, answer: UsgsAnswer) -> None:
        """Take the one answer of an ingest."""
        report.retries = answer.retries
        report.upstream_size, report.upstream_hash = answer.size, answer.sha256
        await self.take(RECENT_ROUTE, report, answer)

    @asynccontextmanager
    async def recorded(self, route: str) -> AsyncIterator[IngestReport]:
        """Record what is done in this context, failed or not, before its answer."""
        started, field = self.clock(), current.get()
        report = IngestReport(field.request_id) if field else IngestReport()
        error: Exception | None = None
        try:
            yield report
        except Exception as raised:
            error = raised
            if isinstance(raised, UpstreamFailure):
                report.retries += raised.retries
                if report.upstream_size is None:
                    report.upstream_size, report.upstream_hash = raised.size, raised.sha256
        report.latency_ms = max(self.clock() - started, 0)
        status, code = outcome_of(error)
        self.observe(route, report, code or "OK")
        await self.recording.write(
            RecordedWork(
                request_id=report.request_id,
                timestamp=field.timestamp if field else started,
                route=route,
                writes=True,
                status=status,
                latency_ms=report.latency_ms,
                error=code,
                facts=report.facts,
            )
        )
        if error is not None:
            raise error


async def without_unknown(database: Database, features: Sequence[RawFeature], before: int) -> list[int]:
    """The places of the features, without those of an earlier origin time whose event is not stored under any id.

    A feature without a time is kept: it is rejected like any other.

    Args:
        before: an origin time, epoch milliseconds.
    """
    old = {
        position: ids_of(feature)
        for position, feature in enumerate(features)
        if (time := time_of(feature)) is not None and time < before
    }
    ids = {event_id for names in old.values() for event_id in names}
    known = await _stored(database, [EVENT.key_for(event_id) for event_id in ids])
    known |= await _stored(database, [ALIAS.key_for(event_id) for event_id in ids - known])
    return [position for position in range(len(features)) if position not in old or old[position] & known]


async def _stored(database: Database, keys: Sequence[Key]) -> set[str]:
    """The ids of those keys that have an item."""
    items = await database.get_many(keys, attributes=("eventId",)) if keys else {}
    return {key.values[0] for key in items}
