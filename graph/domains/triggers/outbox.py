"""Stores events together with their deliveries, so that a crash loses neither.

    event → its endpoints → one transaction: the event, its deliveries, their sequence numbers, the change's number

Events that are created at the same time are stored in one transaction, since each of them takes the next number of
the changes, and perhaps of the same endpoint.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from graph.core.clock import Clock
from graph.core.errors import DatabaseUnavailable
from graph.domains.triggers.checking import digest_of
from graph.domains.triggers.endpoints import Endpoints
from graph.domains.triggers.entities import DELIVERY, EVENT_CHANGES, IDEMPOTENCY_KEY, QUEUE, TRIGGER_EVENT
from graph.domains.triggers.errors import IdempotencyKeyReused
from graph.domains.triggers.model import (
    RETENTION_S,
    DeliveryState,
    Endpoint,
    NewEvent,
    TriggerEvent,
    delivery_key,
    event_key,
    timestamp_at,
)
from graph.domains.triggers.queues import called
from graph.domains.triggers.statuses import TriggerEventStatus
from graph.feed.sequence import ChangeSequence
from graph.store.conditions import Compare
from graph.store.contract import Action, Database, Put, Update
from graph.store.entity import Item
from graph.store.values import item_bytes
from graph.work.together import WrittenTogether

MOST_BYTES = 3_500_000  # of a transaction's events; DynamoDB takes 4 MB
MOST_EVENTS = 200  # of a transaction, so that it does not hold the writer for long
ROUNDS = 50  # for one transaction; a further round is due to other processes that write to the same endpoints
BETWEEN = "\x1f"  # the unit separator, which no subject of a token has

Mark = Callable[[int], Update]
"""The number of stored events → what is changed in the same transaction."""


def change_key(user_id: str, key: str) -> str:
    """The key of an event in the sequence of changes."""
    return f"{user_id}{BETWEEN}{key}"


@dataclass(eq=False, slots=True)
class _Entry:
    """An event that waits to be stored."""

    event: NewEvent
    event_id: str = field(default_factory=lambda: str(uuid4()))
    digest: str = ""
    stored: TriggerEvent | None = None
    is_duplicate: bool = False
    item: Item = field(default_factory=dict)

    @property
    def event_stored(self) -> TriggerEvent:
        """The event, once it is stored."""
        if self.stored is None:
            raise AssertionError("the event is not stored")
        return self.stored

    @property
    def size(self) -> int:
        """About its bytes in a transaction, in which each index counts."""
        return item_bytes(dict(self.event.payload)) + 2048


class Outbox:
    """Creates events."""

    def __init__(self, database: Database, endpoints: Endpoints, clock: Clock) -> None:
        self.sequence = ChangeSequence(database, EVENT_CHANGES)
        self.listeners: list[Callable[[Collection[str]], object]] = []  # called with ids of endpoints that got more
        self._database = database
        self._endpoints = endpoints
        self._clock = clock
        self._latest = 0  # the time of the last event, epoch microseconds
        self._together = WrittenTogether(self._store, most=MOST_EVENTS)

    async def create(self, event: NewEvent) -> tuple[TriggerEvent, bool]:
        """Store an event. Returns it, and whether it was stored already, by its idempotency key.

        Raises:
            IdempotencyKeyReused: Another event has the key.
            DatabaseUnavailable: It may be stored. With an idempotency key, to create it again is safe.
        """
        digest = digest_of(event.event_type, event.payload) if event.idempotency_key is not None else ""
        entry = _Entry(event, digest=digest)
        await self._together.write(entry)
        if entry.is_duplicate and entry.digest != entry.item["digest"]:
            raise IdempotencyKeyReused
        return entry.event_stored, entry.is_duplicate

    def tell(self, endpoint_ids: Collection[str]) -> None:
        """Tell a deliverer of this process that there may be something to deliver."""
        for listener in self.listeners:
            listener(endpoint_ids)

    async def create_some(self, events: Sequence[NewEvent], mark: Mark) -> int:
        """Store the first of these events, as many as one transaction takes, and mark that.

        Returns:
            How many were stored; 0 if the condition of the mark does not hold.
        """
        async with self._together.alone():
            return len(await self._store(list(map(_Entry, events)), mark))

    async def _store(self, entries: Sequence[_Entry], mark: Mark | None = None) -> Collection[_Entry]:
        """Store the first entries in one transaction. Returns those that are done."""
        for _ in range(ROUNDS):
            batch = await self._batch(entries, 1 if mark else 0)
            refused = await self._transact(batch, mark)
            if refused is None:
                self.tell(batch.sequences.keys())
                return batch.entries
            if mark and refused.is_marked_otherwise:
                return ()
            if known := [entry for entry in refused.known if await self._find(entry)]:
                return known
        raise DatabaseUnavailable("other processes kept writing to the same endpoints")

    async def _batch(self, entries: Sequence[_Entry], others: int) -> "_Batch":
        """The first entries that fit one transaction, with their endpoints."""
        users = {entry.event.user_id for entry in entries}
        endpoints = await self._endpoints.of_users(users)
        room = self._database.transaction_limit - ChangeSequence.ACTIONS - others
        batch, keys, size = _Batch(), set[tuple[str, str]](), 0
        for entry in entries:
            wanting = _wanting(entry.event, endpoints[entry.event.user_id])
            key = entry.event.idempotency_key
            named = {(entry.event.user_id, key)} if key is not None else set[tuple[str, str]]()
            size += entry.size
            actions = batch.actions_with(len(named), wanting)
            if batch.entries and (actions > room or size > MOST_BYTES or named & keys):
                break
            keys |= named
            batch.add(entry, len(named), wanting)
        queues = await self._database.get_many({QUEUE.key_for(each) for each in batch.numbers}) if batch.numbers else {}
        batch.sequences = {item["endpoint_id"]: int(item["sequence"]) for item in queues.values()}
        return batch

    async def _transact(self, batch: "_Batch", mark: Mark | None) -> "_Refused | None":
        """Store a batch. None if it was stored."""
        now = self._clock()
        actions: list[Action] = []
        owners: list[_Entry | None] = []
        numbers = dict(batch.sequences)
        items = []
        for entry, wanting in zip(batch.entries, batch.wanting, strict=True):
            items.append(self._item(entry, now))
            if entry.event.idempotency_key is not None:
                actions.append(Put(IDEMPOTENCY_KEY, _key_item(entry), if_absent=True))
                owners.append(entry)
            for endpoint_id in wanting:
                if endpoint_id in numbers:  # else it was deleted just now
                    numbers[endpoint_id] += 1
                    actions.append(Put(DELIVERY, _delivery(entry.item, endpoint_id, numbers[endpoint_id], now)))
                    owners.append(None)
        for endpoint_id, sequence in numbers.items():
            if added := sequence - batch.sequences[endpoint_id]:
                actions.append(_lengthened(endpoint_id, batch.sequences[endpoint_id], added, now))
        if mark:
            actions.append(mark(len(batch.entries)))
        keys = [change_key(item["user_id"], event_key(item["timestamp"], item["event_id"])) for item in items]
        async with self.sequence.reserve() as reservation:
            stored = reservation.numbered(items)
            puts = [Put(TRIGGER_EVENT, item, if_absent=True) for item in stored]
            refused = await self._database.transact(
                [*actions, *puts, *reservation.actions(keys, ttl=now // 1000 + RETENTION_S)]
            )
            if not refused:
                for entry, item in zip(batch.entries, stored, strict=True):
                    entry.stored = TriggerEvent(item)
                return None
            self.sequence.missed(reservation)
        known = [owner for at in refused if at < len(owners) and (owner := owners[at])]
        return _Refused(known, is_marked_otherwise=mark is not None and len(actions) - 1 in refused)

    def _item(self, entry: _Entry, now: int) -> Item:
        """The item of an event, later than those before it."""
        self._latest = max(1000 * now, self._latest + 1)
        event = entry.event
        entry.item = {
            "user_id": event.user_id,
            "timestamp": timestamp_at(self._latest),
            "event_id": entry.event_id,
            "event_type": event.event_type,
            "payload": event.payload,
            "status": TriggerEventStatus.RECEIVED.value,
            "ttl": now // 1000 + RETENTION_S,
            "retry_count": 0,
            "metadata": event.metadata,
            "deliveries": [],
            "open_deliveries": 0,
            "failed_deliveries": 0,
        }
        return entry.item

    async def _find(self, entry: _Entry) -> bool:
        """Find the event that has the same idempotency key. False if it has expired just now."""
        event = entry.event
        found = await self._database.get(IDEMPOTENCY_KEY.key_for(event.user_id, event.idempotency_key))
        if not found:
            return False
        key = TRIGGER_EVENT.key_for(event.user_id, found["event_timestamp"], found["event_id"])
        if not (item := await self._database.get(key)):
            return False
        entry.item, entry.stored, entry.is_duplicate = found, TriggerEvent(item), True
        return True


@dataclass(eq=False, slots=True)
class _Batch:
    """Entries that are stored together."""

    entries: list[_Entry] = field(default_factory=list)
    wanting: list[list[str]] = field(default_factory=list)  # of each entry, the ids of its endpoints
    numbers: Counter[str] = field(default_factory=Counter)  # deliveries of each endpoint
    others: int = 0  # idempotency keys
    sequences: dict[str, int] = field(default_factory=dict)  # of the endpoints, before

    def actions_with(self, others: int, wanting: Sequence[str]) -> int:
        """The number of actions with one entry more."""
        endpoints = len(self.numbers.keys() | set(wanting))
        return len(self.entries) + 1 + self.others + others + self.numbers.total() + len(wanting) + endpoints

    def add(self, entry: _Entry, others: int, wanting: list[str]) -> None:
        """Add an entry."""
        self.entries.append(entry)
        self.wanting.append(wanting)
        self.numbers.update(wanting)
        self.others += others


@dataclass(frozen=True, slots=True)
class _Refused:
    """Why a batch was not stored. If nothing is set, another process has written to an endpoint."""

    known: list[_Entry]  # whose idempotency keys were used before
    is_marked_otherwise: bool


def _wanting(event: NewEvent, endpoints: Sequence[Endpoint]) -> list[str]:
    """The ids of the endpoints that an event is delivered to."""
    if event.endpoint_ids is None:
        return [each.endpoint_id for each in endpoints if each.wants(event.event_type)]
    return [each.endpoint_id for each in endpoints if each.is_open and each.endpoint_id in event.endpoint_ids]


def _delivery(event: Item, endpoint_id: str, sequence: int, now: int) -> Item:
    """A delivery of an event, whose item is told of it."""
    event["deliveries"].append(delivery_key(endpoint_id, sequence))
    event["open_deliveries"] += 1
    return {
        "endpoint_id": endpoint_id,
        "user_id": event["user_id"],
        "sequence": sequence,
        "event_id": event["event_id"],
        "event_timestamp": event["timestamp"],
        "event_type": event["event_type"],
        "state": DeliveryState.WAITING.value,
        "attempts": 0,
        "first_attempt": 1,
        "created_at": now,
        "ttl": event["ttl"],
    }


def _lengthened(endpoint_id: str, sequence: int, added: int, now: int) -> Update:
    """An endpoint's queue with so many deliveries more."""
    unchanged = Compare("sequence", "=", sequence)
    return called(endpoint_id, now, more=added, condition=unchanged, sequence=sequence + added)


def _key_item(entry: _Entry) -> Item:
    return {
        "user_id": entry.event.user_id,
        "key": entry.event.idempotency_key,
        "event_id": entry.event_id,
        "event_timestamp": entry.item["timestamp"],
        "digest": entry.digest,
        "ttl": entry.item["ttl"],
    }
