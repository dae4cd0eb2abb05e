"""An empty database, and time that a test moves."""

from collections.abc import AsyncIterator

import pytest

from graph.store.contract import Database
from tests.held_time import HeldTime
from tests.runtime.leases import LEASE, POLL
from tests.store.engines import empty_database


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    """SQLite, unless a test names both: what a lease asks of an engine is a conditional update of one item."""
    chosen: str = getattr(request, "param", "sqlite")
    if chosen == "dynamodb":
        request.getfixturevalue("dynamodb_endpoint")
    return chosen


@pytest.fixture
def time() -> HeldTime:
    return HeldTime()


@pytest.fixture
async def database(engine: str) -> AsyncIterator[Database]:
    async with empty_database(engine, [LEASE, POLL]) as database:
        yield database
