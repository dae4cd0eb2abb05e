"""Empty tables for the contract's tests, each once on every engine."""

from collections.abc import AsyncIterator

import pytest

from graph.store.contract import Table
from tests.store.engines import empty_table
from tests.store.samples import READINGS, SAMPLES, HeldClock


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
async def table(engine: str, clock: HeldClock) -> AsyncIterator[Table]:
    async with empty_table(engine, SAMPLES, clock=clock) as table:
        yield table


@pytest.fixture
async def readings(engine: str) -> AsyncIterator[Table]:
    async with empty_table(engine, READINGS) as table:
        yield table
