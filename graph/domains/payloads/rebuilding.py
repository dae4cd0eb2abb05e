"""Rebuilds the whole catalogue from kept payloads: each transaction again, in order, with its number and its time.

What a transaction stores depends only on its records and on the events that they change. Both are as they were: the
records are in the payload, and the events are what the transactions before have made of them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.entities import EVENT, EVENT_SEQUENCE
from graph.domains.earthquakes.ingest.deciding import NOTHING, KnownEvents, write_of
from graph.domains.earthquakes.ingest.look_up import LookUp
from graph.domains.earthquakes.ingest.transaction import Transaction
from graph.domains.earthquakes.ingest.write import FirstVersion, Write
from graph.domains.earthquakes.model import Event, Incoming, SourceDeletion
from graph.domains.payloads.bodies import PayloadRecords, check_body
from graph.domains.payloads.folder import Place, places_in
from graph.domains.payloads.journal import header_of, read_ends, state_of
from graph.domains.payloads.order import DamagedPayload, StoredOrder, StoredTransaction
from graph.domains.payloads.receiving import Recorder
from graph.feed.sequence import Reservation
from graph.store.contract import Action, Database
from graph.store.entity import Item


class CannotRebuild(BadUserInput):
    """The catalogue cannot be rebuilt from this folder into this store."""


@dataclass(slots=True)
class Rebuilt:
    """What was rebuilt."""

    payloads: int = 0  # whose bodies were checked
    to_store: int = 0  # transactions
    stored: int = 0  # of these
    versions: int = 0  # of events


async def rebuild(
    database: Database, folder: Path, advanced: Callable[[Rebuilt], None], recorders: Sequence[Recorder] = ()
) -> Rebuilt:
    """Rebuild a catalogue into an empty store.

    Args:
        recorders: told of each payload again, when the catalogue is rebuilt.
        advanced: called with the progress after each payload that was checked, and after each transaction.

    Raises:
        CannotRebuild: The store has events, or a file is damaged or missing. While payloads are checked, nothing is
            stored; a journal that contradicts the catalogue is found later, before its transaction is stored.
    """
    async for _ in database.scan(EVENT, attributes=("eventId",)):
        raise CannotRebuild(
            "The store has events: a catalogue is rebuilt into an empty store. If a rebuilding was interrupted, "
            "remove what it stored, and begin again."
        )
    rebuilt = Rebuilt()
    with TemporaryDirectory(prefix="quakegraph-") as scratch:
        order = StoredOrder(Path(scratch) / "order.db")
        try:
            for place, payload in order.read(folder):
                check_body(place, payload)
                rebuilt.payloads += 1
                advanced(rebuilt)
            rebuilt.to_store = order.transactions
            replay = _Replay(database, rebuilt)
            try:
                for stored in order:
                    await replay.store(stored)
                    advanced(rebuilt)
            finally:
                replay.close()
            for place in places_in(folder):
                await _record(place, recorders)
        except DamagedPayload as error:
            raise CannotRebuild(f"{error}.") from error
        finally:
            order.close()
    return rebuilt


async def _record(place: Place, recorders: Sequence[Recorder]) -> None:
    """Tell recorders of a payload, as its ingest did."""
    with place.journal.open("rb") as file:
        ends = read_ends(file) if recorders else None
    if ends is None:
        return
    payload, ending = ends
    for recorder in recorders:
        record = recorder()
        await record.received(payload)
        if ending:
            await record.ended(payload, ending)


class _Replay:
    """Stores transactions again."""

    def __init__(self, database: Database, rebuilt: Rebuilt) -> None:
        self._database = database
        self._rebuilt = rebuilt
        self._open: dict[int, _KeptPayload] = {}  # those with transactions before and after the present one

    def close(self) -> None:
        """Close the files."""
        for kept in self._open.values():
            kept.close()

    async def store(self, stored: StoredTransaction) -> None:
        """Store a transaction."""
        kept = self._open.get(stored.payload)
        if kept is None:
            kept = self._open[stored.payload] = _KeptPayload(stored)
        line = kept.line(stored)
        writes = await self._writes(kept, line)
        if any(write is None or write.is_version != bool(line["change"]) for write in writes):
            raise kept.contradiction(line)
        reservation = Reservation(line["change"], 0, EVENT_SEQUENCE) if line["change"] else None
        sound = [write for write in writes if write]
        if sound:
            transaction = await Transaction.of(sound)
            await self._transact(transaction.actions(line["at"], reservation, kept.payload.payload_id), kept, line)
        self._rebuilt.stored += 1
        self._rebuilt.versions += sum(len(write.keys) for write in sound)
        if stored.is_last:
            self._open.pop(stored.payload).close()

    async def _writes(self, kept: "_KeptPayload", line: Mapping[str, Any]) -> list[Write | None]:
        """The writes of a transaction again; None for one that contradicts the stored events.

        A deletion that is remembered until its event arrives may be remembered by two transactions, one of which was
        not stored. It is one deletion.
        """
        records = [kept.record(described) for described in line["writes"]]
        changing = [record for record, described in zip(records, line["writes"], strict=True) if len(described) > 2]
        look_up = LookUp(self._database, {}, every=True)
        await look_up.own_ids(changing)
        await look_up.other_ids(changing)
        known_of = dict(zip(map(id, changing), await look_up.known(changing), strict=True))
        writes = list[Write | None]()
        for record, described in zip(records, line["writes"], strict=True):
            known = known_of.get(id(record), NOTHING)
            is_early = isinstance(record, SourceDeletion) and described[2] == {}
            if not (is_early and write_of(record, KnownEvents({}, known.aliases)) is None):
                writes.append(kept.write(record, known, described))
        return writes

    async def _transact(self, actions: Sequence[Action], kept: "_KeptPayload", line: Mapping[str, Any]) -> None:
        """Store a transaction; in several with a new state each, if its store took more actions at once."""
        most, state = self._database.transaction_limit - 1, EVENT_SEQUENCE.new_state()
        for first in range(0, len(actions), most):
            some = actions[first : first + most]
            has_state = any(each.key == state.key for each in some)
            if await self._database.transact(some if has_state else [*some, state]):
                raise kept.contradiction(line)


def _only(items: Mapping[str, Item], ids: Collection[str]) -> Mapping[str, Item]:
    return {event_id: item for event_id, item in items.items() if event_id in ids}


class _KeptPayload:
    """A payload, some transactions of which are stored."""

    def __init__(self, first: StoredTransaction) -> None:
        self._place = first.place
        self._journal = first.place.journal.open("rb")
        header = orjson.loads(self._journal.readline())
        self.payload = header_of(header)
        self._revises = header["revises"]
        self._records = PayloadRecords(first.place, self.payload)

    def close(self) -> None:
        """Close its files."""
        self._journal.close()
        self._records.close()

    def line(self, stored: StoredTransaction) -> Mapping[str, Any]:
        """What the journal says of a transaction."""
        self._journal.seek(stored.offset)
        line: Mapping[str, Any] = orjson.loads(self._journal.readline())
        self._records.forget(line["from"])
        return line

    def record(self, described: Sequence[Any]) -> Incoming:
        """The record of a write."""
        place, event_id, *_ = described
        return self._records.of(place, event_id)

    def write(self, record: Incoming, known: KnownEvents, described: Sequence[Any]) -> Write | None:
        """A write again; None if it contradicts the stored events."""
        if not self._revises and isinstance(record, Event):
            return FirstVersion(record)
        if len(described) == 2:
            return write_of(record, NOTHING)
        states, *looked_at = described[2:]
        for event_id, state in states.items():
            if event_id not in known.events or state_of(known.events[event_id]) != state:
                return None
        others, aliases = looked_at or ((), ())
        return write_of(record, KnownEvents(_only(known.events, {*states, *others}), _only(known.aliases, aliases)))

    def contradiction(self, line: Mapping[str, Any]) -> DamagedPayload:
        """The error for a transaction that does not fit the catalogue before it."""
        what = f"change {line['change']}" if line["change"] else "an update"
        return DamagedPayload(
            f"{self._place.journal}: {what} contradicts what the journals say of the changes before it; what was "
            "rebuilt is the catalogue before this change"
        )
