"""A read of the event loop's own: short ones are done there, and no sum of them holds it up."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from graph.store.conditions import HasText, SameText
from graph.store.contract import Put
from graph.store.sqlite import open_sqlite
from graph.store.sqlite.folded import folded_test
from graph.store.sqlite.projection import projection
from graph.store.sqlite.query import fetch
from graph.store.sqlite.short_reads import UNITS_PER_ITERATION, VALUES_PER_UNIT, Lengthy, ShortReads
from graph.store.sqlite.threads import VALUES_PER_FOLDING, ReadConnection
from tests.store.one_entity import OneEntity
from tests.store.samples import BY_TIME, SAMPLE, sks, timed

FOR_EVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[ReadConnection]:
    with closing(sqlite3.connect(tmp_path / "any.db", factory=ReadConnection)) as db:
        yield db


@pytest.fixture
def short(db: ReadConnection) -> ShortReads:
    return ShortReads(db)


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[OneEntity]:
    async with open_sqlite(tmp_path / "table.db", [SAMPLE]) as database:
        yield OneEntity(database, SAMPLE)


def one(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT 1").fetchone()[0])


Threads = Callable[[], set[str]]


@pytest.fixture
def threads() -> Threads:
    """The reading threads that were begun since the test was."""
    others = set(threading.enumerate())
    return lambda: {
        thread.name
        for thread in threading.enumerate()
        if thread not in others and thread.name.startswith("sqlite-reader")
    }


async def test_a_read_without_an_end_is_interrupted(short: ShortReads) -> None:
    with pytest.raises(Lengthy):
        short.read(lambda db: db.execute(FOR_EVER).fetchone())

    await asyncio.sleep(0)
    assert short.read(one) == 1


def test_an_interrupted_statement_is_compiled_only_once_more(db: ReadConnection) -> None:
    db.execute("CREATE TABLE numbers (number)")
    db.executemany("INSERT INTO numbers VALUES (?)", [(number,) for number in range(1000)])
    compiled = list[str | None]()

    def note_compilation(action: int, table: str | None, *_: str | None) -> int:
        compiled.append(table)
        return sqlite3.SQLITE_OK

    db.set_authorizer(note_compilation)

    def compilations() -> int:
        compiled.clear()
        assert len(fetch(db, projection(SAMPLE, frozenset()), "SELECT number FROM numbers", ())) == 1000
        return compiled.count("numbers")

    once = compilations()
    assert once > 0
    assert compilations() == 0
    db.set_progress_handler(lambda: True, 1000)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        compilations()
    db.set_progress_handler(None, 0)
    assert compilations() == once
    assert compilations() == 0


async def test_all_reads_of_an_iteration_share_one_budget(short: ShortReads) -> None:
    def read_for_long() -> int:
        for done in range(2 * UNITS_PER_ITERATION):
            try:
                short.read(one)
            except Lengthy:
                return done
        return 2 * UNITS_PER_ITERATION

    assert UNITS_PER_ITERATION * 0.9 < read_for_long() <= UNITS_PER_ITERATION
    assert read_for_long() == 0

    await asyncio.sleep(0)
    assert read_for_long() > UNITS_PER_ITERATION * 0.9, "the next turn has another"


async def test_values_that_are_read_take_from_the_same_budget(short: ShortReads) -> None:
    """However few steps SQLite takes to find them."""
    half = VALUES_PER_UNIT * UNITS_PER_ITERATION // 2

    def decode(db: ReadConnection) -> int:
        db.before_decoding(half)
        return half

    assert short.read(decode) == half
    with pytest.raises(Lengthy):
        short.read(decode)

    await asyncio.sleep(0)
    assert short.read(decode) == half


@pytest.mark.parametrize("condition", [HasText("place", "a h"), SameText("place", ("pahala hawaii", "ā"))])
def test_only_texts_that_sqlite_cannot_fold_are_folded_in_python(
    db: ReadConnection, condition: HasText | SameText
) -> None:
    db.execute("CREATE TABLE places (place TEXT)")
    places = ["Pahala_Hawaii", "PAHALA HAWAII", "Pahala", "Pāhala Hawaii", "a\x00b", None]
    db.executemany("INSERT INTO places VALUES (?)", [(place,) for place in places])
    folded = list[int]()
    db.before_decoding = folded.append
    sql, values = folded_test("place", condition)

    assert db.execute(f"SELECT count(*) FROM places WHERE {sql}", values).fetchone() == (3,)  # noqa: S608

    assert folded == [len("Pāhala Hawaii") + VALUES_PER_FOLDING, len("a\x00b") + VALUES_PER_FOLDING]


async def test_texts_that_python_folds_take_from_the_budget(table: OneEntity, threads: Threads) -> None:
    await table.put_many([timed(f"t{number}", number, kind="a" * 400) for number in range(200)])
    assert await table.count(BY_TIME, ["mon"], where=HasText("kind", "b")) == 0
    assert threads() == set()

    await table.put_many([timed(f"t{number}", number, kind="ā" * 400) for number in range(200)])
    assert await table.count(BY_TIME, ["mon"], where=HasText("kind", "b")) == 0
    assert threads() != set()


async def test_only_long_reads_need_a_thread_and_no_writer_blocks_one(
    tmp_path: Path, table: OneEntity, threads: Threads
) -> None:
    await table.put_many([timed(f"t{number:04}", number) for number in range(9000)])
    with closing(sqlite3.connect(tmp_path / "table.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        page = await table.query(BY_TIME, "mon", limit=1000, forward=False)
        assert sks(page.items) == [f"t{number:04}" for number in range(8999, 7999, -1)]
        assert await table.get(("p", "t0001")) is not None
    assert threads() == set()

    assert len((await table.query(BY_TIME, "mon")).items) == 9000
    assert threads() != set()


async def test_a_revision_is_the_same_until_anybody_writes(tmp_path: Path, table: OneEntity) -> None:
    revisions = [await table.database.revision(), await table.database.revision()]
    await table.put(timed("t1", 1))
    revisions.append(await table.database.revision())
    async with open_sqlite(tmp_path / "table.db", [SAMPLE]) as other:
        await other.put(Put(SAMPLE, timed("t2", 2)))
    revisions += [await table.database.revision(), await table.database.revision()]

    assert None not in revisions
    first, second, third, fourth, fifth = revisions
    assert (first, fourth) == (second, fifth)
    assert len({first, third, fourth}) == 3


async def test_a_partition_of_many_is_searched_by_its_rank(tmp_path: Path, table: OneEntity) -> None:
    """SQLite has no statistics: which index it takes is told by the statement, and seen in its plan."""
    db = sqlite3.connect(tmp_path / "table.db")
    indexes = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
    assert {"samples.SAMPLE.ByTime", "samples.SAMPLE.ByTime.mag"} <= indexes
    statement = (
        'EXPLAIN QUERY PLAN SELECT sk FROM "samples.SAMPLE" INDEXED BY "samples.SAMPLE.ByTime.mag" '
        "WHERE day IN (SELECT value FROM json_each(?)) AND at IS NOT NULL AND mag >= ?"
    )
    assert "(day=? AND mag>?)" in db.execute(statement, ("[]", 4)).fetchone()[3]
    db.close()


async def test_the_loop_closes_its_own_connection_and_a_later_read_only_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite's library crashes where one thread closes a connection and another one reads by it."""
    closed_by: list[int] = []
    close = ShortReads.close

    def close_and_record(short: ShortReads) -> None:
        closed_by.append(threading.get_ident())
        close(short)

    monkeypatch.setattr(ShortReads, "close", close_and_record)
    reads = 0

    async def read_on(table: OneEntity) -> None:
        nonlocal reads
        while True:
            await table.query(BY_TIME, "mon")
            reads += 1
            await asyncio.sleep(0)

    async with open_sqlite(tmp_path / "own.db", [SAMPLE]) as database:
        table = OneEntity(database, SAMPLE)
        await table.put_many([timed(f"t{number}", number) for number in range(100)])
        reading = asyncio.create_task(read_on(table))
        await asyncio.sleep(0)
    with pytest.raises(RuntimeError):
        await reading

    assert closed_by == [threading.get_ident()]
    assert reads > 0
