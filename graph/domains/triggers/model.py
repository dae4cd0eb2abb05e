"""The records of the triggers. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import quote

from graph.core.days import EPOCH_TIME, datetime_of, datetime_of_seconds
from graph.core.described import DescribedText
from graph.domains.triggers.sending.answers import Failure
from graph.domains.triggers.statuses import EventProgress, TriggerEventStatus
from graph.store.attributes import Filled, JsonDocument, JsonMapping, Text, Truth, UtcTime, Whole
from graph.store.records import Converted, Derived, Record, Stored, optional, stored

LONGEST_USER = 256  # characters; as the subject of a token
LONGEST_TYPE = 128  # characters
LARGEST_PAYLOAD = 262_144  # bytes
LONGEST_URL = 2048  # characters
LONGEST_NAME = 128  # characters
LONGEST_DESCRIPTION = 512  # characters
LONGEST_ID = 36  # characters of a UUID
LONGEST_EVENT_ID = 128  # characters; ours are UUIDs, those of other programs anything
LONGEST_IDEMPOTENCY_KEY = 128  # characters
LONGEST_ANSWER = 1000  # characters of an endpoint's answer
SEQUENCE_DIGITS = 12
SECOND = len("2023-08-03T02:52:13")
LENGTH = len("2023-08-03T02:52:13.180123Z")  # of a time that this service writes
ATTEMPT_DIGITS = 6

DAY_S = 86_400
RETENTION_S = 30 * DAY_S  # of events, deliveries and attempts, as documented
BETWEEN = "\x1f"  # a user and what identifies a record: the unit separator, which no subject of a token has
API_VERSION = "v1"  # in the metadata of an event


class EndpointState(DescribedText):
    """Whether deliveries are sent to an endpoint."""

    ENABLED = "enabled", "They are sent."
    PAUSED = "paused", "They wait until the endpoint is resumed."
    DISABLED = "disabled", "The service has stopped them, and makes no further ones until the endpoint is resumed."


class EndpointDisabledReason(DescribedText):
    """Why the service has disabled an endpoint."""

    GONE = "GONE", "It answered 410: it is gone."
    FAILING = "FAILING", "For days, every attempt failed."


class DeliveryState(DescribedText):
    """What has become of a delivery."""

    WAITING = "waiting", "It waits for its next attempt."
    DELIVERED = "delivered", "The endpoint has taken it."
    FAILED = "failed", "It was given up."


def time_of(timestamp: str) -> datetime:
    """The time of a stored timestamp."""
    return datetime.fromisoformat(timestamp)


def checked_texts(values: Any) -> list[str]:
    """A list of texts. Raises ValueError for anything else."""
    if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
        raise ValueError("the value must be a list of texts")
    return values


USER = Text(shortest=1, longest=LONGEST_USER)
UUID = Text(shortest=LONGEST_ID, longest=LONGEST_ID)
EVENT_ID = Text(shortest=1, longest=LONGEST_EVENT_ID)
RETRIES = Whole(least=0, greatest=2**31 - 1)  # the greatest whole number of the graph
MILLIS = Converted(Whole(unit="epoch ms"), datetime_of)
EXPIRY = Converted(Whole(unit="epoch seconds"), datetime_of_seconds)


def timestamp_at(microseconds: int) -> str:
    """Epoch microseconds as a time is stored: ISO 8601, UTC, with microseconds."""
    time = EPOCH_TIME + timedelta(microseconds=microseconds)
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")


def to_microseconds(timestamp: str) -> str:
    """A time as this service writes it, of one that any program has written. Further digits are cut off."""
    if len(timestamp) == LENGTH and timestamp[-1] == "Z":
        return timestamp
    fraction = timestamp[SECOND:].partition("+")[0].rstrip("Z")
    return f"{timestamp[:SECOND]}.{fraction[1:7]:0<6}Z"


def webhook_id_of(event_id: str) -> str:
    """The header `webhook-id` of an event: its id, in which other programs may use characters that no header has."""
    return quote(event_id, safe="").replace(".", "%2E")


def event_key(timestamp: str, event_id: str) -> str:
    """What identifies an event of a user: in global ids, and in the sequence of changes behind the user."""
    return f"{timestamp}#{event_id}"


def change_key(user_id: str, key: str) -> str:
    """The key of a user's record in a sequence of changes."""
    return f"{user_id}{BETWEEN}{key}"


def user_and_key(joined: str) -> tuple[str, str]:
    """The user and the record that such a key names."""
    user_id, _, key = joined.partition(BETWEEN)
    return user_id, key


PROGRESS = ("status", "open_deliveries", "failed_deliveries", "retry_count")
"""The attributes of an event that hold its progress, in the order of `EventProgress`."""


