"""What a meter is told of a store: each call by its name and outcome, and how busy threads and connections are."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

from graph.store.contract import Database, Delete, Put, Update
from graph.store.dynamodb.retry_policy import CONNECTIONS
from graph.store.location import StoreLocation
from graph.store.meter import MeteredDatabase, PoolUse
from graph.store.sqlite.threads import ReadConnection, Readers, Writer
from graph.store.values import InvalidItem
from tests.store.engines import make_tables, open_dynamodb
from tests.store.fault_proxy import Answer, FaultProxy, Forward
from tests.store.one_entity import OneEntity
from tests.store.samples import BY_TIME, SAMPLE, key, sample, sks, timed


class Recorder:
    """A meter that keeps what a store reports."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []  # operation, outcome
        self.consumed: list[tuple[str, float]] = []
        self.broken: list[str] = []
        self.pools: dict[str, tuple[int, Callable[[], PoolUse]]] = {}

    @contextmanager
    def call(self, operation: str, tables: Iterable[str] = ()) -> Iterator[None]:
        """Keep the outcome of a call."""
        try:
            yield
        except BaseException as error:
            self.calls.append((operation, type(error).__name__))
            raise
        self.calls.append((operation, "OK"))

    def units(self, kind: Literal["read", "write"], count: float) -> None:
        """Keep consumed units."""
        self.consumed.append((kind, count))

    def broken_item(self, table: str) -> None:
        """Keep the table of a broken item."""
        self.broken.append(table)

    def pool(self, name: str, size: int, use: Callable[[], PoolUse]) -> None:
        """Keep a pool."""
        self.pools[name] = size, use


async def test_a_meter_changes_no_answer_and_names_each_call(table: OneEntity) -> None:
    recorder = Recorder()
    metered = OneEntity(MeteredDatabase(table.database, recorder), SAMPLE)

    assert await metered.put(sample("p", "1"))
    assert not await metered.put(sample("p", "1", n=9), if_absent=True)
    await metered.put_many([timed("t1", 1), timed("t2", 2)])
    assert await metered.update(Update(key("p", "1"), add={"n": 2}))
    assert await metered.transact([Put(SAMPLE, sample("p", "2"))]) == ()
    assert await metered.get(("p", "1")) == {**sample("p", "1"), "n": 2}
    assert await metered.get_many([("p", "1"), ("p", "3")], attributes=["n"]) == {("p", "1"): {"n": 2}}
    assert sks((await metered.query(SAMPLE.table.primary, "p", limit=2)).items) == ["1", "2"]
    page = await metered.query_many(BY_TIME, [timed("t1", 1)["day"]], between=(2, 3))
    assert sks(page.items) == ["t2"]
    assert await metered.count(BY_TIME, [timed("t1", 1)["day"]]) == 2
    assert sorted([item["sk"] async for item in metered.scan()]) == ["1", "2", "t1", "t2"]
    assert await metered.delete(Delete(key("p", "1")))
    await metered.ping()
    async with aclosing(metered.changes()) as rings:
        await anext(rings)

    told = ["put", "put", "put_many", "update", "transact", "get", "get_many", "query", "query", "count", "scan"]
    told += ["delete", "ping"]
    assert recorder.calls == [(operation, "OK") for operation in told]
    assert metered.transaction_limit == table.transaction_limit
    assert metered.database.is_remote == table.database.is_remote
    assert metered.database.other_writers == table.database.other_writers
    assert metered.database.in_order == table.database.in_order
    writes = {"put", "update", "delete"}  # which are transactions, unless an engine has another way
    waiting = {"changes"}  # to wait for a change takes as long as it takes
    assert set(told) | waiting == Database.__abstractmethods__ | writes


async def test_the_error_of_a_call_is_its_outcome(table: OneEntity) -> None:
    recorder = Recorder()
    metered = OneEntity(MeteredDatabase(table.database, recorder), SAMPLE)

    with pytest.raises(InvalidItem):
        await metered.put({"pk": ""})
    calling = asyncio.create_task(metered.put({"pk": "p", "sk": "1"}))
    await asyncio.sleep(0)  # it is under way now
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    assert recorder.calls == [("put", "InvalidItem"), ("put", "CancelledError")]


async def test_a_database_opened_with_a_meter_is_metered(tmp_path: Path) -> None:
    recorder = Recorder()
    async with StoreLocation("sqlite", str(tmp_path / "table.db")).open([SAMPLE], meter=recorder) as database:
        await database.ping()

        assert recorder.calls == [("ping", "OK")]
        assert {name: size for name, (size, _) in recorder.pools.items()} == {"readers": 2, "writer": 1}
        assert recorder.pools["readers"][1]() == PoolUse(0, 0)


async def test_queues_of_readers_and_writer_are_metrics() -> None:
    readers, writer = Readers([memory(), memory()]), Writer(memory())
    going_on = threading.Event()

    def wait(db: sqlite3.Connection) -> None:
        going_on.wait()

    jobs = [asyncio.create_task(threads.run(wait)) for threads in (readers, writer) for _ in range(5)]
    await asyncio.sleep(0)  # all of them are handed over now
    assert (readers.use(), writer.use()) == (PoolUse(2, 3), PoolUse(1, 4))

    jobs[4].cancel()  # of the readers' the last, which waits
    await asyncio.gather(jobs[4], return_exceptions=True)
    assert readers.use() == PoolUse(2, 2)

    going_on.set()
    await asyncio.gather(*jobs, return_exceptions=True)
    assert (readers.use(), writer.use()) == (PoolUse(0, 0), PoolUse(0, 0))
    readers.close()
    writer.close()


def memory() -> ReadConnection:
    """A connection that one thread after the other may use."""
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=ReadConnection)


async def test_connections_to_dynamodb_and_waiting_requests_are_metered(
    fault_proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder, going_on, arrived = Recorder(), asyncio.Event(), asyncio.Semaphore(0)

    async def hold(operation: str, request: dict[str, Any], forward: Forward) -> Answer | None:
        arrived.release()
        await going_on.wait()
        return await forward(request)

    prefix = make_tables([SAMPLE])
    monkeypatch.setenv("AWS_ENDPOINT_URL", fault_proxy.url)
    async with open_dynamodb([SAMPLE], prefix=prefix, meter=recorder) as database:
        size, use = recorder.pools["connections"]
        assert (size, use()) == (CONNECTIONS, PoolUse(0, 0))

        fault_proxy.rule = hold
        reads = [asyncio.create_task(database.get(key("p", "s"))) for _ in range(CONNECTIONS + 3)]
        for _ in range(CONNECTIONS):
            await arrived.acquire()
        assert use() == PoolUse(CONNECTIONS, 3)

        going_on.set()
        assert await asyncio.gather(*reads) == [None] * len(reads)
        assert use() == PoolUse(0, 0)
