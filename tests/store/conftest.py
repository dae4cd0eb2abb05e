"""Empty tables for the contract's tests, each once on every engine, and a fault proxy before DynamoDB's."""

from collections.abc import AsyncIterator

import pytest

from graph.store.contract import Table
from tests.store.engines import empty_table
from tests.store.fault_proxy import FaultProxy, proxying
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


@pytest.fixture
async def fault_proxy(dynamodb_endpoint: str) -> AsyncIterator[FaultProxy]:
    async with proxying(dynamodb_endpoint) as fault_proxy:
        yield fault_proxy


@pytest.fixture
def pauses() -> list[float]:
    """The pauses that the engine made, none of which took any time."""
    return []
