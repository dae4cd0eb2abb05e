"""The connections of the threads that read, each of which has a cache."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.store.sqlite.threads import ReadConnection, Readers
from tests.processes import TIMEOUT_S


@pytest.fixture
def readers(tmp_path: Path) -> Iterator[Readers]:
    readers = Readers(
        [sqlite3.connect(tmp_path / "t.db", check_same_thread=False, factory=ReadConnection) for _ in range(2)]
    )
    yield readers
    readers.close()


async def test_reads_at_the_same_time_have_connections_of_their_own(readers: Readers) -> None:
    both = threading.Barrier(2, timeout=TIMEOUT_S)

    def read(db: sqlite3.Connection) -> int:
        both.wait()
        return id(db)

    for _ in range(3):
        assert len({*await asyncio.gather(readers.run(read), readers.run(read))}) == 2


async def test_reads_that_follow_one_another_fill_one_cache(readers: Readers) -> None:
    both = threading.Barrier(2, timeout=TIMEOUT_S)
    await asyncio.gather(*[readers.run(lambda db: both.wait()) for _ in range(2)])  # both threads have begun

    assert len({await readers.run(id) for _ in range(50)}) == 1
