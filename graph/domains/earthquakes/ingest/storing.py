"""Stores what an ingest takes: new events, next versions of stored ones, merges and deletions.

    records → the stored events that they are about → the writes of each → transactions

One transaction holds an event's latest version, the version that it replaced, its aliases, the summaries
of both days, and the number of the change. It applies only if the event still is what was read. So a crash
or a race loses no version and counts no event twice. A refused record is looked up and decided again.

An event that another program put into the table is adopted in the same way, by its id.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import TypeVar

from cachetools import FIFOCache

from graph.core.clock import Clock
from graph.domains.earthquakes.entities import ALIAS, EVENT
from graph.domains.earthquakes.ingest.adopted_event import adoptions
from graph.domains.earthquakes.ingest.deciding import KnownEvents, write_of
from graph.domains.earthquakes.ingest.look_up import LookUp, is_known
from graph.domains.earthquakes.ingest.payload import Chunk, Received
from graph.domains.earthquakes.ingest.transaction import Transaction
from graph.domains.earthquakes.ingest.write import FirstVersion, Outcome, Write
from graph.domains.earthquakes.model import Event, Incoming, SourceDeletion, is_foreign
from graph.domains.earthquakes.revisions.names import Rank, ids_of
from graph.domains.earthquakes.summaries import ITEMS_OF_A_PERIOD, recount
from graph.feed.sequence import ChangeSequence, Reservation
from graph.store.contract import Database
from graph.store.entity import Key
from graph.store.rounds import rounds
from graph.work.account import give_way

OTHERS = "other writers kept changing the same events"
RECORDS_AT_ONCE = 100  # are compared with what is stored, in some milliseconds, before giving way to other work

T = TypeVar("T")
Count = Callable[[Outcome, Sequence[Incoming]], None]
"""(outcome, the records of which this became)."""

ADOPTED_AT_ONCE = 500  # events in memory
ATTEMPTS = 3  # to adopt an event that its program keeps changing; it is met again later

ALIASES_KEPT = 10_000  # aliases of the last polls, so that the next one finds their events by one read each


@dataclass(frozen=True, slots=True)
class Storing:
    """Stores records in the catalogue."""

    database: Database
    sequence: ChangeSequence
    clock: Clock
    revises: bool = True  # whether stored events are revised; otherwise the first write of an event wins
    aliases: FIFOCache[str, str] = field(default_factory=partial(FIFOCache, ALIASES_KEPT))

    async def store(self, chunk: Chunk, count: Count, *, probably_new: bool) -> None:
        """Store records.

        Args:
            count: called with what became of some of them, as soon as it is stored.
            probably_new: do not look for events with the records' own ids first; an insert finds them.

        What cannot be stored, since another program's broken item has its id, is noted in the chunk.

        Raises:
            DatabaseUnavailable: Some may be stored. Storing all of them again completes the work.
            PayloadNotKept: The same.
        """
        for wave in _waves(chunk.records):
            pending, others = wave, rounds(OTHERS)
            while pending:
                writes = await self._writes(pending, probably_new=probably_new)
                written = {id(write.record) for write in writes}
                count(Outcome.SKIPPED, [record for record in pending if id(record) not in written])
                at_once, later = _disjoint(writes)
                refused = await self._apply_all(chunk, at_once, count)
                if self.revises:
                    missed = set(map(id, refused))
                    await self._complete(chunk, [write for write in at_once if id(write) not in missed])
                pending, probably_new = [write.record for write in (*refused, *later)], False
                if refused:
                    next(others)

    async def _complete(self, chunk: Chunk, applied: Sequence[Write]) -> None:
        """Take in what other ingests stored of the same ids at the same time.

        Who stores an event looks afterwards for an alias with its id, of another event or of a deletion that came
        before it, and who keeps an alias looks for an event with this id. So at least one of them finds the other.
        """
        looked_for: dict[Key, Incoming] = {}
        for write in applied:
            keys = (*ALIAS.keys_for(write.inserts), *EVENT.keys_for(write.names))
            looked_for |= dict.fromkeys(keys, write.record)
        found = await self.database.get_many(looked_for, attributes=("eventId",)) if looked_for else {}
        records = [looked_for[key] for key in found]
        others = rounds(OTHERS)
        while records:
            next(others)
            look_up = LookUp(self.database, self.aliases, every=True)
            await look_up.own_ids(records)
            await look_up.other_ids(records)
            at_once, later = _disjoint(await _decided(records, await look_up.known(records)))
            refused = await self._apply_all(chunk, at_once, _uncounted)
            records = [write.record for write in (*refused, *later)]

    async def adopt(self, event_ids: Collection[str], payload: Received) -> int:
        """Adopt those of some events that another program wrote: each gets a number, and is counted.

        An event that has a number is left as it is, so any number of processes may adopt the same events.

        Returns:
            How many were adopted.
        """
        adopted, ids = 0, sorted(event_ids)
        for begin in range(0, len(ids), ADOPTED_AT_ONCE):
            some = ids[begin : begin + ADOPTED_AT_ONCE]
            for _ in range(ATTEMPTS):
                if not some:
                    break
                found = await self.database.get_many(list(EVENT.keys_for(some)))
                writes = await adoptions(self.database, [item for item in found.values() if is_foreign(item)])
                chunk = Chunk(payload, [write.record for write in writes], range(len(writes)))
                refused = set(map(id, await self._apply_all(chunk, writes, _uncounted)))
                applied = [write for write in writes if id(write) not in refused]
                if self.revises:
                    await self._complete(chunk, applied)
                adopted += len(applied)
                some = [write.item["eventId"] for write in writes if id(write) in refused]
        return adopted

    async def plan(self, records: Sequence[Incoming]) -> list[Write]:
        """What storing these records would change, as of now."""
        return await self._writes(records, probably_new=False)

    async def _writes(self, records: Sequence[Incoming], *, probably_new: bool) -> list[Write]:
        """The writes of those records that change something."""
        look_up = LookUp(self.database, self.aliases)
        # A refused insert shows that its event is stored. A deletion inserts nothing.
        await look_up.own_ids([each for each in records if not probably_new or isinstance(each, SourceDeletion)])
        if not self.revises:
            return [FirstVersion(each) for each in records if isinstance(each, Event) and not look_up.own(each)]
        unsure: list[Incoming] = []
        for begin in range(0, len(records), RECORDS_AT_ONCE):
            await give_way()
            some = records[begin : begin + RECORDS_AT_ONCE]
            unsure += [each for each in some if (own := look_up.own(each)) is None or not is_known(each, own)]
        await look_up.other_ids(unsure)
        return await _decided(unsure, await look_up.known(unsure))

    async def _apply_all(self, chunk: Chunk, writes: Sequence[Write], count: Count) -> list[Write]:
        """Apply writes that touch different events. Returns the refused ones."""
        refused = await self._apply(chunk, [write for write in writes if not write.is_version], count)
        return refused + await self._apply(chunk, [write for write in writes if write.is_version], count)

    async def _apply(self, chunk: Chunk, writes: Sequence[Write], count: Count) -> list[Write]:
        """Apply writes in transactions. All of them make versions, or none does. Returns the refused ones."""
        refused: list[Write] = []
        limit = self.database.transaction_limit - ChangeSequence.ACTIONS
        for some in _transactions(writes, limit):
            while some:
                numbered = some[0].is_version
                transaction = await Transaction.of(some)
                async with self.sequence.reserve() if numbered else nullcontext() as reservation:
                    conflicts = await self._transact(chunk, some, transaction, reservation)
                    if conflicts and reservation:
                        self.sequence.missed(reservation)
                if not conflicts:
                    for outcome in Outcome:
                        if records := [write.record for write in some if write.outcome is outcome]:
                            count(outcome, records)
                    break
                missed = transaction.owners(conflicts)
                unreadable = await self._unreadable(transaction.taken(conflicts))
                chunk.unreadable += [some[at].record for at in missed if not unreadable.isdisjoint(some[at].inserts)]
                refused += [some[at] for at in missed if unreadable.isdisjoint(some[at].inserts)]
                some = [write for at, write in enumerate(some) if at not in missed]
        return refused

    async def _transact(
        self, chunk: Chunk, writes: Sequence[Write], transaction: Transaction, reservation: Reservation | None
    ) -> tuple[int, ...]:
        """Apply writes in one transaction. Returns the places of refused actions; without any, they were applied."""
        payload = chunk.payload
        async with payload.turn():
            now = self.clock()
            await payload.intend(reservation.number if reservation else None, now, writes, chunk)
            refused = await self.database.transact(transaction.actions(now, reservation, payload.payload_id))
            payload.learn(stored=not refused)
        for day in transaction.uncounted_days(refused):
            await recount(self.database, day, [item["eventId"] for write in writes for item in write.stored or ()])
        return refused

    async def _unreadable(self, event_ids: Collection[str]) -> set[str]:
        """Those of some ids whose item no reader finds: another program stored a broken one."""
        found = await self.database.get_many(list(EVENT.keys_for(event_ids))) if event_ids else {}
        return set(event_ids) - {key.values[0] for key in found}


async def _decided(records: Sequence[Incoming], known: Sequence[KnownEvents]) -> list[Write]:
    """The writes of records, of each by what is known of its ids."""
    writes: list[Write] = []
    for at, (record, of_record) in enumerate(zip(records, known, strict=True)):
        if at % RECORDS_AT_ONCE == 0:
            await give_way()
        if (write := write_of(record, of_record)) is not None:
            writes.append(write)
    return writes


def _uncounted(outcome: Outcome, records: Sequence[Incoming]) -> None:
    """Count nothing: the records are counted already."""


def _waves(records: Sequence[Incoming]) -> Iterable[Sequence[Incoming]]:
    """The records in order of publication, in parts in which no two list an id of one another."""
    ids = [ids_of(record) for record in records]
    if len(set().union(*ids)) == sum(map(len, ids)):
        return [records]
    ordered = sorted(records, key=lambda record: (Rank.of(record).time, isinstance(record, SourceDeletion)))
    return _in_turn(ordered, ids_of)


def _in_turn(given: Iterable[T], ids_of: Callable[[T], Collection[str]]) -> list[list[T]]:
    """Records or writes in parts, in which each id is at most once. Those with an id in common stay in their order."""
    waves: list[list[T]] = []
    turn_of: dict[str, int] = {}  # id → the number of the next part that may have it
    for each in given:
        ids = ids_of(each)
        turn = max(turn_of.get(event_id, 0) for event_id in ids)
        turn_of |= dict.fromkeys(ids, turn + 1)
        if turn == len(waves):
            waves.append([])
        waves[turn].append(each)
    return waves


def _disjoint(writes: Sequence[Write]) -> tuple[list[Write], list[Write]]:
    """Writes that touch different events, and those that have to follow them."""
    at_once, *later = _in_turn(writes, attrgetter("ids")) or [[]]
    return at_once, list(chain(*later))


def _transactions(writes: Iterable[Write], limit: int) -> Iterator[list[Write]]:
    """The writes in order of time, in parts that fit one transaction with their summaries."""
    part: list[Write] = []
    size, known, periods = 0, set[tuple[str, ...]](), set[str]()
    for write in sorted(writes, key=attrgetter("time_ms")):
        touched = periods if write.days in known else periods | _periods(write.days)
        if part and size + write.size + ITEMS_OF_A_PERIOD * len(touched) > limit:
            yield part
            part, size, known, touched = [], 0, set(), _periods(write.days)
        part.append(write)
        size, periods = size + write.size, touched
        known.add(write.days)
    if part:
        yield part


def _periods(days: Iterable[str]) -> set[str]:
    """The days and their years."""
    return {period for day in days for period in (day, day[:4])}