class TriggerEvent(Record):
    """Something that one of the caller's programs wants to hear of."""

    cursor: ClassVar[Derived[str]]  # its position, see `entities.INBOX`
    user_id = stored("user_id", USER)
    timestamp = stored(
        "timestamp",
        UtcTime(),
        "When it was created, as documented: ISO 8601, UTC, with microseconds, or as another program wrote it.",
    )
    created_at = Derived(time_of, "timestamp", description="When it was created.")
    event_id = stored("event_id", EVENT_ID, "The event's own id: a UUID, or what another program calls it.")
    event_type = stored(
        "event_type", Text(shortest=1, longest=LONGEST_TYPE, plain=True), "Its type, such as `order.completed`."
    )
    payload: Stored[Mapping[str, Any]] = stored(
        "payload", JsonMapping(largest=LARGEST_PAYLOAD), "What happened, as an object."
    )
    status = stored(
        "status", Converted(Text(shortest=1, longest=9, plain=True), TriggerEventStatus), "How far it has come."
    )
    expires_at = stored("ttl", EXPIRY, "When it will be deleted, after 30 days.")
    retry_count = stored("retry_count", RETRIES, "Number of attempts after the first of each delivery.")
    metadata: Stored[Mapping[str, Any] | None] = optional(
        "metadata",
        JsonMapping(largest=8192),
        "How it came: `source_ip`, `api_version`, `correlation_id`, as far as they are known.",
    )
    delivery_keys: Stored[list[str]] = stored(
        "deliveries", Converted(JsonDocument(largest=8192, absent=Filled(list)), checked_texts)
    )  # `endpoint_id#sequence`

    @property
    def progress(self) -> EventProgress:
        """Its status, with what it follows from."""
        status, *numbers = (self.item[name] for name in PROGRESS)
        return EventProgress(TriggerEventStatus(status), *numbers)

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
    """Where the caller's webhooks are sent."""

    user_id = stored("user_id", USER)
    endpoint_id = stored("endpoint_id", UUID, "The endpoint's own id, a UUID.")
    url = stored("url", Text(shortest=1, longest=LONGEST_URL), "Where its webhooks are sent.")
    types: Stored[list[str] | None] = optional(
        "types", JsonDocument(largest=16_384), "The types of events that it wants; null for all."
    )
    description = optional("description", Text(longest=LONGEST_DESCRIPTION), "What its user says of it.")
    ordered = stored(
        "ordered",
        Truth(),
        "Whether a delivery is sent only when the one before has ended. It is slower, and rarely needed.",
    )
    state = stored("state", Converted(Text(longest=8), EndpointState), "Whether deliveries are sent.")
    reason = optional(
        "reason", Converted(Text(longest=64), EndpointDisabledReason), "Why it is disabled; null if it is not."
    )
    created_at = stored("created_at", MILLIS, "When it was created.")

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


def delivery_key(endpoint_id: str, sequence: int) -> str:
    """What identifies a delivery of a user, in global ids and in its event."""
    return f"{endpoint_id}#{sequence}"


class Delivery(Record):
    """An event on its way to one endpoint."""

    user_id = stored("user_id", USER)
    endpoint_id = stored("endpoint_id", UUID, "The endpoint.")
    sequence = stored(
        "sequence",
        Whole(least=1, digits=SEQUENCE_DIGITS),
        "Its number among all deliveries of the endpoint, from 1 without gaps. Its webhook has it, too.",
    )
    cursor: ClassVar[Derived[str]]  # its position among the deliveries of its endpoint, see `entities.OF_ENDPOINT`
    event_id = stored("event_id", EVENT_ID)
    webhook_id = Derived(
        webhook_id_of, "event_id", description="The header `webhook-id`, the same for all attempts: the event's id."
    )
    event_timestamp = stored("event_timestamp", UtcTime())
    event_type = stored("event_type", Text(shortest=1, longest=LONGEST_TYPE), "The event's type.")
    state = stored("state", Converted(Text(longest=9), DeliveryState), "What has become of it.")
    attempt_count = stored("attempts", Whole(least=0), "Number of attempts.")
    next_attempt_at = optional(
        "due", MILLIS, "When it is attempted again; null before the first attempt, and once it has ended."
    )
    created_at = stored("created_at", MILLIS, "When it was created, with its event.")
    ended_at = optional("ended_at", MILLIS, "When it was delivered or given up; null while it waits.")
    expires_at = stored("ttl", EXPIRY, "When it will be deleted, with its event.")

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

    cursor: ClassVar[Derived[str]]  # its position among the deliveries of its event, see `entities.OF_EVENT`


class Attempt(Record):
    """One HTTP request of a delivery."""

    number = stored("number", Whole(least=1, digits=ATTEMPT_DIGITS), "Its number, from 1.")
    started_at = stored("time", MILLIS, "When it began.")
    status = optional("status", Whole(), "HTTP status of the answer; null without one.")
    failure = optional(
        "error", Converted(Text(longest=32), Failure.__getitem__), "Why there was no answer; null with one."
    )
    latency_ms = stored("latency_ms", Whole(least=0), "How long it took, ms.")
    answer = optional("answer", Text(longest=LONGEST_ANSWER), "The first 1,000 bytes of the answer, as text.")


@dataclass(frozen=True, slots=True)
class NewTriggerEvent:
    """An event that is about to be stored."""

    user_id: str
    event_type: str
    payload: Mapping[str, Any]
    metadata: Mapping[str, Any]
    endpoint_ids: tuple[str, ...] | None = None  # where it is delivered; None: wherever its type is wanted
    idempotency_key: str | None = None
