"""Histories to test with: what a source says of a few earthquakes, record after record, and ingests of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hypothesis import strategies as st

from graph.core.days import DAY_MS
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.views import PRESENT, View
from graph.domains.earthquakes.selection import Selection
from graph.store.contract import Database
from tests.domains.data_files.in_store import walked
from tests.domains.earthquakes.builders import at, catalogue_of
from tests.domains.earthquakes.ingest.ingests import unlogged_ingest

MIDNIGHT = at("2023-08-03T00:00:00")
BEGIN = MIDNIGHT + DAY_MS  # when the first ingest runs
IDS = ["us1", "us2", "ci1", "nc1"]

Record = dict[str, Any]
"""The arguments of an ingested event."""


@dataclass
class Clock:
    """A clock that moves on when it is told to."""

    now: int = BEGIN

    def __call__(self) -> int:
        return self.now


@dataclass
class Source:
    """Ingests records at times of its own."""

    database: Database
    revises: bool = True
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.ingest = unlogged_ingest(self.database, self.clock, revises=self.revises)

    async def say(self, *records: Record, later: int = 1000) -> IngestReport:
        """Ingest records after so many milliseconds."""
        self.clock.now += later
        report = await self.ingest.events(records)
        assert report.fetched == report.upserted + report.revised + report.skipped + report.rejected == len(records)
        return report


def a_record(event_id: str = "us1", *, updated: int | None = 1, **others: Any) -> Record:
    """A record of an event; what is not given does not matter."""
    values = {"event_ts_ms": MIDNIGHT, "mag": 4.5, "place": "Here", "lat": 1.0, "lon": 2.0, "depth": 3.0}
    return {"event_id": event_id, "updated": updated, "source": "USGS", **values, **others}


async def listed(
    database: Database,
    view: View = PRESENT,
    selection: Selection = Selection(),  # noqa: B008 — it is immutable
    *,
    size: int = 100,
) -> list[Event]:
    """All events of a view, page by page, oldest first."""
    read = partial(catalogue_of(database).page, selection, ascending=True, view=view)
    return await walked(read, lambda event: event.item, size)


def tracked_values(events: Sequence[Event]) -> dict[str, tuple[Any, ...]]:
    """What versions are about, by event id."""
    return {
        each.event_id: (each.event_ts_ms, each.mag, each.place, each.lat, each.status, each.preferred_id)
        for each in events
    }


TIMES = [MIDNIGHT - 1, MIDNIGHT, MIDNIGHT + 1, MIDNIGHT + DAY_MS // 2]


@st.composite
def _records(draw: st.DrawFn) -> Record:
    event_id = draw(st.sampled_from(IDS))
    others = draw(st.lists(st.sampled_from(IDS), max_size=2))
    return a_record(
        event_id,
        updated=draw(st.one_of(st.none(), st.integers(BEGIN, BEGIN + 20))),
        event_ts_ms=draw(st.sampled_from(TIMES)),
        mag=draw(st.sampled_from([4.5, 4.55, 6.0])),
        status=draw(st.sampled_from([None, "automatic", "reviewed", "deleted"])),
        type=draw(st.sampled_from([None, "earthquake", "explosion"])),
        lat=draw(st.sampled_from([1.0, 1.5, 51.0])),
        net=draw(st.sampled_from([None, "us", "ci"])),
        felt=draw(st.sampled_from([None, 1, 2])),
        gap=draw(st.sampled_from([None, 9.0, 11.0])),
        ids=draw(st.sampled_from([None, [event_id, *others]])),
    )


ingests = st.lists(_records(), min_size=1, max_size=4)
histories = st.lists(ingests, min_size=1, max_size=8)
"""Ingests one after the other, each of some records."""
