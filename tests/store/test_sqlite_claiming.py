"""A SQLite file belongs to the service and its owner alone, as long as it is at its path."""

import shutil
import sqlite3
import stat
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

import pytest

from graph.core.errors import DatabaseUnavailable
from graph.store.contract import Put
from graph.store.sqlite import open_sqlite
from graph.store.sqlite.claiming import APPLICATION_ID
from graph.store.sqlite.opened_file import LEAST_FREE_BYTES, OpenedFile
from tests.faults.test_sqlite import disk
from tests.store.samples import PERSON

ANNA = {"person": "anna", "day": "20260101", "seenMs": 1}


async def opened(path: Path) -> None:
    async with open_sqlite(path, [PERSON]) as database:
        await database.put(Put(PERSON, ANNA))


def modes_in(folder: Path) -> dict[str, int]:
    """The permissions of the files in a folder."""
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


async def test_only_the_owner_of_a_new_file_can_read_it_and_what_is_beside_it(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path / "new.db", [PERSON]) as database:
        await database.put(Put(PERSON, ANNA))
        modes = modes_in(tmp_path)

    assert modes == dict.fromkeys(("new.db", "new.db-wal", "new.db-shm"), 0o600)


@pytest.mark.parametrize("statements", [["CREATE TABLE bookmarks (url)"], ["PRAGMA application_id = 7"]])
async def test_a_file_of_another_application_is_refused_and_stays_as_it_is(
    tmp_path: Path, statements: Collection[str]
) -> None:
    path = tmp_path / "others.db"
    with closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(statement)
    before = path.read_bytes()

    with pytest.raises(DatabaseUnavailable) as refused:
        await opened(path)

    assert "another application's database" in refused.value.detail
    assert path.read_bytes() == before
    assert modes_in(tmp_path).keys() == {path.name}


async def test_a_file_is_marked_and_one_that_others_may_open_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "some.db"
    await opened(path)
    path.chmod(0o644)

    await opened(path)

    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert [record.getMessage() for record in caplog.records] == [
        "Others than its owner may open the store's file: run `chmod 600`"
    ]


@pytest.mark.parametrize("is_replaced", [False, True])
async def test_a_write_to_a_file_that_was_removed_is_not_acknowledged(tmp_path: Path, is_replaced: bool) -> None:
    path = tmp_path / "lost.db"
    async with open_sqlite(path, [PERSON]) as database:
        await database.put(Put(PERSON, ANNA))
        if is_replaced:
            shutil.copy(path, tmp_path / "copy")
        path.unlink()
        if is_replaced:
            (tmp_path / "copy").rename(path)

        with pytest.raises(DatabaseUnavailable):
            await database.put(Put(PERSON, {**ANNA, "person": "ben"}))
        assert await database.get(PERSON.key_for("anna")) == ANNA
        assert await database.get(PERSON.key_for("ben")) is None


@pytest.mark.needs("a tmpfs")
def test_a_full_disk_is_a_fault_of_the_file(tmp_path: Path) -> None:
    with disk(tmp_path / "disk", megabytes=4) as folder:
        path = folder / "full.db"
        with closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE t (x)")
            with closing(OpenedFile(path)) as file:
                assert file.fault() is None
                (folder / "filler").write_bytes(bytes(4 * 2**20 - LEAST_FREE_BYTES))
                assert "is full" in (file.fault() or "")
