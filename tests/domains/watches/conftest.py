"""A station on each engine."""

from collections.abc import AsyncIterator

import pytest

from tests.domains.watches.stations import Station, a_station


@pytest.fixture
async def station(engine: str) -> AsyncIterator[Station]:
    """An empty store with a source of earthquakes."""
    async with a_station(engine) as station:
        yield station
