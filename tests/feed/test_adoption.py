"""What becomes of declared adoptions on each engine."""

from dataclasses import replace

from graph.core.clock import now_ms
from graph.core.services import Services
from graph.feed.adopter import tasks_of
from graph.observability.metrics import Metrics
from graph.store.design import TableDesign
from graph.store.entity import Entity
from tests.feed.foreign_notes import ADOPTION, ENTITIES, NOTE
from tests.store.engines import empty_database


async def test_each_table_that_other_programs_can_write_is_one_task(engine: str) -> None:
    letter = Entity("LETTER", TableDesign("letters"), key=("LETTER#{id}", "LETTER"), attributes=NOTE.attributes)
    card = Entity("CARD", NOTE.table, key=("CARD#{id}", "CARD"), attributes=NOTE.attributes)
    adoptions = [replace(ADOPTION, entity=entity) for entity in (NOTE, letter, card)]
    async with empty_database(engine, [*ENTITIES, letter, card]) as database:
        tasks = tasks_of(adoptions, Services(), database, now_ms, Metrics())

    written = ["adopting items of notes", "adopting items of letters"]
    assert list(tasks) == (written if engine == "dynamodb" else [])
