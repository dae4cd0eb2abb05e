"""The records of the triggers. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from graph.core.days import datetime_of
from graph.domains.triggers.change_keys import change_key
from graph.domains.triggers.entities import DELIVERY, ENDPOINT, TRIGGER_EVENT
from graph.domains.triggers.sending.answers import Failure
from graph.domains.triggers.statuses import Progress, TriggerEventStatus
from graph.store.client_input import possible_key
from graph.store.entity import Key
from graph.store.ordering import Ordering
from graph.store.records import Derived, Record, Stored

DAY_S = 86_400
RETENTION_S = 30 * DAY_S  # of events, deliveries and attempts, as documented
API_VERSION = "v1"  # in the metadata of an event


class EndpointState(Enum):
    """Whether deliveries are sent to an endpoint."""

    ENABLED = "enabled"
    PAUSED = "paused"  # by its user; deliveries wait
    DISABLED = "disabled"  # by the service; no further deliveries are made


class DeliveryState(Enum):
    """What has become of a delivery."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


def time_of(timestamp: str) -> datetime:
    """The time of a stored timestamp."""
    return datetime.fromisoformat(timestamp)


def timestamp_of(time: datetime) -> str:
    """A time as it is stored: ISO 8601, UTC, with microseconds."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def timestamp_at(microseconds: int) -> str:
    """The timestamp of epoch microseconds."""
    seconds, rest = divmod(microseconds, 1_000_000)
    return timestamp_of(datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest))


def event_key(timestamp: str, event_id: str) -> str:
    """What identifies an event of a user: in global ids, and in the sequence of changes behind the user."""
    return f"{timestamp}#{event_id}"


def key_of_event(user_id: str, key: str) -> Key | None:
    """The primary key of a user's event; None if no event can have it."""
    timestamp, _, event_id = key.partition("#")
    return possible_key(TRIGGER_EVENT, user_id, timestamp, event_id)


PROGRESS = ("status", "open_deliveries", "failed_deliveries", "retry_count")
"""The attributes of an event that hold its progress, in the order of `Progress`."""

INBOX = Ordering("triggerevents", TRIGGER_EVENT, TRIGGER_EVENT.table.primary, descending=True)


class TriggerEvent(Record):
    """Something that a user's programs want to hear of."""

    __slots__ = ()

    user_id = Stored[str]("user_id")
    timestamp = Stored[str]("timestamp")
    time = Derived(time_of, "timestamp")  # when it was created
    cursor = INBOX.cursors()
    event_id = Stored[str]("event_id")
    event_type = Stored[str]("event_type")
    payload = Stored[Mapping[str, Any]]("payload")
    status = Stored("status", TriggerEventStatus)
    retry_count = Stored[int]("retry_count")
    metadata = Stored[Mapping[str, Any] | None]("metadata", optional=True)
    delivery_keys = Stored[list[str]]("deliveries")  # `endpoint_id#sequence`
    expires_at = Stored("ttl", lambda ttl: datetime_of(1000 * ttl))

    @property
    def progress(self) -> Progress:
        """Its status, with what it follows from."""
        status, *numbers = (self.item[name] for name in PROGRESS)
        return Progress(TriggerEventStatus(status), *numbers)

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph for its user."""
        return "TriggerEvent", self.key

    @property
    def key(self) -> str:
        """What identifies it for its user."""
        return event_key(self.timestamp, self.event_id)

    @property
    def change_key(self) -> str:
        """Its key in the sequence of changes."""
        return change_key(self.user_id, self.key)


class Endpoint(Record):
    """Where a user's webhooks are sent."""

    __slots__ = ()

    user_id = Stored[str]("user_id")
    endpoint_id = Stored[str]("endpoint_id")
    url = Stored[str]("url")
    types = Stored[list[str] | None]("types", optional=True)
    description = Stored[str | None]("description", optional=True)
    ordered = Stored[bool]("ordered")
    state = Stored("state", EndpointState)
    reason = Stored[str | None]("reason", optional=True)
    created_at = Stored("created_at", datetime_of)

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph for its user."""
        return "TriggerEndpoint", self.endpoint_id

    @property
    def is_open(self) -> bool:
        """Whether further deliveries are made for it."""
        return self.state is not EndpointState.DISABLED

    def wants(self, event_type: str) -> bool:
        """Whether events of a type are delivered to it."""
        return self.is_open and (self.types is None or event_type in self.types)

    def secrets(self, now: int) -> tuple[str, ...]:
        """The secrets that sign now, epoch milliseconds: after a rotation, for a while two."""
        previous = (self.item["previous_secret"],) if self.item.get("previous_until", 0) > now else ()
        return (self.item["secret"], *previous)


ENDPOINTS = Ordering("triggerendpoints", ENDPOINT, ENDPOINT.table.primary)


def delivery_key(endpoint_id: str, sequence: int) -> str:
    """What identifies a delivery of a user, in global ids and in its event."""
    return f"{endpoint_id}#{sequence}"


def key_of_delivery(user_id: str, key: str) -> Key | None:
    """The primary key of a user's delivery; None if no delivery can have it."""
    endpoint_id, _, sequence = key.partition("#")
    if not (sequence.isascii() and sequence.isdigit() and len(sequence) <= 12 and sequence == str(int(sequence))):
        return None
    return possible_key(DELIVERY, endpoint_id, user_id, int(sequence))


class Delivery(Record):
    """An event on its way to one endpoint."""

    __slots__ = ()

    user_id = Stored[str]("user_id")
    endpoint_id = Stored[str]("endpoint_id")
    sequence = Stored[int]("sequence")
    cursor = Derived(str, "sequence")  # its position among the deliveries of its endpoint
    event_id = Stored[str]("event_id")
    webhook_id = Stored[str]("event_id")  # the header `webhook-id`, the same for all attempts
    event_timestamp = Stored[str]("event_timestamp")
    event_type = Stored[str]("event_type")
    state = Stored("state", DeliveryState)
    attempt_count = Stored[int]("attempts")
    next_attempt = Stored[datetime | None]("due", datetime_of, optional=True)
    created_at = Stored("created_at", datetime_of)
    ended_at = Stored[datetime | None]("ended_at", datetime_of, optional=True)
    expires_at = Stored("ttl", lambda ttl: datetime_of(1000 * ttl))

    @property
    def identity(self) -> tuple[str, str]:
        """Type and key, unique in the graph for its user."""
        return "Delivery", delivery_key(self.endpoint_id, self.sequence)

    @property
    def event_key(self) -> str:
        """What identifies its event."""
        return event_key(self.event_timestamp, self.event_id)


class DeliveryOfEvent(Delivery):
    """A delivery in the list of its event."""

    __slots__ = ()

    cursor = Derived(delivery_key, "endpoint_id", "sequence")  # its position among the deliveries of its event


class Attempt(Record):
    """One HTTP request of a delivery."""

    __slots__ = ()

    number = Stored[int]("number")
    time = Stored("time", datetime_of)
    status = Stored[int | None]("status", optional=True)
    failure = Stored[Failure | None]("error", Failure.__getitem__, optional=True)
    latency_ms = Stored[int]("latency_ms")
    answer = Stored[str | None]("answer", optional=True)


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event that is about to be stored."""

    user_id: str
    event_type: str
    payload: Mapping[str, Any]
    metadata: Mapping[str, Any]
    endpoint_ids: tuple[str, ...] | None = None  # where it is delivered; None: wherever its type is wanted
    idempotency_key: str | None = None
