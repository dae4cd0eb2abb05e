"""Events and filled tables to test with: `an_event(mag=6.5)`, `async with stored(engine, events) as table`."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from graph.core.days import DAY_MS, EPOCH_TIME, LAST_MS
from graph.core.geojson.feature_json import RawFeature
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.ingest.ingest import MOST_EVENTS_PER_CALL
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.rules import event_reader
from graph.domains.earthquakes.usgs.normalise import read_record
from graph.store.contract import Database, Put
from tests.domains.earthquakes.ingest.ingests import unlogged_ingest
from tests.domains.entities import ENTITIES
from tests.store.engines import empty_database

INGESTED_AT = LAST_MS - DAY_MS  # so late that an event of any year may be ingested


def at(time: str) -> int:
    """An ISO 8601 time as epoch milliseconds, UTC unless it says otherwise."""
    parsed = datetime.fromisoformat(time)
    since = (parsed if parsed.tzinfo else parsed.replace(tzinfo=EPOCH_TIME.tzinfo)) - EPOCH_TIME
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000


NOON = at("2023-08-03T12:00:00")


def an_event(event_id: str = "us7000abcd", event_ts_ms: int = NOON, mag: float = 4.5, **others: Any) -> Event:
    """An event that breaks no rule; what is not given does not matter."""
    values = {"place": "10 km S of Here", "lat": 35.6, "lon": -117.6, "depth": 8.0, "type": "earthquake"}
    given = {"source": "USGS", "ingested_at": INGESTED_AT, **values, **others}
    return checked_event(event_id=event_id, event_ts_ms=event_ts_ms, mag=mag, **given)


def checked_event(*, ingested_at: int, **given: Any) -> Event:
    """The event of values by their names in `Event`, by the catalogue's rules."""
    event_id, time, mag = given["event_id"], given["event_ts_ms"], given["mag"]
    where = given["place"], given["lat"], given["lon"], given["depth"]
    return _read_event(event_id, time, mag, *where, given["source"], ingested_at, given)


_read_event = event_reader(lambda name: name)


def normalised(feature: RawFeature, *, ingested_at: int) -> Event:
    """The event of a feature of USGS."""
    record = read_record(feature, ingested_at=ingested_at)
    assert isinstance(record, Event)
    return record


def events_at(*times_ms: int, **others: Any) -> list[Event]:
    """One event at each of the times, called e000, e001, …"""
    return [an_event(f"e{number:03}", time_ms, **others) for number, time_ms in enumerate(times_ms)]


async def ingest(database: Database, events: Sequence[Event]) -> int:
    """Put events into the catalogue as the service does; how many were new.

    Nothing is recorded: the log of an ingest so late would have no key.
    """
    ingest = unlogged_ingest(database, lambda: INGESTED_AT)
    values = [as_given(event) for event in events]
    upserted = 0
    for first in range(0, len(values), MOST_EVENTS_PER_CALL):
        upserted += (await ingest.events(values[first : first + MOST_EVENTS_PER_CALL])).upserted
    return upserted


async def adopt_all(database: Database) -> int:
    """Take up what another program stored, as the service does; how many events."""
    return await unlogged_ingest(database, lambda: INGESTED_AT).intake.adopt_all()


def as_given(event: Event) -> dict[str, Any]:
    """The arguments of an ingest of this event."""
    derived = ("ingested_at", "day_bucket", "source_depth", "merged_into")
    given = {name: value for name, value in event.values().items() if name not in derived}
    return given if event.source_depth is None else {**given, "depth": event.source_depth}


@asynccontextmanager
async def filled(engine: str, events: Sequence[Event]) -> AsyncIterator[Database]:
    """A table of its own that holds just these events, for tests that read many.

    They are ingested into SQLite, and from there every item is put as it is: DynamoDB's emulator takes a fifth of the
    time for it that it takes for a transaction for each day.
    """
    async with empty_database("sqlite", ENTITIES) as source, empty_database(engine, ENTITIES) as database:
        assert await ingest(source, events) == len(events)
        for entity in ENTITIES:
            await database.put_many([Put(entity, item) async for item in source.scan(entity)])
        yield database


@asynccontextmanager
async def stored(engine: str, events: Sequence[Event]) -> AsyncIterator[Database]:
    """A table of its own that holds just these events."""
    async with empty_database(engine, ENTITIES) as database:
        assert await ingest(database, events) == len(events)
        yield database


def catalogue_of(database: Database, *, most_days_counted: int = 1000, fewest_days_for_facets: int = 0) -> Catalogue:
    """The catalogue in a table, with nothing remembered yet. It reads the facets even of a few days."""
    return Catalogue(database, most_days_counted=most_days_counted, fewest_days_for_facets=fewest_days_for_facets)


def ids(events: Sequence[Event]) -> list[str]:
    """The events' ids, in order."""
    return [event.event_id for event in events]
