"""Stations for the tests of ingest, a broadcast for those of subscriptions, and time that a test moves."""

from collections.abc import AsyncIterator

import pytest

from graph.domains.earthquakes.revisions.live import EventBroadcast
from graph.store.contract import Database
from tests.domains.earthquakes.ingest.ingests import Station, a_station
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.entities import ENTITIES
from tests.held_time import HeldTime
from tests.store.engines import empty_database


@pytest.fixture
def time() -> HeldTime:
    return HeldTime()


@pytest.fixture
async def station(usgs: UsgsServer, time: HeldTime) -> AsyncIterator[Station]:
    """For the rules of an ingest, on SQLite. Its clock says `NOW` until the test moves `time`."""
    async with a_station("sqlite", usgs, time) as station:
        yield station


@pytest.fixture
async def any_station(engine: str, usgs: UsgsServer, time: HeldTime) -> AsyncIterator[Station]:
    """For what an engine may do in its own way, on each engine."""
    async with a_station(engine, usgs, time) as station:
        yield station


@pytest.fixture
async def database(engine: str, request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    """An empty database on each engine, which tells a broadcast of its changes at once."""
    async with empty_database(engine, ENTITIES, stream="broadcast" in request.fixturenames) as database:
        yield database


@pytest.fixture
async def broadcast(database: Database) -> AsyncIterator[EventBroadcast]:
    """A broadcast of what is stored, whose subscriptions must all end before it does."""
    broadcast = EventBroadcast(database)
    yield broadcast
    await broadcast.close()
    assert broadcast.subscriptions == 0
