"""The threads of a SQLite file: reads share connections, cancelled ones end, a write happens whole or not at all."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from graph.store.sqlite.threads import ReadConnection, Readers, Writer
from tests.processes import TIMEOUT_S

FOR_EVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def connect(path: Path) -> ReadConnection:
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, factory=ReadConnection)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE IF NOT EXISTS t (i INTEGER)")
    return db


@pytest.fixture
def readers(tmp_path: Path) -> Iterator[Readers]:
    """One thread that reads, which must be idle in the end, or else this never closes it."""
    readers = Readers([connect(tmp_path / "t.db")])
    yield readers
    readers.close()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    writer = Writer(connect(tmp_path / "t.db"))
    yield writer
    writer.close()


async def cancelled(task: "asyncio.Task[object]") -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("statement", [FOR_EVER, "SELECT count(*) FROM (VALUES (1), (2), (3))"])
async def test_a_cancelled_read_ends_and_does_not_affect_the_next(readers: Readers, statement: str) -> None:
    begun = threading.Event()

    def read(db: sqlite3.Connection) -> None:
        begun.set()
        for _ in range(1000 if statement != FOR_EVER else 1):
            db.execute(statement).fetchone()
        db.execute(FOR_EVER).fetchone()

    for _ in range(3):
        task = asyncio.create_task(readers.run(read))
        await asyncio.to_thread(begun.wait, TIMEOUT_S)
        await cancelled(task)

        async with asyncio.timeout(TIMEOUT_S):
            assert await readers.run(lambda db: db.execute("SELECT 7").fetchone()[0]) == 7
        begun.clear()


async def test_a_cancelled_read_in_the_queue_never_begins(readers: Readers) -> None:
    begun: list[int] = []
    may_end = threading.Event()
    first = asyncio.create_task(readers.run(lambda db: may_end.wait(TIMEOUT_S)))
    waiting = asyncio.create_task(readers.run(lambda db: begun.append(1)))
    await asyncio.sleep(0)

    await cancelled(waiting)
    may_end.set()

    assert await first is True
    await readers.run(lambda db: None)
    assert begun == []


async def test_a_write_that_has_begun_is_committed_and_one_that_waits_never_begins(writer: Writer) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def write(db: sqlite3.Connection) -> None:
        begun.set()
        db.execute("INSERT INTO t VALUES (1)")
        may_end.wait(TIMEOUT_S)
        db.execute("INSERT INTO t VALUES (2)")

    under_way = asyncio.create_task(writer.run(write))
    await asyncio.to_thread(begun.wait, TIMEOUT_S)
    waiting = asyncio.create_task(writer.run(lambda db: db.execute("INSERT INTO t VALUES (3)")))
    await asyncio.sleep(0)

    await cancelled(waiting)
    await cancelled(under_way)
    may_end.set()

    found = await writer.run(lambda db: db.execute("SELECT i FROM t ORDER BY i").fetchall())
    assert found == [(1,), (2,)]


async def test_reads_at_the_same_time_have_connections_of_their_own_and_others_fill_one_cache(tmp_path: Path) -> None:
    both = threading.Barrier(2, timeout=TIMEOUT_S)

    def read(db: sqlite3.Connection) -> int:
        both.wait()
        return id(db)

    with closing(Readers([connect(tmp_path / "t.db") for _ in range(2)])) as readers:
        for _ in range(3):
            assert len({*await asyncio.gather(readers.run(read), readers.run(read))}) == 2

        assert len({await readers.run(id) for _ in range(50)}) == 1


@pytest.mark.parametrize("is_there", [[False], [True, False]], ids=["before", "during"])
async def test_a_write_to_a_file_that_is_removed_before_or_during_its_commit_fails(
    tmp_path: Path, is_there: list[bool]
) -> None:
    checks = iter(is_there)

    def check_place() -> None:
        if not next(checks, True):  # true when the writer is closed
            raise sqlite3.OperationalError

    writer = Writer(connect(tmp_path / "t.db"), check_place)
    with pytest.raises(sqlite3.OperationalError):
        await writer.run(lambda db: db.execute("INSERT INTO t VALUES (1)").rowcount)
    writer.close()
