"""A station for the tests of ingest, a broadcast for those of subscriptions, and time that a test moves."""

from collections.abc import AsyncIterator

import pytest

from graph.domains.earthquakes.live import EventBroadcast
from graph.store.contract import Database
from tests.domains.earthquakes.ingest.ingests import Station, a_station
from tests.domains.earthquakes.notices import broadcasting
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.entities import ENTITIES
from tests.held_time import HeldTime
from tests.store.engines import empty_database


@pytest.fixture
def time() -> HeldTime:
    return HeldTime()


@pytest.fixture
async def station(engine: str, usgs: UsgsServer) -> AsyncIterator[Station]:
    """An empty table on each engine, and a USGS to fetch from."""
    async with a_station(engine, usgs) as station:
        yield station


@pytest.fixture
async def database(engine: str, request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    """An empty database on each engine, which tells a broadcast of its changes at once."""
    async with empty_database(engine, ENTITIES, stream="broadcast" in request.fixturenames) as database:
        yield database


@pytest.fixture
async def broadcast(database: Database) -> AsyncIterator[EventBroadcast]:
    async with broadcasting(database) as broadcast:
        yield broadcast
