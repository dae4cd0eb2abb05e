"""A file of version 0.1 is migrated at its first opening, whatever interrupts it, and follows later declarations."""

import asyncio
import json
import logging
import resource
import shutil
import sqlite3
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
from graph.store.dynamodb.codec import decode_item
from graph.store.dynamodb.items import ItemCodec
from graph.store.entity import Entity, Item
from graph.store.query import Query
from graph.store.sqlite import migration, open_sqlite
from graph.store.sqlite.migration import LAYOUT, Migration, Progress
from graph.store.sqlite.table import EntityTable
from tests.store.samples import BY_DAY, PEOPLE, PERSON, TOTALS, VISIT

EVERY = (PERSON, VISIT, TOTALS)


def people(number: int) -> list[Item]:
    return [
        {"person": f"p{n:05}", "day": f"2026010{n % 9}", "seenMs": n, "score": n / 7, "tags": [n, {"n": str(n)}]}
        for n in range(number)
    ]


EXPECTED: dict[Entity, list[Item]] = {
    PERSON: people(1000),
    VISIT: [{"person": f"p{n % 50:05}", "timestamp": n * 1000, "requestId": f"r{n}"} for n in range(1000)],
    TOTALS: [{"visits": 1000, "others": {"a": None}}],
}


def old_item(entity: Entity, item: Item) -> Item:
    """The item as version 0.1 stored it, in DynamoDB as in SQLite: with its keys, and whole but for what they hold."""
    return decode_item(ItemCodec(entity).encode(item))


def write(path: Path, items: Iterable[Item]) -> None:
    """Make a file of version 0.1: a table for each design, each item as JSON beside its keys."""
    path.touch(0o600)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        columns = "pk, sk, gsi1pk, gsi1sk, expires, item BLOB NOT NULL, UNIQUE (pk, sk)"
        db.execute(f'CREATE TABLE "people-{{env}}" ({columns})')
        db.execute('CREATE INDEX "people-{env}.ByDay" ON "people-{env}" (gsi1pk, gsi1sk)')
        names = ("pk", "sk", "gsi1pk", "gsi1sk", "expires")
        rows = ([*map(item.get, names), json.dumps(item).encode()] for item in items)
        db.executemany('INSERT INTO "people-{env}" VALUES (?, ?, ?, ?, ?, ?)', rows)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "old.db"
    pairs = zip(EXPECTED[PERSON], EXPECTED[VISIT], strict=True)
    both = [each for person, visit in pairs for each in (old_item(PERSON, person), old_item(VISIT, visit))]
    write(path, [*both, old_item(TOTALS, EXPECTED[TOTALS][0])])
    return path


async def content(database: Database) -> dict[Entity, list[Item]]:
    """All items. Both engines and this test may order them in their own ways."""
    return {entity: sorted([item async for item in database.scan(entity)], key=repr) for entity in EVERY}


async def check_content(path: Path) -> None:
    """That an opening leaves all items in the tables of their entities."""
    async with open_sqlite(path, EVERY) as database:
        assert await content(database) == {entity: sorted(items, key=repr) for entity, items in EXPECTED.items()}
    assert (len(tables(path)), pragma(path, "user_version")) == (3, LAYOUT)


def tables(path: Path, kind: str = "table") -> dict[str, str]:
    """The declarations of tables or indexes by name."""
    with closing(sqlite3.connect(path)) as db:
        return dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = ?", (kind,)))


def files(folder: Path) -> dict[str, int]:
    """The names and sizes of a folder's files."""
    return {each.name: each.stat().st_size for each in folder.iterdir() if each.is_file()}


def pragma(path: Path, name: str) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute(f"PRAGMA {name}").fetchone()[0])


def messages(caplog: pytest.LogCaptureFixture, level: int) -> list[tuple[str, dict[str, Any]]]:
    return [(r.getMessage(), vars(r)["keywords"]) for r in caplog.records if r.levelno == level]


