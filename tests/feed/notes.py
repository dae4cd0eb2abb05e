"""A small domain that is no earthquake: notes, written down in a database and broadcast as they are stored."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from graph.core.errors import InvalidCursor
from graph.feed.broadcast import Broadcast, FeedRecords, SubscriberMessage
from graph.feed.sequence import ChangeSequence, SequenceEntities
from graph.store.attributes import Text, Whole
from graph.store.contract import Database, Put
from graph.store.entity import Entity
from graph.store.records import Derived, Record, stored
from tests.processes import TIMEOUT_S
from tests.store.samples import SAMPLES

R = TypeVar("R", bound=Record)

NOTE_SEQUENCE = SequenceEntities.of(SAMPLES, "NOTES", "CHANGE", keys="noteIds", number="change")
EXPIRING_SEQUENCE = SequenceEntities.of(
    SAMPLES, "EXPIRING", "EXPIRING_CHANGE", keys="noteIds", number="change", expires=True
)


class Note(Record):
    """A note as it is stored."""

    note_id = stored("noteId", Text())
    number = stored("change", Whole(optional=True))
    cursor = Derived("note:{}".format, "noteId")


NOTE = Entity("NOTE", SAMPLES, Note, key=("NOTE#{noteId}", "NOTE"))
ENTITIES = (NOTE, *(entity for each in (NOTE_SEQUENCE, EXPIRING_SEQUENCE) for entity in (each.change, each.latest)))


class Notebook:
    """The notes of a database, as one process writes and reads them."""

    def __init__(self, database: Database, entities: SequenceEntities = NOTE_SEQUENCE) -> None:
        self.sequence = ChangeSequence(database, entities)
        self._database = database

    async def write(self, *note_ids: str, ttl: int | None = None) -> int:
        """Store notes in one transaction, those that are not stored yet; how many these were.

        Args:
            ttl: when their change expires, epoch seconds. The notes stay.
        """
        ids = list(note_ids)
        while ids:
            async with self.sequence.reserve() as reservation:
                items = reservation.numbered([{"noteId": note_id} for note_id in ids])
                puts = [Put(NOTE, item, if_absent=True) for item in items]
                refused = await self._database.transact([*puts, *reservation.actions(ids, ttl=ttl)])
                if not refused:
                    break
                self.sequence.missed(reservation)
            ids = [note_id for position, note_id in enumerate(ids) if position not in refused]
        return len(ids)

    async def load(self, note_ids: Sequence[str]) -> dict[str, Note]:
        """Those of the notes that exist."""
        keys = [NOTE.key_for(note_id) for note_id in note_ids]
        items = (await self._database.get_many(keys)).values() if keys else ()
        return {item["noteId"]: Note(item) for item in items}

    def broadcast(self, **options: Any) -> Broadcast[Note]:
        """A broadcast of the notes."""
        return Broadcast(self.sequence, FeedRecords[Note](self.load, _note_id), **options)


@asynccontextmanager
async def broadcasting(database: Database, **options: Any) -> AsyncIterator[Broadcast[Note]]:
    """A broadcast of the notes of a database, which nobody is subscribed to at the end."""
    broadcast = Notebook(database).broadcast(**options)
    yield broadcast
    await broadcast.close()
    assert broadcast.subscriptions == 0


def everything(note: Note) -> bool:
    """A filter that every note passes."""
    return True


async def some(notices: AsyncIterator[SubscriberMessage[R]], number: int) -> list[SubscriberMessage[R]]:
    """The next of them, so many; also of another domain's."""
    async with asyncio.timeout(TIMEOUT_S):
        return [await anext(notices) for _ in range(number)]


def records(notices: Sequence[SubscriberMessage[Any]]) -> list[Any]:
    """The records, of which none was dropped."""
    assert [notice.dropped for notice in notices] == [0] * len(notices)
    assert [notice.cursor for notice in notices] == [notice.record.cursor for notice in notices if notice.record]
    return [notice.record for notice in notices]


def sent(notices: Sequence[SubscriberMessage[Note]]) -> list[str]:
    """The ids of the notes, of which none was dropped."""
    return [note.note_id for note in records(notices)]


def cursor(note_id: str) -> str:
    """The cursor of a note."""
    return Note({"noteId": note_id}).cursor


def _note_id(cursor: str) -> str:
    kind, _, note_id = cursor.partition(":")
    if kind != "note":
        raise InvalidCursor("after")
    return note_id
