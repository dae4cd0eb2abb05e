"""A station for the tests of ingest: an empty table on each engine, and a USGS to fetch from."""

from collections.abc import AsyncIterator

import pytest

from tests.domains.earthquakes.ingest.ingests import Station, a_station
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer


@pytest.fixture
async def station(engine: str, usgs: UsgsServer) -> AsyncIterator[Station]:
    async with a_station(engine, usgs) as station:
        yield station
