"""A station on SQLite for the rules of an ingest, and one on each engine for what an engine may do in its own way."""

from collections.abc import AsyncIterator

import pytest

from tests.domains.earthquakes.ingest.ingests import Station, a_station
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.held_time import HeldTime


@pytest.fixture
async def station(usgs: UsgsServer, time: HeldTime) -> AsyncIterator[Station]:
    """Its clock says `NOW` until the test moves `time`."""
    async with a_station("sqlite", usgs, time) as station:
        yield station


@pytest.fixture
async def any_station(engine: str, usgs: UsgsServer, time: HeldTime) -> AsyncIterator[Station]:
    """The same on each engine."""
    async with a_station(engine, usgs, time) as station:
        yield station
