"""A catalogue with felt reports to test with: `async with shaken(engine, events) as here: await here.report(…)`."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.model import Event
from graph.domains.felt.candidates import EventCandidate, candidates_of
from graph.domains.felt.intensity import FeltIntensity, felt_intensity
from graph.domains.sightings.collected_reports import CollectedReports, FeltAt
from graph.domains.sightings.entities import FELT_REPORTS
from graph.domains.sightings.felt_reports import FeltReport, added, felt_report
from tests.domains.earthquakes.builders import NOON, catalogue_of, ingest
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.store.engines import empty_database

NOON_S = NOON // 1000
MOST_IN_A_BATCH = 100  # reports of one transaction


@dataclass(frozen=True)
class Shaken:
    """Where the ground has shaken."""

    database: WatchedDatabase
    events: dict[str, Event]
    catalogue: Catalogue

    async def report(self, *reports: FeltReport) -> None:
        """Store reports, in batches."""
        for first in range(0, len(reports), MOST_IN_A_BATCH):
            assert await self.database.transact(added(reports[first : first + MOST_IN_A_BATCH])) == ()

    async def felt(self, event_id: str, *, now_s: int = NOON_S + 86_400, most_items: int = 10_000) -> FeltIntensity:
        """How strongly an event was felt, with nothing read before."""
        reports = CollectedReports(self.database, most=most_items)
        return await felt_intensity(self.events[event_id], reports, self.catalogue, lambda: 1000 * now_s)

    async def candidates(
        self, reports: Sequence[FeltAt], attributes: frozenset[str] | None = None
    ) -> list[list[EventCandidate]]:
        """The earthquakes that reports may be of."""
        return await candidates_of(self.catalogue, reports, attributes)


@asynccontextmanager
async def shaken(engine: str, events: Sequence[Event]) -> AsyncIterator[Shaken]:
    """A table of its own that holds these events, and one for felt reports."""
    async with empty_database(engine, frozenset({*ENTITIES, FELT_REPORTS})) as database:
        assert await ingest(database, events) == len(events)
        watched = WatchedDatabase(database)
        yield Shaken(watched, {event.event_id: event for event in events}, catalogue_of(watched))


def a_report(lat: float = 35.6, lon: float = -117.6, now_s: int = NOON_S, event_id: str | None = None) -> FeltReport:
    """A report of somebody who has felt it; what is not given does not matter."""
    return felt_report({"felt": 1}, lat, lon, now_s, event_id)
