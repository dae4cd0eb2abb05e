"""What a SQLite database knows of its file: how often it is checked, what counts as damage, and that locks stay."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest

from graph.core.errors import DatabaseUnavailable
from graph.domains.earthquakes.entities import ENTITIES, EVENT
from graph.store.contract import Put
from graph.store.entity import Key
from graph.store.sqlite import open_sqlite
from graph.store.sqlite.integrity import PAUSES_PER_CHECK, Integrity, is_damage
from graph.store.sqlite.opened_file import MAGIC, OpenedFile
from tests.domains.earthquakes.builders import NOON, an_event
from tests.faults.test_damage import emptied

PAGE_BYTES = 4096


@pytest.fixture
def store(tmp_path: Path, week_file: Path) -> Path:
    return Path(shutil.copy(week_file, tmp_path / "week.db"))


def ticking(step_s: float) -> Callable[[], float]:
    """A clock that goes on by so much whenever it is read."""
    return count(0.0, step_s).__next__


@contextmanager
def closing_all(integrity: Integrity) -> Iterator[Integrity]:
    try:
        yield integrity
    finally:
        integrity.stop()
        integrity.close()


async def checks(integrity: Integrity, pings: int, store: Path) -> int:
    """How many checks so many pings cause, each after the file has been written."""
    began = set()
    for number in range(pings):
        os.utime(store, ns=(number, number))
        await integrity.verify()
        if integrity._checking:
            began.add(integrity._checking)
            integrity._checking.join()
    return len(began)


async def test_checks_take_a_hundredth_of_the_time_at_most_and_none_where_nothing_was_written(store: Path) -> None:
    with closing_all(Integrity(store, ticking(1.0))) as integrity:  # a check reads the clock thrice, a ping once
        assert await checks(integrity, 10 * PAUSES_PER_CHECK, store) <= 10
    with closing_all(Integrity(store, ticking(0.0))) as integrity:
        assert await checks(integrity, 20, store) == 20
        before = integrity._checking
        for _ in range(20):
            await integrity.verify()
        assert integrity._checking is before


def test_a_check_can_be_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "large.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
        numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000)"
        db.execute(f"INSERT INTO t {numbers} SELECT i, hex(randomblob(50)) FROM n")  # noqa: S608
    db.close()
    integrity = Integrity(path)
    assert integrity._finding() is None
    integrity.stop()
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        integrity._finding()
    integrity._begin_check()  # none begins any more
    assert integrity._checking is None
    integrity.close()


DAMAGE = ["CORRUPT", "CORRUPT_INDEX", "NOTADB", "IOERR", "IOERR_READ", "IOERR_SHORT_READ"]
OTHERS = ["BUSY", "FULL", "INTERRUPT", "CANTOPEN", "READONLY", "CONSTRAINT_PRIMARYKEY"]


def test_only_errors_about_the_file_are_damage() -> None:
    for name in (*DAMAGE, *OTHERS):
        error = sqlite3.OperationalError()
        error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{name}")
        assert is_damage(error) is (name in DAMAGE), name
    assert not is_damage(sqlite3.ProgrammingError())
    assert not is_damage(None)


def header(pages: int, page_bytes: int = PAGE_BYTES) -> bytes:
    said = bytearray(100)
    said[: len(MAGIC)] = MAGIC
    said[16:18] = (1 if page_bytes == 65_536 else page_bytes).to_bytes(2)
    said[28:32] = pages.to_bytes(4)
    return bytes(said)


def test_a_look_tells_what_the_header_says(tmp_path: Path) -> None:
    files: list[tuple[bytes, int, str | None]] = [
        (header(1).ljust(PAGE_BYTES, b"x"), 0, None),
        (header(1000).ljust(1000 * PAGE_BYTES, b"x"), 0, None),
        (header(1000).ljust(500 * PAGE_BYTES, b"x"), 0, "has 2,048,000 bytes of 4,096,000"),
        (header(1000).ljust(500 * PAGE_BYTES, b"x"), 500 * (PAGE_BYTES + 24), None),  # amid a checkpoint
        (header(1000).ljust(500 * PAGE_BYTES, b"x"), 100 * (PAGE_BYTES + 24), "has 2,048,000 bytes of 4,096,000"),
        (header(100, 65_536).ljust(50 * 65_536, b"x"), 0, "has 3,276,800 bytes of 6,553,600"),
        (bytes(PAGE_BYTES), 0, "has no header of SQLite"),
        (MAGIC, 0, "has no header of SQLite"),
        (b"", 0, "has no header of SQLite"),
    ]
    for number, (content, log_bytes, fault) in enumerate(files):
        path = tmp_path / f"{number}.db"
        path.write_bytes(content)
        Path(f"{path}-wal").write_bytes(bytes(log_bytes))
        with closing(OpenedFile(path)) as file:
            assert file.fault() == (fault and f"{path} {fault}")


HOLDS = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
try:
    db.execute("PRAGMA journal_mode = DELETE")  # for which no other process may have the file open
    print("alone")
except sqlite3.OperationalError as error:
    print(error)
"""


def log_of(store: Path) -> int:
    """Which file the write-ahead log is: its inode."""
    return Path(f"{store}-wal").stat().st_ino


async def test_nothing_removes_the_log_of_a_file_that_was_emptied(store: Path) -> None:
    """SQLite removes it at the first connection that finds the file empty. The latest writes would be lost with it."""
    added = Put(EVENT, an_event("us1", NOON, 4.5).item)
    async with open_sqlite(store, ENTITIES) as database:
        await database.put(added)
        log = log_of(store)
        restore = emptied(store)

        with suppress(DatabaseUnavailable):
            _ = [item async for item in database.scan(EVENT)]  # on a thread
        with pytest.raises(DatabaseUnavailable):
            await database.ping()
        checked = Integrity(store)
        assert checked._finding() == "it is empty"
        checked.close()
        assert log_of(store) == log

        restore()
    async with open_sqlite(store, ENTITIES) as database:
        assert await database.get(Key(EVENT, ("us1",))) == added.item


async def test_one_database_that_closes_leaves_the_locks_of_another_in_place(store: Path) -> None:
    """POSIX drops a process's locks on a file with any descriptor of it that the process closes."""

    def other_process() -> str:
        asked = subprocess.run([sys.executable, "-c", HOLDS, store], capture_output=True, text=True, check=True)
        return asked.stdout.strip()

    held = dict(OpenedFile._shared_files)
    async with open_sqlite(store, ENTITIES) as database:
        async with open_sqlite(store, ENTITIES) as same:
            await same.ping()
        await database.ping()
        assert other_process() == "database is locked"
    assert other_process() == "alone"
    assert OpenedFile._shared_files == held
