"""An empty table on each engine, and time that a test moves."""

from collections.abc import AsyncIterator

import pytest

from graph.store.contract import Table
from tests.held_time import HeldTime
from tests.store.engines import empty_table
from tests.store.samples import SAMPLES


@pytest.fixture
def time() -> HeldTime:
    return HeldTime()


@pytest.fixture
async def table(engine: str) -> AsyncIterator[Table]:
    async with empty_table(engine, SAMPLES) as table:
        yield table
