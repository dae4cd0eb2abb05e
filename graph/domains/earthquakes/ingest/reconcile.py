"""Reconciles the catalogue with USGS: finds what USGS has deleted, renamed or moved without a feed that says so.

    a part of the window: USGS's events, with the deleted ones → store what they change
                          our events that none of them names → look each up by its id → store what that changes

What is only missing in an answer is no deletion. USGS is asked for each such event, and a deletion is stored
only if USGS says that it has deleted the event. If USGS does not know the id at all, nothing changes, and the
caller is told. Everything is stored as an ingest stores it, so a reconciliation can be repeated and interrupted:
its finished parts are marked, as those of a back-fill.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from graph.core.clock import Clock
from graph.core.geojson.feature_json import RawFeature
from graph.core.paging import Paging
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.ingest.backfill import Backfill, BackfillProgress
from graph.domains.earthquakes.ingest.backfill_marks import BackfillMarks, NoMarks
from graph.domains.earthquakes.ingest.changed_events import ChangedEvents
from graph.domains.earthquakes.ingest.ingest import RECONCILE_ROUTE, Ingest
from graph.domains.earthquakes.ingest.payload import json_body
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.ingest.write import Write
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import DELETED, SOURCE, Event
from graph.domains.earthquakes.revisions.versions import RevisionKind, changed, kind_of
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.usgs.answers import UsgsAnswer
from graph.domains.earthquakes.usgs.client import UsgsClient
from graph.domains.earthquakes.usgs.normalise import ids_of
from graph.domains.earthquakes.usgs.requests import EventQuery
from graph.store.contract import Database
from graph.work.tasks import Sleep

LOOK_UPS_AT_ONCE = 4
LOOK_UPS_A_MINUTE = 100  # what libcomcat, USGS's own client, allows itself
LOOK_UPS_STORED_AT_ONCE = 100  # after an interruption, at most so many are asked again
EVENTS_A_PAGE = 1000

DifferenceKind = Literal["created", "revised", "renamed", "merged", "deleted", "restored", "unknown", "other"]
"""What is different: a kind of version; an id that USGS does not know, or that it has given to another event."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between the catalogue and USGS."""

    event_id: str  # of the catalogue
    kind: DifferenceKind
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)  # attribute → before, after
    now: str | None = None  # the event that it was merged into, or to which USGS has given the id


def differences_of(write: Write) -> Iterator[Difference]:
    """The differences that a write removes: one for each version that it makes."""
    if not isinstance(write, ChangedEvents):
        yield Difference(write.record.event_id, "created")
        return
    for step in write.versions:
        item = step.item
        kind: DifferenceKind = kind_of(item).value.lower()  # type: ignore[assignment]
        into = item.get("mergedInto") if kind_of(item) is RevisionKind.MERGED else None
        before = step.first or step.stored
        yield Difference(item["eventId"], kind, changed(before, item) if before else {}, into)