async def test_a_migrated_file_is_as_one_that_was_written_anew_whenever_processes_were_killed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files at every beginning and end of a transaction are those that a killed process leaves."""
    kept: list[Path] = []

    def copy(statement: str) -> None:
        if statement.startswith(("BEGIN", "COMMIT", "VACUUM", "PRAGMA user_version =")):
            folder = tmp_path / f"{len(kept)}"
            folder.mkdir()
            kept.append(folder / path.name)
            for each in tmp_path.glob(f"{path.name}*"):
                shutil.copy(each, folder)

    monkeypatch.setattr(migration, "ROWS_PER_BATCH", 400)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.set_trace_callback(copy)
        migration.prepare(db, path, {entity: EntityTable(entity) for entity in EVERY}, lambda: False)
    await check_content(path)

    assert len(kept) == 24, "two of each of 11 transactions, one of the shrinking, one of the layout"
    for each in kept:
        await check_content(each)
        assert pragma(each, "freelist_count") * migration.WORTH_SHRINKING < pragma(each, "page_count")

    new = tmp_path / "new.db"
    async with open_sqlite(new, EVERY) as written:
        await written.put_many([Put(entity, item) for entity, items in EXPECTED.items() for item in items])
    for kind in ("table", "index"):
        assert tables(path, kind) == tables(new, kind)
    sizes = files(tmp_path)
    assert sizes.keys() == {"old.db", "new.db"}
    assert sizes["old.db"] <= sizes["new.db"]


async def test_one_of_several_that_open_a_file_at_once_migrates_it(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    await asyncio.gather(*[check_content(path) for _ in range(3)])

    assert sum("was migrated" in text for text, _ in messages(caplog, logging.INFO)) == 1


async def test_without_room_to_shrink_the_file_is_served_as_it_is(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shrink, before = Migration._shrink, resource.getrlimit(resource.RLIMIT_FSIZE)

    def without_room(self: Migration) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        try:
            shrink(self)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    monkeypatch.setattr(Migration, "_shrink", without_room)
    await check_content(path)

    assert ["could not be made smaller" in text for text, _ in messages(caplog, logging.WARNING)] == [True]


async def test_an_opening_that_is_cancelled_ends_the_migration(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "ROWS_PER_BATCH", 10)
    begun, loop, add = asyncio.Event(), asyncio.get_running_loop(), Progress.add

    def add_and_notify(progress: Progress, rows: int) -> None:
        add(progress, rows)
        loop.call_soon_threadsafe(begun.set)

    monkeypatch.setattr(Progress, "add", add_and_notify)
    task = asyncio.create_task(check_content(path))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert pragma(path, "user_version") < LAYOUT


async def test_items_of_no_entity_stay_where_they_are_until_it_comes(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_sqlite(path, [PERSON]) as database:
        assert len([item async for item in database.scan(PERSON)]) == 1000

    ((text, values),) = messages(caplog, logging.WARNING)
    assert "stay in the table" in text
    assert values == {"table": "people-{env}", "items": 1001, "such_as": ("PERSON#p00000", "VISIT#0000000000000#r0")}
    assert "people-{env}" in tables(path)
    await check_content(path)


async def test_attributes_are_migrated_as_far_as_they_are_declared(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What is undeclared or of another type is dropped with a warning; what only an index key holds is read from it."""
    path = tmp_path / "old.db"
    odd = {"colour": "red", "score": None, "active": "yes"}
    stored = [{**old_item(PERSON, person), **odd, "seenMs": float(n)} for n, person in enumerate(people(3))]
    del stored[0]["day"], stored[0]["seenMs"]
    write(path, [*stored, {**old_item(TOTALS, {"visits": 1}), "colour": "blue", "empty": None}])

    async with open_sqlite(path, EVERY) as database:
        found = await content(database)

    assert found[PERSON] == [{name: value for name, value in each.items() if name != "score"} for each in people(3)]
    assert [type(item["seenMs"]) for item in found[PERSON]] == [int, int, int]
    assert found[TOTALS] == [{"visits": 1, "colour": "blue"}]
    assert sorted(values["attribute"] for _, values in messages(caplog, logging.WARNING)) == ["active", "colour"]


async def test_a_file_of_a_later_layout_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "later.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {LAYOUT + 1}")

    with pytest.raises(DatabaseUnavailable) as raised:
        async with open_sqlite(path, EVERY):
            pass

    assert "a later version" in raised.value.detail
    assert (pragma(path, "user_version"), tables(path)) == (LAYOUT + 1, {})


def test_progress_is_logged_at_most_once_a_second_and_not_without_old_items(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    Progress(0, count(0.0).__next__).end()
    progress = Progress(1000, count(0.0, 0.25).__next__)
    for _ in range(10):
        progress.add(100)
    progress.end()

    assert [values["items"] for _, values in messages(caplog, logging.INFO)] == [400, 800, 1000]


# Later declarations


async def test_an_entity_that_gains_an_attribute_gains_a_column(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    async with open_sqlite(path, EVERY) as database:
        await database.put(Put(PERSON, people(1)[0]))

    grown = replace(PERSON, attributes=(*PERSON.attributes, Text("hair", optional=True), Real("height", optional=True)))
    async with open_sqlite(path, (grown, VISIT, TOTALS)) as database:
        assert [item async for item in database.scan(grown)] == people(1)
        taller = {**people(2)[1], "hair": "red", "height": 1.5}
        await database.put(Put(grown, taller))
        assert await database.get(grown.key_for("p00001")) == taller


async def test_an_index_with_another_declaration_is_created_again(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    async with open_sqlite(path, EVERY) as database:
        await database.put_many([Put(PERSON, person) for person in people(5)])
    before = tables(path, "index")

    narrowed = replace(BY_DAY, narrowed_by=("score",), ranked_by="score")
    table = replace(PEOPLE, indexes=(narrowed,))
    changed = replace(PERSON, table=table, indexes={narrowed: ("DAY#{day}", "{seenMs}")})
    async with open_sqlite(path, [changed]) as database:
        page = await database.query(Query(entity=changed, index=narrowed, partitions=[("20260101",)]))
        assert page.items == [people(5)[1]]

    after = tables(path, "index")
    name = "people-{env}.PERSON.ByDay"
    assert after.keys() - before.keys() == {f"{name}.score"}
    assert {each for each in before if after[each] != before[each]} == {name}
    async with open_sqlite(path, EVERY):
        pass
    assert tables(path, "index") == before
