"""An event that is about to be stored or adopted: its item, its deliveries, its idempotency key. No I/O."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Self
from uuid import uuid4

import orjson

from graph.domains.triggers.entities import EVENT_CHANGES, TRIGGER_EVENT
from graph.domains.triggers.model import (
    RETENTION_S,
    DeliveryState,
    Endpoint,
    NewTriggerEvent,
    TriggerEvent,
    delivery_key,
)
from graph.domains.triggers.statuses import TriggerEventStatus
from graph.store.conditions import Absent, AllOf, Compare, Present
from graph.store.contract import Put, Update
from graph.store.entity import Item
from graph.store.values import written_bytes

BESIDE_PAYLOAD = 2048  # bytes of an event's item, about, which each index counts too

FOREIGN = Absent(EVENT_CHANGES.number)
"""Only an event that another program has stored, and that was not adopted yet, fulfils this."""


@dataclass(eq=False, slots=True)
class Entry:
    """An event that waits to be stored."""

    event: NewTriggerEvent
    event_id: str = field(default_factory=lambda: str(uuid4()))
    item: Item = field(default_factory=dict)  # once its time is known
    stored: TriggerEvent | None = None
    is_duplicate: bool = False  # whether it was stored earlier, with the same idempotency key
    is_adopted: bool = False  # whether another program has stored it

    @classmethod
    def adopted(cls, item: Item) -> Self:
        """An event that another program has stored.

        It is delivered if its status is still the first one: any other was written by a program that delivers it.
        """
        is_new = item["status"] == TriggerEventStatus.RECEIVED.value
        event = NewTriggerEvent(item["user_id"], item["event_type"], item["payload"], {}, None if is_new else ())
        return cls(event, item["event_id"], dict(item), is_adopted=True)

    @property
    def key(self) -> tuple[str, str] | None:
        """Its user and idempotency key; None without one."""
        event = self.event
        return None if event.idempotency_key is None else (event.user_id, event.idempotency_key)

    @property
    def digest(self) -> str:
        """A hash of what it says, by which a key that is used for two events is found."""
        said = orjson.dumps([self.event.event_type, self.event.payload], option=orjson.OPT_SORT_KEYS)
        return sha256(said).hexdigest()

    @property
    def size(self) -> int:
        """About its bytes in a transaction."""
        return written_bytes(dict(self.event.payload)) + BESIDE_PAYLOAD

    def endpoints_among(self, endpoints: Iterable[Endpoint]) -> list[str]:
        """The ids of its user's endpoints that it is delivered to."""
        event = self.event
        if event.endpoint_ids is None:
            return [each.endpoint_id for each in endpoints if each.wants(event.event_type)]
        return [each.endpoint_id for each in endpoints if each.is_open and each.endpoint_id in event.endpoint_ids]

    def begin(self, timestamp: str, now: int) -> None:
        """Make its item, without deliveries; `now` in epoch milliseconds."""
        if self.is_adopted:
            self.item |= _no_deliveries()
            return
        self.item = {
            "user_id": self.event.user_id,
            "timestamp": timestamp,
            "event_id": self.event_id,
            "event_type": self.event.event_type,
            "payload": self.event.payload,
            "status": TriggerEventStatus.RECEIVED.value,
            "ttl": now // 1000 + RETENTION_S,
            "retry_count": 0,
            "metadata": self.event.metadata,
            **_no_deliveries(),
        }

    def action(self) -> Put | Update:
        """What stores its item, or adds to that of another program what we store."""
        if not self.is_adopted:
            return Put(TRIGGER_EVENT, self.item, if_absent=True)
        is_new = [Compare("status", "=", TriggerEventStatus.RECEIVED.value)] if self.event.endpoint_ids is None else []
        is_foreign = AllOf((Present("event_type"), FOREIGN, *is_new))
        added = {name: self.item[name] for name in (EVENT_CHANGES.number, *_no_deliveries())}
        return Update(TRIGGER_EVENT.key_of(self.item), set=added, condition=is_foreign)

    def without_deliveries(self) -> bool:
        """Have it adopted without deliveries, as it may be acknowledged by now. False if it was to have none before."""
        had_none = self.event.endpoint_ids is not None
        self.event = replace(self.event, endpoint_ids=())
        return not had_none

    def delivery(self, endpoint_id: str, sequence: int, now: int) -> Item:
        """A delivery, which its item names from now on."""
        self.item["deliveries"].append(delivery_key(endpoint_id, sequence))
        self.item["open_deliveries"] += 1
        return {
            "endpoint_id": endpoint_id,
            "user_id": self.event.user_id,
            "sequence": sequence,
            "event_id": self.event_id,
            "event_timestamp": self.item["timestamp"],
            "event_type": self.event.event_type,
            "state": DeliveryState.WAITING.value,
            "attempts": 0,
            "first_attempt": 1,
            "created_at": now,
            "ttl": self.item["ttl"],
        }

    @property
    def key_item(self) -> Item:
        """The item of its idempotency key."""
        return {
            "user_id": self.event.user_id,
            "key": self.event.idempotency_key,
            "event_id": self.event_id,
            "event_timestamp": self.item["timestamp"],
            "digest": self.digest,
            "ttl": self.item["ttl"],
        }


def _no_deliveries() -> Item:
    return {"deliveries": [], "open_deliveries": 0, "failed_deliveries": 0}
