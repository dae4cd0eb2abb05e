"""What a domain declares of adoption, and what becomes of it on each engine."""

from dataclasses import replace

from graph.core.clock import now_ms
from graph.core.services import Services
from graph.feed.adopter import tasks_of
from graph.feed.adoption import ITEMS_AT_ONCE, adopt_all
from graph.observability.metrics import Metrics
from graph.store.contract import Put
from graph.store.design import TableDesign
from graph.store.entity import Entity
from tests.feed.foreign_notes import ADOPTION, ENTITIES, NOTE, Desk, a_note
from tests.store.engines import empty_database


async def test_only_foreign_items_are_adopted_some_at_once(engine: str) -> None:
    ids = [f"foreign{at:03}" for at in range(2 * ITEMS_AT_ONCE + 1)]
    async with empty_database(engine, ENTITIES) as database:
        desk = Desk(database)
        await database.put_many([Put(NOTE, a_note(id_)) for id_ in ids])
        await database.put_many([Put(NOTE, a_note("own", change=7))])

        await adopt_all(Services([desk]), database, [ADOPTION])
        await adopt_all(Services([desk]), database, [ADOPTION])

        assert sorted(desk.adopted) == ids
        assert [len(some) for some in desk.handed_over] == [ITEMS_AT_ONCE, ITEMS_AT_ONCE, 1]
        assert await database.get(NOTE.key_for("own")) == a_note("own", change=7)


async def test_each_table_that_other_programs_can_write_is_one_task(engine: str) -> None:
    letter = Entity("LETTER", TableDesign("letters"), key=("LETTER#{id}", "LETTER"), attributes=NOTE.attributes)
    card = Entity("CARD", NOTE.table, key=("CARD#{id}", "CARD"), attributes=NOTE.attributes)
    adoptions = [replace(ADOPTION, entity=entity) for entity in (NOTE, letter, card)]
    async with empty_database(engine, [*ENTITIES, letter, card]) as database:
        tasks = tasks_of(adoptions, Services(), database, now_ms, Metrics())

    written = ["adopting items of notes", "adopting items of letters"]
    assert list(tasks) == (written if engine == "dynamodb" else [])
