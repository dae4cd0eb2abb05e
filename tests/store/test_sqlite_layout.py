"""A file has the layout of this version, follows later declarations of its entities, or is refused unchanged."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from graph.core.errors import DatabaseUnavailable
from graph.store.attributes import Real, Text
from graph.store.contract import Put
from graph.store.entity import Item
from graph.store.query import Query
from graph.store.sqlite import open_sqlite, opening
from graph.store.sqlite.layout import LAYOUT, prepare
from graph.store.sqlite.table import EntityTable
from tests.store.samples import BY_DAY, PEOPLE, PERSON, TOTALS, VISIT

EVERY = (PERSON, VISIT, TOTALS)
NARROWED = replace(BY_DAY, narrowed_by=("score",), ranked_by="score")
CHANGED = replace(PERSON, table=replace(PEOPLE, indexes=(NARROWED,)), indexes={NARROWED: ("DAY#{day}", "{seenMs}")})


def people(number: int) -> list[Item]:
    return [
        {"person": f"p{n:05}", "day": f"2026010{n % 9}", "seenMs": n, "score": n / 7, "tags": [n, {"n": str(n)}]}
        for n in range(number)
    ]


def indexes(path: Path) -> dict[str, str]:
    """The declarations of indexes by name."""
    with closing(sqlite3.connect(path)) as db:
        return dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index'"))


@pytest.mark.parametrize(("layout", "remedy"), [(LAYOUT + 1, "upgrade"), (LAYOUT - 1, "import the events again")])
async def test_a_file_of_another_layout_is_refused_with_a_remedy_and_not_changed(
    tmp_path: Path, layout: int, remedy: str
) -> None:
    path = tmp_path / "some.db"
    async with open_sqlite(path, EVERY):
        pass
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {layout}")
    before = path.read_bytes()

    with pytest.raises(DatabaseUnavailable) as refused:
        async with open_sqlite(path, [CHANGED]):
            pass

    assert remedy in refused.value.detail
    assert path.read_bytes() == before


async def test_what_is_stopped_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    async with open_sqlite(path, EVERY) as database:
        await database.put_many([Put(PERSON, person) for person in people(2000)])
    before = indexes(path)

    with closing(sqlite3.connect(path, isolation_level=None)) as db, pytest.raises(sqlite3.OperationalError):
        prepare(db, [EntityTable(CHANGED)], lambda: True)

    assert indexes(path) == before


async def test_an_opening_that_is_cancelled_stops_its_preparation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = Event(), Event()

    def prepare_slowly(db: sqlite3.Connection, tables: object, is_stopped: Callable[[], bool]) -> None:
        begun.set()
        while not is_stopped():
            pass
        ended.set()

    async def opened() -> None:
        async with open_sqlite(tmp_path / "some.db", EVERY):
            pass

    monkeypatch.setattr(opening, "prepare", prepare_slowly)
    task = asyncio.create_task(opened())
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert ended.is_set()


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
    before = indexes(path)

    async with open_sqlite(path, [CHANGED]) as database:
        page = await database.query(Query(entity=CHANGED, index=NARROWED, partitions=[("20260101",)]))
        assert page.items == [people(5)[1]]

    after = indexes(path)
    name = "people-{env}.PERSON.ByDay"
    assert after.keys() - before.keys() == {f"{name}.score"}
    assert {each for each in before if after[each] != before[each]} == {name}
    async with open_sqlite(path, EVERY):
        pass
    assert indexes(path) == before
