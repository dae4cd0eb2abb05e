"""The write that adopts an event which another program put into the table: it gets a number, and is counted."""

from collections.abc import Sequence

from graph.domains.earthquakes.entities import EVENT, REVISION
from graph.domains.earthquakes.ingest.write import Outcome, Write
from graph.domains.earthquakes.model import Event, day_of
from graph.domains.earthquakes.revisions.changes import change_key
from graph.domains.earthquakes.revisions.versions import RevisionKind
from graph.domains.earthquakes.summaries import Tally
from graph.store.conditions import unchanged
from graph.store.contract import Action, Database, Update
from graph.store.entity import Item
from graph.store.query import Query

_STATE = ("arrival", "revision", "ingestedAt", "eventTsMs", "dayBucket")
"""The attributes that show whether an item of another program is the one that was read."""


class AdoptedEvent(Write):
    """The adoption of one event. All that the other program wrote stays as it is."""

    __slots__ = ("_of_version", "days", "ids", "inserts", "item", "keys", "record", "time_ms")

    outcome = Outcome.CREATED
    is_version = True
    stored = None
    names = ()
    size = 1

    def __init__(self, item: Item, replaced: Item | None) -> None:
        """Make a write.

        Args:
            item: as it is stored, whole.
            replaced: the last superseded version, if the other program has put its event in place of one that had some.
        """
        self.item = item
        self.record = Event(item)
        self._of_version: Item = {}
        if replaced:
            self._of_version = {
                "revision": replaced["revision"] + 1,
                "kind": RevisionKind.REVISED.value,
                "recordedAt": max(item["ingestedAt"], replaced["supersededAt"]),
            }
        self.ids = self.inserts = (item["eventId"],)
        self.keys = (change_key({**item, **self._of_version}),)
        self.days = (day_of(item["dayBucket"]),)
        self.time_ms = item["eventTsMs"]

    def actions(self, now: int, number: int) -> list[Action]:
        unread = unchanged(self.item, *_STATE)
        key = EVENT.key_for(self.item["eventId"])
        return [Update(key, set={**self._of_version, "arrival": number}, condition=unread)]

    def count(self, tally: Tally) -> None:
        tally.add(self.item)


async def adoptions(database: Database, items: Sequence[Item]) -> list[AdoptedEvent]:
    """The writes that adopt foreign events."""
    firsts = [REVISION.key_for(item["eventId"], 1) for item in items if "revision" not in item]
    replaced = {key.values[0] for key in await database.get_many(firsts, attributes=("eventId",))} if firsts else set()
    writes: list[AdoptedEvent] = []
    for item in items:
        latest: Sequence[Item] = []
        if item["eventId"] in replaced:
            query = Query(entity=REVISION, partitions=((item["eventId"],),), forward=False, limit=1)
            latest = (await database.query(query)).items
        writes.append(AdoptedEvent(item, latest[0] if latest else None))
    return writes
