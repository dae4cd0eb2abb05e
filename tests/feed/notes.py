"""A small domain that is no earthquake: notes, written down in a table and broadcast as they are stored."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from graph.core.errors import InvalidCursor
from graph.feed.broadcast import Broadcast, Notice, Records
from graph.feed.sequence import ChangeSequence, SequenceItems
from graph.store.contract import Key, Put, Table
from tests.processes import PATIENCE_S

NOTE_SEQUENCE = SequenceItems("NOTES", "CHANGE", keys="noteIds", number="change")


@dataclass(frozen=True)
class Note:
    """A note as it is stored."""

    note_id: str
    number: int  # of its change

    @property
    def cursor(self) -> str:
        return f"note:{self.note_id}"


class Notebook:
    """The notes of a table, as one process writes and reads them."""

    def __init__(self, table: Table) -> None:
        self.sequence = ChangeSequence(table, NOTE_SEQUENCE)
        self._table = table

    async def write(self, *note_ids: str) -> int:
        """Store notes in one transaction, those that are not stored yet; how many these were."""
        ids = list(note_ids)
        while ids:
            async with self.sequence.reserve() as reservation:
                items = reservation.numbered([{"pk": pk, "sk": sk} for pk, sk in map(_key, ids)])
                puts = [Put(item, if_absent=True) for item in items]
                refused = await self._table.transact([*puts, *reservation.actions(ids)])
                if not refused:
                    break
                self.sequence.missed(reservation)
            ids = [note_id for position, note_id in enumerate(ids) if position not in refused]
        return len(ids)

    async def load(self, note_ids: Sequence[str]) -> dict[str, Note]:
        """Those of the notes that exist."""
        items = (await self._table.get_many([_key(note_id) for note_id in note_ids])).values() if note_ids else ()
        ids = {item["pk"]: str(item["pk"]).removeprefix("NOTE#") for item in items}
        return {ids[item["pk"]]: Note(ids[item["pk"]], NOTE_SEQUENCE.number_of(item)) for item in items}

    def broadcast(self, **options: Any) -> Broadcast[Note]:
        """A broadcast of the notes."""
        records = Records[Note](
            load=self.load,
            number_of=lambda note: note.number,
            cursor_of=lambda note: note.cursor,
            key_of_cursor=_note_id,
        )
        return Broadcast(self.sequence, records, **options)


@asynccontextmanager
async def broadcasting(table: Table, **options: Any) -> AsyncIterator[Broadcast[Note]]:
    """A broadcast of the notes of a table, which nobody is subscribed to at the end."""
    broadcast = Notebook(table).broadcast(**options)
    yield broadcast
    await broadcast.close()
    assert broadcast.subscriptions == 0


def everything(note: Note) -> bool:
    """A filter that every note passes."""
    return True


async def some(notices: AsyncIterator[Notice[Note]], number: int) -> list[Notice[Note]]:
    """The next of them, so many."""
    async with asyncio.timeout(PATIENCE_S):
        return [await anext(notices) for _ in range(number)]


def sent(notices: Sequence[Notice[Note]]) -> list[str]:
    """The ids of the notes, of which none was dropped."""
    assert [notice.dropped for notice in notices] == [0] * len(notices)
    assert [notice.cursor for notice in notices] == [notice.record.cursor for notice in notices if notice.record]
    return [notice.record.note_id for notice in notices if notice.record]


def cursor(note_id: str) -> str:
    """The cursor of a note."""
    return Note(note_id, 0).cursor


def _key(note_id: str) -> Key:
    return f"NOTE#{note_id}", "NOTE"


def _note_id(cursor: str) -> str:
    kind, _, note_id = cursor.partition(":")
    if kind != "note":
        raise InvalidCursor("after")
    return note_id
