"""The background work of adoption, on DynamoDB: what another program writes is adopted once each."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from uuid import uuid4

import pytest

from graph.core.services import Services
from graph.feed.adopter import (
    NEVER,
    SCAN_EVERY_MS,
    Adopter,
    AdoptionMetrics,
)
from graph.observability.metrics import Metrics
from graph.store.contract import Database
from graph.store.entity import Item
from graph.work.tasks import BackgroundTasks
from tests.feed.foreign_notes import ADOPTION, ENTITIES, NOTE, STATE, Desk, OtherProgram, a_note
from tests.held_time import HeldTime
from tests.processes import TIMEOUT_S
from tests.store.engines import UNHURRIED, create_tables, open_dynamodb
from tests.store.fault_proxy import FaultProxy, proxying

MOMENT_S = 0.001
FOLLOWING_AND_SCANNING = 2  # sleepers of a process without a lease, while its table has no stream


@pytest.fixture(scope="module")
def dynamodb_endpoint(administered_dynamodb: str) -> str:
    return administered_dynamodb


@dataclass
class Table:
    """A table that another program and the service write. The engine's pauses are short."""

    prefix: str
    database: Database
    other: OtherProgram
    proxy: FaultProxy
    time: HeldTime

    @asynccontextmanager
    async def process(
        self, desk: Desk, database: Database | None = None, *, leased: bool = True
    ) -> AsyncIterator[AdoptionMetrics]:
        """A process that adopts for a desk. Without a lease, the clock may be moved far."""
        metrics = AdoptionMetrics(Metrics())
        found = database or self.database
        others = found.other_writers
        assert others
        adopter = Adopter([ADOPTION], Services([desk]), found, others, self.time, metrics, sleep=self.time.sleep)
        async with BackgroundTasks() as tasks:
            tasks.start("adopting", adopter.run_forever if leased else adopter.adopt_forever)
            yield metrics

    async def state(self) -> Item:
        """The kept state."""
        return await self.database.get(STATE.key_for("notes")) or {}

    async def until_kept(self, **expected: object) -> None:
        """Wait until the state has these attributes."""
        async with asyncio.timeout(TIMEOUT_S):
            while not expected.items() <= (await self.state()).items():
                pass

    def scans(self) -> int:
        return len(self.proxy.of("Scan"))


@asynccontextmanager
async def opened(emulator: str, monkeypatch: pytest.MonkeyPatch, *, stream: bool = True) -> AsyncIterator[Table]:
    prefix = f"adopted-{uuid4().hex}-"
    await create_tables(ENTITIES, prefix=prefix, stream=stream)
    time, other = HeldTime(), OtherProgram(prefix)
    policy = replace(UNHURRIED, sleep=lambda seconds: asyncio.sleep(MOMENT_S))
    async with proxying(emulator) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
        async with open_dynamodb(ENTITIES, prefix=prefix, clock=time, retry_policy=policy) as database:
            yield Table(prefix, database, other, proxy, time)
    other.close()


@pytest.fixture
async def table(dynamodb_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Table]:
    async with opened(dynamodb_endpoint, monkeypatch) as table:
        yield table


@pytest.fixture
def desk(table: Table) -> Desk:
    return Desk(table.database)


async def test_what_was_there_and_what_is_written_later_is_adopted_once_each(table: Table, desk: Desk) -> None:
    await table.other.write("before")
    async with table.process(desk):
        await desk.until_adopted("before")
        await table.until_kept(scanDue=NEVER)
        await table.other.write("after")
        await desk.until_adopted("after")

    assert desk.handed_over == [["before"], ["after"]]
    assert await table.database.get(NOTE.key_for("after")) == a_note("after", change=1)
    assert table.scans() == 1


async def test_an_item_that_the_stream_does_not_have_is_adopted_by_the_scan(
    dynamodb_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(dynamodb_endpoint, monkeypatch, stream=False) as table:
        await table.other.write("old")
        await create_tables(ENTITIES, prefix=table.prefix)
        desk = Desk(table.database)
        async with table.process(desk):
            await desk.until_adopted("old")
            await table.other.write("new")
            await desk.until_adopted("new")

        assert table.scans() == 1


async def test_without_a_stream_the_scan_is_repeated_every_hour_and_that_is_logged_once(
    dynamodb_endpoint: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(dynamodb_endpoint, monkeypatch, stream=False) as table:
        desk = Desk(table.database)
        await table.other.write("note1")
        async with table.process(desk, leased=False):
            for number in (1, 2, 3):
                await desk.until_adopted(f"note{number}")
                await table.until_kept(scanDue=table.time.now + SCAN_EVERY_MS)
                assert table.scans() == number
                await table.other.write(f"note{number + 1}")
                await table.time.all_asleep(FOLLOWING_AND_SCANNING)
                table.time.move(SCAN_EVERY_MS / 1000)

    assert desk.handed_over == [["note1"], ["note2"], ["note3"]]
    assert [record.getMessage() for record in caplog.records].count(LATER) == 1


LATER = "Items of other programs are adopted later than usual"
