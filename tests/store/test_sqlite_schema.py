"""The tables and indexes of a SQLite file follow the declarations of its entities."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from graph.store.attributes import Real, Text
from graph.store.contract import Put
from graph.store.entity import Item
from graph.store.query import Query
from graph.store.sqlite import open_sqlite
from tests.store.samples import BY_DAY, PEOPLE, PERSON, TOTALS, VISIT


def people(number: int) -> list[Item]:
    return [{"person": f"p{n:05}", "day": f"2026010{n}", "seenMs": n, "score": n / 7} for n in range(number)]


def indexes(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as db:
        return dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index'"))


async def test_an_entity_that_gains_an_attribute_gains_a_column(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    async with open_sqlite(path, [PERSON, VISIT, TOTALS]) as database:
        await database.put(Put(PERSON, people(1)[0]))

    grown = replace(PERSON, attributes=(*PERSON.attributes, Text("hair", optional=True), Real("height", optional=True)))
    async with open_sqlite(path, [grown, VISIT, TOTALS]) as database:
        assert [item async for item in database.scan(grown)] == people(1)
        taller = {**people(2)[1], "hair": "red", "height": 1.5}
        await database.put(Put(grown, taller))
        assert await database.get(grown.key_for("p00001")) == taller


async def test_an_index_with_another_declaration_is_created_again(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    async with open_sqlite(path, [PERSON, VISIT, TOTALS]) as database:
        await database.put_many([Put(PERSON, person) for person in people(5)])
    before = indexes(path)

    narrowed = replace(BY_DAY, narrowed_by=("score",), ranked_by="score")
    table = replace(PEOPLE, indexes=(narrowed,))
    changed = replace(PERSON, table=table, indexes={narrowed: ("DAY#{day}", "{seenMs}")})
    async with open_sqlite(path, [changed]) as database:
        page = await database.query(Query(entity=changed, index=narrowed, partitions=[("20260101",)]))
        assert page.items == [people(5)[1]]

    after = indexes(path)
    name = "people-{env}.PERSON.ByDay"
    assert after.keys() - before.keys() == {f"{name}.score"}
    assert {each for each in before if after[each] != before[each]} == {name}
    async with open_sqlite(path, [PERSON, VISIT, TOTALS]):
        pass
    assert indexes(path) == before
