"""Empty tables for the contract's tests, each once on every engine, and a fault proxy before DynamoDB's."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from tests.held_time import Pauses
from tests.store.engines import UNHURRIED, empty_database, make_tables, open_dynamodb
from tests.store.fault_proxy import FaultProxy, Proxied, proxying
from tests.store.one_entity import OneEntity
from tests.store.samples import READING, SAMPLE, HeldClock


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
async def proxied(fault_proxy: FaultProxy, pauses: Pauses, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Proxied]:
    policy = replace(UNHURRIED, attempts=2, rounds=4, sleep=pauses.sleep)
    prefix = make_tables([SAMPLE])
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    async with open_dynamodb([SAMPLE], prefix=prefix, retry_policy=policy) as database:
        yield Proxied(database, SAMPLE, fault_proxy, pauses)


@pytest.fixture
def pauses() -> Pauses:
    """The pauses that the engine made, none of which took any time."""
    return Pauses()