class LookUpPace:
    """Spreads look-ups over time, after a first few at once."""

    def __init__(
        self,
        a_minute: float = LOOK_UPS_A_MINUTE,
        *,
        at_once: int = 20,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._every_s = 60 / a_minute
        self._ahead_s = at_once * self._every_s
        self._sleep = sleep
        self._clock = clock  # seconds
        self._due = clock() - self._ahead_s

    async def take_turn(self) -> None:
        """Wait until the next look-up may begin."""
        now = self._clock()
        self._due = max(self._due + self._every_s, now - self._ahead_s)
        if self._due > now:
            await self._sleep(self._due - now)


@dataclass(slots=True)
class ReconcileReport:
    """The outcome of a reconciliation."""

    ingest: IngestReport = field(default_factory=IngestReport)  # of what USGS sent; stays empty in a dry run
    compared: int = 0  # stored events of the window
    looked_up: int = 0  # of these, asked for by id
    differences: Counter[DifferenceKind] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Reconciler:
    """Reconciles windows of the catalogue."""

    database: Database
    catalogue: Catalogue
    usgs: UsgsClient
    ingest: Ingest
    clock: Clock
    pace: Callable[[], LookUpPace] = LookUpPace  # of the look-ups of one reconciliation

    async def reconcile(
        self,
        query: EventQuery,
        *,
        dry_run: bool = False,
        found: Callable[[Difference], None] = lambda difference: None,
        advanced: Callable[[ReconcileReport, BackfillProgress], None] = lambda report, progress: None,
    ) -> ReconcileReport:
        """Reconcile the events of a window.

        Args:
            query: with both ends of the window, and with deleted events.
            dry_run: find the differences, and store nothing.
            found: called with each difference.
            advanced: called with the progress at the beginning, and after each part and some look-ups.

        Raises:
            UpstreamUnavailable, InvalidUpstreamResponse, DatabaseUnavailable: Some differences may be stored;
                the same reconciliation goes on from there.
        """
        run = _Run(self, query, dry_run, found, advanced, self.pace())
        if dry_run:
            await run.work(IngestReport())
        else:
            async with self.ingest.recorded(RECONCILE_ROUTE) as report:
                await run.work(report)
        return run.report

    async def ours(self, query: EventQuery) -> AsyncIterator[Event]:
        """The stored events of a window that came from USGS."""
        magnitudes = MagnitudeRange(query.min_magnitude)
        selection = Selection(start_ms=query.start_ms, end_ms=query.end_ms, magnitudes=magnitudes)
        paging = Paging(EVENTS_A_PAGE)
        while True:
            page = await self.catalogue.page(selection, paging, ascending=True, attributes=_OF_OURS)
            for event in page.records:
                if event.source == SOURCE:
                    yield event
            if not page.has_more:
                return
            paging = Paging(EVENTS_A_PAGE, after=page.records[-1].item)


_OF_OURS = frozenset({"source", "preferredId"})


@dataclass
class _Run:
    """One reconciliation."""

    of: Reconciler
    query: EventQuery
    dry_run: bool
    found: Callable[[Difference], None]
    advanced: Callable[[ReconcileReport, BackfillProgress], None]
    pace: LookUpPace
    report: ReconcileReport = field(default_factory=ReconcileReport)

    def __post_init__(self) -> None:
        self._told: set[tuple[str, DifferenceKind]] = set()  # an event that moved to another part is found in both
        self._slots = asyncio.Semaphore(LOOK_UPS_AT_ONCE)

    async def work(self, report: IngestReport) -> None:
        """Reconcile part by part, counting in `report` what is stored."""
        of, self.report.ingest = self.of, report
        marks = NoMarks(of.clock) if self.dry_run else BackfillMarks(of.database, self.query, of.clock)
        self._backfill = Backfill(
            of.usgs, marks, self.query, of.clock, store=self._compare, advanced=self._report_progress
        )
        try:
            await self._backfill.run()
        finally:
            report.retries += self._backfill.progress.retries

    def _report_progress(self) -> None:
        self.advanced(self.report, self._backfill.progress)

    async def _compare(self, answer: UsgsAnswer, part: EventQuery) -> None:
        """Compare a part of the window with USGS's answer."""
        named = {name for feature in answer.features for name in ids_of(feature)}
        missing = []
        async for event in self.of.ours(part):
            self.report.compared += 1
            if named.isdisjoint((event.event_id, event.preferred_id)):
                missing.append(event.event_id)
        await self._learn(answer)
        for first in range(0, len(missing), LOOK_UPS_STORED_AT_ONCE):
            some = missing[first : first + LOOK_UPS_STORED_AT_ONCE]
            await self._learn(_answer_of([feature for feature in await self._look_up_all(some) if feature]))
            self._report_progress()

    async def _look_up_all(self, event_ids: Sequence[str]) -> list[RawFeature | None]:
        tasks = [asyncio.create_task(self._look_up(event_id)) for event_id in event_ids]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _look_up(self, event_id: str) -> RawFeature | None:
        """What USGS says of one of our events, as a feature; None if it says nothing of it."""
        async with self._slots:
            await self.pace.take_turn()
            event = await self.of.usgs.look_up(event_id)
        self.report.looked_up += 1
        self.report.ingest.retries += event.retries
        if event.deleted:
            return _deletion(event_id, at=self.of.clock())
        if event.feature is None:
            self._tell(Difference(event_id, "unknown"))
            return None
        feature = dict(event.feature)
        if event_id not in ids_of(feature):
            self._tell(Difference(event_id, "other", now=str(feature.get("id"))))
            return None
        return feature

    async def _learn(self, answer: UsgsAnswer) -> None:
        """Store what an answer changes, and tell it."""
        for write in await self.of.ingest.intake.plan(answer.features):
            for difference in differences_of(write):
                self._tell(difference)
        if not self.dry_run:
            await self.of.ingest.take(RECONCILE_ROUTE, self.report.ingest.part(), answer)

    def _tell(self, difference: Difference) -> None:
        if (told := (difference.event_id, difference.kind)) in self._told:
            return
        self._told.add(told)
        self.report.differences[difference.kind] += 1
        self.found(difference)


def _answer_of(features: list[RawFeature]) -> UsgsAnswer:
    """Looked-up events as one answer, whose body is made here."""
    body = json_body({"type": "FeatureCollection", "features": features})
    return UsgsAnswer(features, body.size, body.sha256, gzipped=body.gzipped())


def _deletion(event_id: str, *, at: int) -> RawFeature:
    """The feature of an event that USGS has deleted at some time before."""
    return {"type": "Feature", "id": event_id, "properties": {"status": DELETED, "updated": at, "ids": f",{event_id},"}}
