"""Stores events together with their deliveries, so that a crash loses neither.

    event → its endpoints → one transaction: the event, its deliveries, their sequence numbers, the change's number

Events that are created at the same time are stored in one transaction, since each of them takes the next number of
the changes, and perhaps of the same endpoint.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from graph.core.clock import Clock
from graph.core.described import described, value
from graph.domains.triggers.endpoints import Endpoints
from graph.domains.triggers.entities import DELIVERY, EVENT_CHANGES, IDEMPOTENCY_KEY, QUEUE, TRIGGER_EVENT
from graph.domains.triggers.entries import Entry
from graph.domains.triggers.errors import IdempotencyKeyReused
from graph.domains.triggers.model import RETENTION_S, NewTriggerEvent, TriggerEvent, timestamp_at, to_microseconds
from graph.domains.triggers.queues import called
from graph.domains.triggers.quotas import WatchQuota
from graph.feed.sequence import ChangeSequence, Reservation
from graph.store.conditions import Compare
from graph.store.contract import Action, Database, Put, Update
from graph.store.entity import Item
from graph.store.rounds import until_applied
from graph.work.together import WrittenTogether

MOST_BYTES = 3_500_000  # of a transaction's events; DynamoDB takes 4 MB
MOST_EVENTS = 200  # of a transaction, so that it does not hold the writer for long

Mark = Callable[[int], Update]
"""The number of stored events → what is changed in the same transaction."""


@value
class Created:
    """The created event."""

    trigger_event: TriggerEvent = described("The event.")
    duplicate: bool = described("Whether it was created earlier, with the same idempotency key.")


class Outbox:
    """Creates events."""

    def __init__(
        self, database: Database, endpoints: Endpoints, clock: Clock, *, quota: WatchQuota | None = None
    ) -> None:
        self.sequence = ChangeSequence(database, EVENT_CHANGES)
        self.quota = quota or WatchQuota(clock)  # of what follows feeds, and makes events of watches
        self.listeners: list[Callable[[Collection[str]], object]] = []  # called with ids of endpoints that got more
        self._database = database
        self._endpoints = endpoints
        self._clock = clock
        self._latest = 0  # the time of the last event, epoch microseconds
        self._together = WrittenTogether(self._store, most=MOST_EVENTS)

    async def create(self, event: NewTriggerEvent) -> Created:
        """Store an event.

        Raises:
            IdempotencyKeyReused: Another event has the key.
            DatabaseUnavailable: It may be stored. With an idempotency key, to create it again is safe.
        """
        entry = Entry(event)
        await self._together.write(entry)
        if entry.stored is None:
            raise IdempotencyKeyReused
        return Created(entry.stored, entry.is_duplicate)

    def tell(self, endpoint_ids: Collection[str]) -> None:
        """Tell a deliverer of this process that there may be something to deliver."""
        for listener in self.listeners:
            listener(endpoint_ids)

    async def create_some(self, events: Sequence[NewTriggerEvent], mark: Mark) -> int:
        """Store the first of these events, as many as one transaction takes, and mark that.

        Returns:
            How many were stored; 0 if the condition of the mark does not hold.
        """
        async with self._together.alone():
            return len(await self._store(list(map(Entry, events)), mark))

    async def adopt(self, items: Sequence[Item]) -> None:
        """Add to stored events of other programs what ours have: deliveries, and a number of the changes.

        Those that are adopted already are left as they are. Endpoints get the others in the order of their times.
        """
        entries = [Entry.adopted(item) for item in sorted(items, key=lambda item: to_microseconds(item["timestamp"]))]
        async with self._together.alone():
            while entries:
                done = await self._store(entries)
                entries = [entry for entry in entries if entry not in done]

    @until_applied("other processes kept writing to the same endpoints")
    async def _store(self, entries: Sequence[Entry], mark: Mark | None = None) -> Collection[Entry] | None:
        """Store the first entries in one transaction. Returns those that are done."""
        batch, now = await self._batch(entries, 1 if mark else 0), self._clock()
        for entry in batch.entries:
            self._latest = max(1000 * now, self._latest + 1)  # later than the event before it
            entry.begin(timestamp_at(self._latest), now)
        keyed = [entry for entry in batch.entries if entry.key]
        actions: list[Action] = [
            *(Put(IDEMPOTENCY_KEY, entry.key_item, if_absent=True) for entry in keyed),
            *([mark(len(batch.entries))] if mark else ()),
            *batch.deliveries(now),
        ]
        changed = [TriggerEvent(entry.item).change_key for entry in batch.entries]

        def numbered(reservation: Reservation) -> list[Action]:
            for entry in batch.entries:
                entry.item[EVENT_CHANGES.number] = reservation.number
            events = [entry.action() for entry in batch.entries]
            return [*actions, *events, *reservation.actions(changed, ttl=now // 1000 + RETENTION_S)]

        refused = await self.sequence.transact(numbered)
        if not refused:
            for entry in batch.entries:
                entry.stored = TriggerEvent(entry.item)
            self.tell(batch.sequences.keys())
            return batch.entries
        if mark and len(keyed) in refused:
            return ()
        known = [keyed[at] for at in refused if at < len(keyed)]  # whose idempotency keys were used before
        adopted = [entry for at, entry in enumerate(batch.entries, len(actions)) if at in refused and entry.is_adopted]
        done = [entry for entry in adopted if not entry.without_deliveries()]
        return [*done, *[entry for entry in known if await self._is_known(entry)]] or None

    async def _batch(self, entries: Sequence[Entry], others: int) -> "_Batch":
        """The first entries that fit one transaction beside so many other actions, with their endpoints."""
        endpoints = await self._endpoints.of_users({entry.event.user_id for entry in entries})
        room = self._database.transaction_limit - ChangeSequence.ACTIONS - others
        batch = _Batch()
        for entry in entries:
            if not batch.add(entry, entry.endpoints_among(endpoints[entry.event.user_id]), room):
                break
        queues = await self._database.get_many({QUEUE.key_for(each) for each in batch.numbers}) if batch.numbers else {}
        batch.sequences = {item["endpoint_id"]: int(item["sequence"]) for item in queues.values()}
        return batch

    async def _is_known(self, entry: Entry) -> bool:
        """Find the event that has the same idempotency key. False if it has expired just now."""
        user_id = entry.event.user_id
        found = await self._database.get(IDEMPOTENCY_KEY.key_for(user_id, entry.event.idempotency_key))
        if not found:
            return False
        key = TRIGGER_EVENT.key_for(user_id, found["event_timestamp"], found["event_id"])
        if not (item := await self._database.get(key)):
            return False
        if found["digest"] == entry.digest:
            entry.stored, entry.is_duplicate = TriggerEvent(item), True
        return True


@dataclass(eq=False, slots=True)
class _Batch:
    """Entries that are stored together."""

    entries: list[Entry] = field(default_factory=list)
    wanting: list[list[str]] = field(default_factory=list)  # of each entry, the ids of its endpoints
    numbers: Counter[str] = field(default_factory=Counter)  # deliveries of each endpoint
    keys: set[tuple[str, str]] = field(default_factory=set)  # idempotency keys
    size: int = 0  # bytes
    sequences: dict[str, int] = field(default_factory=dict)  # of the endpoints that exist, before

    def add(self, entry: Entry, wanting: list[str], room: int) -> bool:
        """Add an entry. False if it does not fit so many actions, or has the key of another one."""
        keys = {entry.key} if entry.key else set[tuple[str, str]]()
        endpoints = len(self.numbers.keys() | set(wanting))
        deliveries = self.numbers.total() + len(wanting)
        actions = len(self.entries) + 1 + len(self.keys) + len(keys) + deliveries + endpoints
        size = self.size + entry.size
        if self.entries and (actions > room or size > MOST_BYTES or keys & self.keys):
            return False
        self.entries.append(entry)
        self.wanting.append(wanting)
        self.numbers.update(wanting)
        self.keys |= keys
        self.size = size
        return True

    def deliveries(self, now: int) -> list[Action]:
        """The actions that store the deliveries, and take their sequence numbers."""
        actions: list[Action] = []
        latest = dict(self.sequences)
        for entry, wanting in zip(self.entries, self.wanting, strict=True):
            for endpoint_id in wanting:
                if endpoint_id in latest:  # else it was deleted just now
                    latest[endpoint_id] += 1
                    actions.append(Put(DELIVERY, entry.delivery(endpoint_id, latest[endpoint_id], now)))
        for endpoint_id, sequence in latest.items():
            before = self.sequences[endpoint_id]
            if sequence > before:
                unchanged = Compare("sequence", "=", before)
                actions.append(called(endpoint_id, now, more=sequence - before, condition=unchanged, sequence=sequence))
        return actions
