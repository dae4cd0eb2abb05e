"""What another program writes into a table is adopted, once each."""

from collections.abc import Sequence

import pytest

from graph.core.services import Services
from graph.feed.adoption import Adoption, adopt_all, adoption_state
from graph.store.attributes import Text, Whole
from graph.store.conditions import Absent
from graph.store.contract import Database, Put, Update
from graph.store.design import TableDesign
from graph.store.entity import Entity, Item
from tests.store.engines import empty_database

NOTES = TableDesign("notes")
NOTE = Entity(
    "NOTE",
    NOTES,
    key=("NOTE#{id}", "NOTE"),
    attributes=(Text("id", longest=40), Text("text", longest=100), Whole("change", optional=True)),
)
STATE = adoption_state(NOTES)


def a_note(id_: str, **attributes: object) -> Item:
    return {"id": id_, "text": "hello", **attributes}


async def adopt(services: Services, items: Sequence[Item]) -> None:
    database = services.of(Adopted).database
    for item in items:
        await database.update(Update(NOTE.key_of(item), set={"change": 1}, condition=Absent("change")))
        services.of(Adopted).ids.append(item["id"])


class Adopted:
    """What was adopted, in order."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.ids: list[str] = []


ADOPTION = Adoption(NOTE, state=STATE, foreign=Absent("change"), adopt=adopt)


@pytest.mark.parametrize("number", [1, 250])
async def test_only_foreign_items_are_adopted(engine: str, number: int) -> None:
    async with empty_database(engine, [NOTE, STATE]) as database:
        adopted = Adopted(database)
        services = Services([adopted])
        await database.put_many([Put(NOTE, a_note(f"foreign{at:03}")) for at in range(number)])
        await database.put_many([Put(NOTE, a_note("own", change=7))])

        await adopt_all(services, database, [ADOPTION])
        await adopt_all(services, database, [ADOPTION])

        assert sorted(adopted.ids) == [f"foreign{at:03}" for at in range(number)]
        own = await database.get(NOTE.key_for("own"))
        assert own is not None
        assert own["change"] == 7
