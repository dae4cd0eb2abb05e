"""An empty database on each engine, and time that a test moves."""

from collections.abc import AsyncIterator

import pytest

from graph.store.contract import Database
from tests.held_time import HeldTime
from tests.runtime.leases import LEASE, POLL
from tests.store.engines import empty_database


@pytest.fixture
def time() -> HeldTime:
    return HeldTime()


@pytest.fixture
async def database(engine: str) -> AsyncIterator[Database]:
    async with empty_database(engine, [LEASE, POLL]) as database:
        yield database
