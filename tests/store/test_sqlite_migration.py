"""A file of version 0.1 is migrated at its first opening, whatever interrupts it; one of today gains what it lacks."""

import asyncio
import logging
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from graph.core.errors import DatabaseUnavailable
from graph.store.attributes import Real, Text
from graph.store.contract import Database, Put
from graph.store.entity import Entity, Item
from graph.store.query import Query
from graph.store.sqlite import migration, open_sqlite
from graph.store.sqlite.migration import LAYOUT, Progress
from tests.processes import TIMEOUT_S
from tests.store.samples import BY_DAY, PEOPLE, PERSON, TOTALS, VISIT
from tests.store.version_0_1 import old_item, write

EVERY = (PERSON, VISIT, TOTALS)

OPENS = """
import asyncio, os, resource, signal, sys
from graph.observability.logs import configure_logging
from graph.store.sqlite import migration, open_sqlite
from tests.store.samples import PERSON, TOTALS, VISIT

path, point = sys.argv[1:3]
migration.ROWS_PER_BATCH = 100
configure_logging("info", "console", sys.stdout)

def dying(kind, name, calls, after):
    original = getattr(kind, name)
    def call(*arguments, **keywords):
        calls[0] -= 1
        if calls[0] == 0 and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = original(*arguments, **keywords)
        if calls[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer
    setattr(kind, name, call)

if point == "no room":
    shrink = migration.Migration._shrink
    def without_room(self):
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        shrink(self)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    migration.Migration._shrink = without_room
elif point != "none":
    name, calls, after = point.split(",")
    kind = {"add": migration.Progress}.get(name, migration if name == "ensure" else migration.Migration)
    dying(kind, name, [int(calls)], after == "after")

async def main():
    async with open_sqlite(path, [PERSON, VISIT, TOTALS], busy_s=60):
        pass

asyncio.run(main())
"""


def people(number: int) -> list[Item]:
    return [
        {"person": f"p{n:05}", "day": f"2026010{n % 9}", "seenMs": n, "score": n / 7, "tags": [n, {"n": str(n)}]}
        for n in range(number)
    ]


def visits(number: int) -> list[Item]:
    return [{"person": f"p{n % 50:05}", "timestamp": n * 1000, "requestId": f"r{n}"} for n in range(number)]


def old_items() -> Iterable[Item]:
    for person, visit in zip(people(1000), visits(1000), strict=True):
        yield old_item(PERSON, person)
        yield old_item(VISIT, visit)
    yield old_item(TOTALS, {"visits": 1000, "others": {"a": None}})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "old.db"
    write(path, PEOPLE, old_items())
    return path


async def content(database: Database) -> dict[Entity, list[Item]]:
    return {entity: sorted([item async for item in database.scan(entity)], key=repr) for entity in EVERY}


