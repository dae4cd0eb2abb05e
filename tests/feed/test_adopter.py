"""The background work of adoption, on DynamoDB: what another program writes is adopted once each."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

import pytest

from graph.core.clock import now_ms
from graph.core.services import Services
from graph.feed.adopter import (
    ATTEMPTS,
    LEASE_MS,
    LOOK_EVERY_S,
    NEVER,
    RESCAN_MS,
    SAVE_EVERY_MS,
    SCAN_EVERY_MS,
    Adopter,
    AdoptionMetrics,
)
from graph.feed.adoption import ITEMS_AT_ONCE, adopted_until
from graph.observability.metrics import Metrics
from graph.store.contract import Database, Put
from graph.work.tasks import BackgroundTasks
from tests.feed.foreign_notes import ADOPTION, ENTITIES, NOTE, NOTES, STATE, Desk, OtherProgram, a_note
from tests.held_time import HeldTime
from tests.processes import TIMEOUT_S
from tests.runtime.leases import CutOffDatabase
from tests.store.engines import UNHURRIED, create_tables, make_tables, open_dynamodb
from tests.store.fault_proxy import FaultProxy, proxying

Measured = Callable[[str, dict[str, str]], float | None]
"""The value of a metric, by its name and labels."""

LATER = "Items of other programs are adopted later than usual"
MOMENT_S = 0.001
FOLLOWING_AND_SCANNING = 2  # sleepers of a process without a lease, while its table has no stream
PAUSES = ATTEMPTS - 1  # of an item that the store refuses
LONG_PAUSE_S = 10.0  # longer than any of them


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
    ) -> AsyncIterator[Measured]:
        """A process that adopts for a desk. Without a lease, the clock may be moved far."""
        metrics, used = Metrics(), database or self.database
        others = used.other_writers
        assert others
        measured = AdoptionMetrics(metrics, [ADOPTION])
        adopter = Adopter([ADOPTION], Services([desk]), used, others, self.time, measured, sleep=self.time.sleep)
        async with BackgroundTasks() as tasks:
            tasks.start("adopting", adopter.run_forever if leased else adopter.adopt_forever)
            yield metrics.registry.get_sample_value

    async def until_kept(self, **expected: object) -> None:
        """Wait until the kept state has these attributes."""
        async with asyncio.timeout(TIMEOUT_S):
            while not expected.items() <= (await self.database.get(STATE.key_for("notes")) or {}).items():
                pass

    @property
    def scans(self) -> int:
        """The number of scans' pages."""
        return len(self.proxy.of("Scan"))


@asynccontextmanager
async def opened(emulator: str, monkeypatch: pytest.MonkeyPatch, *, stream: bool = True) -> AsyncIterator[Table]:
    prefix = make_tables(ENTITIES, stream=stream, endpoint=emulator)
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
async def streamless(dynamodb_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Table]:
    async with opened(dynamodb_endpoint, monkeypatch, stream=False) as table:
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
    assert table.scans == 1


async def test_the_time_until_which_all_items_are_adopted_is_kept_once_the_table_was_scanned(
    table: Table, desk: Desk
) -> None:
    assert await adopted_until(table.database, STATE, NOTES) == 0
    began, until = table.time.now, 0
    async with table.process(desk, leased=False), asyncio.timeout(TIMEOUT_S):
        await table.until_kept(scanDue=NEVER)
        while not until:
            table.time.move(SAVE_EVERY_MS / 1000)
            until = await adopted_until(table.database, STATE, NOTES)
    assert began <= until <= table.time.now


async def test_an_item_that_the_stream_does_not_have_is_adopted_by_the_scan(streamless: Table) -> None:
    await streamless.other.write("old")
    await create_tables(ENTITIES, prefix=streamless.prefix)
    desk = Desk(streamless.database)
    async with streamless.process(desk):
        await desk.until_adopted("old")
        await streamless.other.write("new")
        await desk.until_adopted("new")

    assert streamless.scans == 1


