"""Empty tables for the contract's tests, each once on every engine, and a fault proxy before DynamoDB's."""

from collections.abc import AsyncIterator

import pytest

from tests.store.engines import empty_database
from tests.store.fault_proxy import FaultProxy, proxying
from tests.store.one_entity import OneEntity
from tests.store.samples import READING, SAMPLE, HeldClock


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
async def table(engine: str, clock: HeldClock) -> AsyncIterator[OneEntity]:
    async with empty_database(engine, [SAMPLE], clock=clock) as database:
        yield OneEntity(database, SAMPLE)


@pytest.fixture
async def readings(engine: str) -> AsyncIterator[OneEntity]:
    async with empty_database(engine, [READING]) as database:
        yield OneEntity(database, READING)


@pytest.fixture
async def fault_proxy(dynamodb_endpoint: str) -> AsyncIterator[FaultProxy]:
    async with proxying(dynamodb_endpoint) as fault_proxy:
        yield fault_proxy


@pytest.fixture
def pauses() -> list[float]:
    """The pauses that the engine made, none of which took any time."""
    return []