EXPECTED = {
    PERSON: sorted(people(1000), key=repr),
    VISIT: sorted(visits(1000), key=repr),
    TOTALS: [{"visits": 1000, "others": {"a": None}}],
}


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as db:
        return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def indexes(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as db:
        return dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index'"))


def layout(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def files(path: Path) -> set[str]:
    return {each.name for each in path.parent.iterdir()}


def size(path: Path) -> int:
    return path.stat().st_size


def opening(path: Path, point: str = "none") -> subprocess.Popen[str]:
    """A process that opens the file."""
    return subprocess.Popen([sys.executable, "-c", OPENS, path, point], stdout=subprocess.PIPE, text=True)


async def test_every_item_moves_to_the_table_of_its_entity(path: Path) -> None:
    async with open_sqlite(path, EVERY) as database:
        assert await content(database) == EXPECTED
        page = await database.query(Query(entity=PERSON, index=BY_DAY, partitions=[("20260101",)], limit=2))
        assert page.items == [people(20)[1], people(20)[10]]

    assert tables(path) == {"people-{env}.PERSON", "people-{env}.VISIT", "people-{env}.TOTALS"}
    assert layout(path) == LAYOUT
    assert files(path) == {"old.db"}


async def test_a_migrated_file_is_as_one_that_was_written_anew(path: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    async with open_sqlite(path, EVERY), open_sqlite(new, EVERY) as database:
        await database.put_many([Put(entity, item) for entity, items in EXPECTED.items() for item in items])

    assert (tables(path), indexes(path), layout(path)) == (tables(new), indexes(new), layout(new))
    assert size(path) <= size(new)


@pytest.mark.parametrize(
    "point",
    [
        "ensure,1,before",
        "_drop_indexes,1,after",
        "_insert,1,before",
        "_insert,3,after",  # inside the transaction of a batch
        "add,1,before",
        "add,7,after",
        "add,21,after",
        "ensure,1,after",
        "_shrink,1,before",
        "_shrink,1,after",
    ],
)
async def test_a_process_that_is_killed_leaves_a_file_that_the_next_one_finishes(path: Path, point: str) -> None:
    with opening(path, point) as killed:
        assert killed.wait(TIMEOUT_S) == -signal.SIGKILL

    async with open_sqlite(path, EVERY) as database:
        assert await content(database) == EXPECTED
    assert tables(path) == {"people-{env}.PERSON", "people-{env}.VISIT", "people-{env}.TOTALS"}
    assert layout(path) == LAYOUT
    with closing(sqlite3.connect(path)) as db:
        free, pages = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_count"))
    assert free * migration.WORTH_SHRINKING < pages


async def test_one_of_several_processes_migrates_a_file(path: Path) -> None:
    processes = [opening(path) for _ in range(3)]
    said = [process.communicate(timeout=TIMEOUT_S)[0] for process in processes]

    assert [process.returncode for process in processes] == [0, 0, 0]
    assert sum("was migrated" in each for each in said) == 1
    async with open_sqlite(path, EVERY) as database:
        assert await content(database) == EXPECTED


async def test_without_room_to_shrink_the_file_is_served_as_it_is(path: Path) -> None:
    with opening(path, "no room") as process:
        said = process.communicate(timeout=TIMEOUT_S)[0]

    assert process.returncode == 0
    assert "could not be made smaller" in said
    assert layout(path) == LAYOUT
    async with open_sqlite(path, EVERY) as database:
        assert await content(database) == EXPECTED


async def test_an_opening_that_is_cancelled_ends_the_migration(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "ROWS_PER_BATCH", 10)
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    add = Progress.add

    def add_and_notify(progress: Progress, rows: int) -> None:
        add(progress, rows)
        loop.call_soon_threadsafe(begun.set)

    monkeypatch.setattr(Progress, "add", add_and_notify)

    async def opened() -> None:
        async with open_sqlite(path, EVERY):
            pass

    task = asyncio.create_task(opened())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert layout(path) < LAYOUT
    async with open_sqlite(path, EVERY) as database:
        assert await content(database) == EXPECTED


def messages(caplog: pytest.LogCaptureFixture, level: int) -> list[tuple[str, dict[str, Any]]]:
    return [(r.getMessage(), vars(r)["keywords"]) for r in caplog.records if r.levelno == level]


async def test_an_item_of_no_entity_stays_where_it_is_with_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "old.db"
    unknown = [{"pk": "PERSON#x", "sk": f"ODD#{n}", "n": n} for n in range(250)]
    write(path, PEOPLE, [*unknown, old_item(PERSON, people(1)[0]), {"pk": "ELSE", "sk": "1"}])

    async with open_sqlite(path, EVERY) as database:
        assert (await content(database))[PERSON] == people(1)

    ((text, values),) = messages(caplog, logging.WARNING)
    assert "stay in the table" in text
    assert values == {"table": "people-{env}", "items": 251, "such_as": ("PERSON#x", "ODD#0")}
    with closing(sqlite3.connect(path)) as db:
        assert db.execute('SELECT count(*) FROM "people-{env}"').fetchone() == (251,)


async def test_the_items_of_an_entity_that_comes_later_are_migrated_then(path: Path) -> None:
    async with open_sqlite(path, [PERSON]) as database:
        assert len([item async for item in database.scan(PERSON)]) == 1000
    assert "people-{env}" in tables(path)

    async with open_sqlite(path, EVERY) as database:
        assert await content(database) == EXPECTED
    assert "people-{env}" not in tables(path)


async def test_invalid_attributes_are_dropped_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "old.db"
    odd = [{**old_item(PERSON, person), "colour": "red", "score": None, "seenMs": float(n), "active": "yes"}
           for n, person in enumerate(people(3))]  # fmt: skip
    write(path, PEOPLE, [*odd, old_item(TOTALS, {"visits": 1}, colour="blue", empty=None)])

    async with open_sqlite(path, EVERY) as database:
        found = await content(database)

    expected = [{name: value for name, value in person.items() if name != "score"} for person in people(3)]
    assert found[PERSON] == expected
    assert [type(item["seenMs"]) for item in found[PERSON]] == [int, int, int]
    assert found[TOTALS] == [{"visits": 1, "colour": "blue"}]
    dropped = sorted(values["attribute"] for _, values in messages(caplog, logging.WARNING))
    assert dropped == ["active", "colour"]


async def test_an_attribute_that_only_an_index_key_held_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    stored = old_item(PERSON, people(1)[0])
    del stored["day"], stored["seenMs"]
    write(path, PEOPLE, [stored])

    async with open_sqlite(path, EVERY) as database:
        assert [item async for item in database.scan(PERSON)] == people(1)


async def test_a_file_of_a_later_layout_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "later.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {LAYOUT + 1}")
    before = path.read_bytes()

    with pytest.raises(DatabaseUnavailable) as raised:
        async with open_sqlite(path, EVERY):
            pass

    assert "a later version" in raised.value.detail
    assert path.read_bytes()[60:64] == before[60:64]
    assert tables(path) == set()


async def test_an_entity_that_gains_an_attribute_gains_a_column(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    async with open_sqlite(path, EVERY) as database:
        await database.put(Put(PERSON, people(1)[0]))

    grown = replace(PERSON, attributes=(*PERSON.attributes, Text("hair", optional=True), Real("height", optional=True)))
    async with open_sqlite(path, [grown, VISIT, TOTALS]) as database:
        assert [item async for item in database.scan(grown)] == people(1)
        taller = {**people(2)[1], "hair": "red", "height": 1.5}
        await database.put(Put(grown, taller))
        assert await database.get(grown.key_for("p00001")) == taller


async def test_an_index_with_another_declaration_is_created_again(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    async with open_sqlite(path, EVERY) as database:
        await database.put_many([Put(PERSON, person) for person in people(10)])
    before = indexes(path)

    narrowed = replace(BY_DAY, narrowed_by=("score",), ranked_by="score")
    table = replace(PEOPLE, indexes=(narrowed,))
    changed = replace(PERSON, table=table, indexes={narrowed: ("DAY#{day}", "{seenMs}")})
    async with open_sqlite(path, [changed]) as database:
        page = await database.query(Query(entity=changed, index=narrowed, partitions=[("20260101",)]))
        assert page.items == [people(10)[1]]

    after = indexes(path)
    name = "people-{env}.PERSON.ByDay"
    assert after.keys() - before.keys() == {f"{name}.score"}
    assert {each for each in before if after[each] != before[each]} == {name}
    async with open_sqlite(path, EVERY):
        pass
    assert indexes(path) == before


def test_progress_is_logged_at_most_once_a_second(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    progress = Progress(1000, count(0.0, 0.25).__next__)
    for _ in range(10):
        progress.add(100)
    progress.end()

    told = [values["items"] for _, values in messages(caplog, logging.INFO)]
    assert told == [400, 800, 1000]


def test_nothing_is_logged_for_a_file_without_old_items(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    Progress(0, count(0.0).__next__).end()

    assert messages(caplog, logging.INFO) == []