async def test_without_a_stream_the_scan_is_repeated_every_hour_and_that_is_logged_once(
    streamless: Table, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Desk(streamless.database)
    await streamless.other.write("note1")
    async with streamless.process(desk, leased=False):
        for number in (1, 2, 3):
            await desk.until_adopted(f"note{number}")
            await streamless.until_kept(scanDue=streamless.time.now + SCAN_EVERY_MS)
            assert streamless.scans == number
            await streamless.other.write(f"note{number + 1}")
            await streamless.time.all_asleep(FOLLOWING_AND_SCANNING)
            streamless.time.move(SCAN_EVERY_MS / 1000)
        await desk.until_adopted("note4")

    assert [record.getMessage() for record in caplog.records].count(LATER) == 1


async def test_a_process_that_begins_again_goes_on_at_the_kept_position_without_a_scan(
    table: Table, desk: Desk
) -> None:
    await table.other.write("one")
    async with table.process(desk):
        await desk.until_adopted("one")
        await table.until_kept(scanDue=NEVER)
    await table.other.write("two")
    async with table.process(desk):
        await desk.until_adopted("two")

    assert desk.adopted == ["one", "two"]
    assert table.scans == 1
    begun = [request["ShardIteratorType"] for request in table.proxy.of("GetShardIterator")]
    assert begun == ["TRIM_HORIZON", "AFTER_SEQUENCE_NUMBER"]


async def test_only_foreign_items_are_adopted_some_at_once(table: Table, desk: Desk) -> None:
    ids = [f"foreign{at:03}" for at in range(2 * ITEMS_AT_ONCE + 1)]
    await table.database.put_many([Put(NOTE, a_note(id_)) for id_ in ids])
    await table.database.put_many([Put(NOTE, a_note("own", change=7))])
    async with table.process(desk):
        await table.until_kept(scanDue=NEVER)

    assert sorted(desk.adopted) == ids
    assert max(map(len, desk.handed_over)) == ITEMS_AT_ONCE
    assert await table.database.get(NOTE.key_for("own")) == a_note("own", change=7)


async def test_one_of_two_processes_adopts_and_the_other_takes_over_when_it_dies(table: Table, desk: Desk) -> None:
    dying, waiting = CutOffDatabase(table.database), Desk(table.database)
    async with AsyncExitStack() as first, AsyncExitStack() as second:
        await first.enter_async_context(table.process(desk, dying))
        await table.other.write("one")
        await desk.until_adopted("one")
        await second.enter_async_context(table.process(waiting))
        await table.other.write("two")
        await desk.until_adopted("two")
        assert waiting.handed_over == []

        dying.cut_off = True  # so that it cannot give up its lease
        await first.aclose()
        await table.other.write("three")
        await table.time.all_asleep(1)
        table.time.move(LEASE_MS / 1000)
        await waiting.until_adopted("three")

    assert desk.adopted + waiting.adopted == ["one", "two", "three"]


async def test_an_item_that_another_program_replaces_is_adopted_again(table: Table, desk: Desk) -> None:
    async with table.process(desk):
        await table.other.write("one")
        await desk.until_adopted("one")
        await table.other.write("one")
        await desk.until_adopted("one", "one")

    assert await table.database.get(NOTE.key_for("one")) == a_note("one", change=1)


async def test_what_has_expired_or_was_deleted_is_not_adopted(table: Table, desk: Desk) -> None:
    await table.other.write("expired", ttl={"N": str(table.time.now // 1000 - 1)})
    await table.other.write("deleted")
    await table.other.delete("deleted")
    await table.other.write("last")
    async with table.process(desk):
        await desk.until_adopted("last")
        await table.until_kept(scanDue=NEVER)

    assert desk.handed_over == [["last"]]


async def test_what_the_service_wrote_itself_is_not_even_read(table: Table, desk: Desk) -> None:
    async with table.process(desk):
        await table.other.write("foreign1")
        await desk.until_adopted("foreign1")
        await table.until_kept(scanDue=NEVER)
        table.proxy.requests.clear()
        await table.database.put_many([Put(NOTE, a_note(f"own{at}", change=at + 1)) for at in range(20)])
        await table.other.write("foreign2")
        await desk.until_adopted("foreign2")

    reads = [request["RequestItems"][table.other.table]["Keys"] for request in table.proxy.of("BatchGetItem")]
    assert reads == [[{"pk": {"S": "NOTE#foreign2"}, "sk": {"S": "NOTE"}}]]


async def test_an_item_whose_key_is_not_valid_keeps_no_other_from_being_adopted(table: Table, desk: Desk) -> None:
    await table.other.write("x" * 41, "good")
    async with table.process(desk):
        await desk.until_adopted("good")
        await table.until_kept(scanDue=NEVER)

    assert desk.handed_over == [["good"]]


async def test_an_item_that_cannot_be_adopted_is_logged_counted_and_passed_over(
    table: Table, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.impossible = {"bad"}
    await table.other.write("a", "bad", "b")
    async with table.process(desk) as measured:
        await desk.until_adopted("a", "b")
        await table.until_kept(scanDue=NEVER)

    counts = [
        measured("quakegraph_adopted_items_total", {"entity": "NOTE", "outcome": outcome})
        for outcome in ("OK", "FAILED")
    ]
    assert counts == [2, 2]  # once from the stream, once from the scan
    logged = [record.__dict__["keywords"] for record in caplog.records if record.levelname == "WARNING"]
    assert [(each["key"], each["cause"]) for each in logged] == [(["bad"], "ValueError('no such note')")] * 2


async def test_an_item_that_the_store_refuses_holds_up_no_other_and_is_tried_again_the_next_day(
    table: Table, desk: Desk
) -> None:
    desk.refused = {"busy"}
    await table.other.write("a", "busy")
    async with table.process(desk, leased=False):
        for _ in range(3 * PAUSES):  # from the stream together, and alone; then from the scan
            await table.time.all_asleep()
            table.time.move(LONG_PAUSE_S)
        await table.until_kept(scanDue=table.time.now + RESCAN_MS)
        assert desk.adopted == ["a"]

        desk.refused = set()
        await table.time.all_asleep()
        table.time.move(RESCAN_MS / 1000)
        await desk.until_adopted("busy")
        await table.until_kept(scanDue=NEVER)

    assert table.scans == 2


async def test_nothing_is_passed_over_while_the_store_takes_no_write(table: Table, desk: Desk) -> None:
    network = CutOffDatabase(table.database)
    desk.refused = {"one"}
    await table.other.write("one")
    async with table.process(desk, network, leased=False) as measured:
        await table.time.all_asleep()
        network.cut_off = True
        for _ in range(PAUSES):
            await table.time.all_asleep()
            table.time.move(LONG_PAUSE_S)
        await table.time.all_asleep()
        network.cut_off, desk.refused = False, set()
        table.time.move(LOOK_EVERY_S)
        await desk.until_adopted("one")

        assert measured("quakegraph_adopted_items_total", {"entity": "NOTE", "outcome": "FAILED"}) == 0


async def test_the_lag_is_the_age_of_the_last_record(table: Table, desk: Desk) -> None:
    hour_s = 3600
    table.time.now = now_ms() + hour_s * 1000
    await table.other.write("one")
    async with table.process(desk) as measured:
        await desk.until_adopted("one")
        await table.until_kept(scanDue=NEVER)

    lag_s = measured("quakegraph_adoption_lag_seconds", {"table": "notes"})
    assert lag_s
    assert hour_s - TIMEOUT_S < lag_s <= hour_s + 60  # a record's time may be that of its minute
