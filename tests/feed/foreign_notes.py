"""Notes that another program writes into a table of DynamoDB, as its document says, and a service that adopts them."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

from graph.core.errors import DatabaseUnavailable
from graph.core.services import Services
from graph.feed.adoption import Adoption, adoption_state
from graph.store.attributes import Text, Whole
from graph.store.conditions import Absent
from graph.store.contract import Database, Update
from graph.store.design import TableDesign
from graph.store.entity import Entity, Item
from tests.other_programs import client
from tests.processes import TIMEOUT_S

NOTES = TableDesign("notes", ttl="ttl")
NOTE = Entity(
    "NOTE",
    NOTES,
    key=("NOTE#{id}", "NOTE"),
    attributes=(
        Text("id", longest=40),
        Text("text", longest=100),
        Whole("ttl", unit="epoch seconds", optional=True),
        Whole("change", optional=True),
    ),
)
STATE = adoption_state(NOTES)
ENTITIES = (NOTE, STATE)


class Desk:
    """The service's own part: it adopts notes by giving each a number."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.adopted: list[str] = []  # ids, in order
        self.refused: set[str] = set()  # ids of notes that the store does not let through
        self.impossible: set[str] = set()  # ids of notes that no code can adopt
        self.handed_over: list[list[str]] = []
        self.has_adopted = asyncio.Condition()

    async def adopt(self, items: Sequence[Item]) -> None:
        ids = [item["id"] for item in items]
        self.handed_over.append(ids)
        if self.impossible & set(ids):
            raise ValueError("no such note")
        if self.refused & set(ids):
            raise DatabaseUnavailable("the note is kept busy")
        for item in items:
            if await self.database.update(Update(NOTE.key_of(item), set={"change": 1}, condition=Absent("change"))):
                self.adopted.append(item["id"])
        async with self.has_adopted:
            self.has_adopted.notify_all()

    async def until_adopted(self, *ids: str) -> None:
        """Wait until these are adopted, each as often as it is named."""
        async with asyncio.timeout(TIMEOUT_S), self.has_adopted:
            await self.has_adopted.wait_for(lambda: Counter(ids) <= Counter(self.adopted))


async def adopt(services: Services, items: Sequence[Item]) -> None:
    await services.of(Desk).adopt(items)


ADOPTION = Adoption(NOTE, state=STATE, foreign=Absent("change"), adopt=adopt)


def a_note(id_: str, **attributes: object) -> Item:
    """A note as the service sees it."""
    return {"id": id_, "text": "hello", **attributes}


class OtherProgram:
    """Writes with botocore's own client what its document says."""

    def __init__(self, prefix: str) -> None:
        self.table = f"{prefix}notes"
        self._client = client()

    async def write(self, *ids: str, **attributes: Any) -> None:
        """Put a note for each of these ids, with further attributes as DynamoDB has them."""
        for id_ in ids:
            keys = {"pk": {"S": f"NOTE#{id_}"}, "sk": {"S": "NOTE"}}
            item = {**keys, "id": {"S": id_}, "text": {"S": "hello"}, **attributes}
            await asyncio.to_thread(self._client.put_item, TableName=self.table, Item=item)

    async def delete(self, id_: str) -> None:
        """Delete a note."""
        keys = {"pk": {"S": f"NOTE#{id_}"}, "sk": {"S": "NOTE"}}
        await asyncio.to_thread(self._client.delete_item, TableName=self.table, Key=keys)

    def close(self) -> None:
        self._client.close()
