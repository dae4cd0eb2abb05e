"""The triggers' tables: the documented one holds events alone, all the rest is in a second one.

Everything that belongs to a user is in partitions that name the user, so that no reading can reach another user's.
"""

from graph.domains.triggers.model import (
    LONGEST_ID,
    LONGEST_IDEMPOTENCY_KEY,
    LONGEST_USER,
    SEQUENCE_DIGITS,
    Attempt,
    Delivery,
    DeliveryOfEvent,
    Endpoint,
    TriggerEvent,
)
from graph.feed.adoption import adoption_state
from graph.feed.sequence import SequenceEntities
from graph.runtime.lease import LEASE_ATTRIBUTES
from graph.store.attributes import Text, Whole
from graph.store.client_input import possible_key
from graph.store.design import Index, KeyAttribute, TableDesign
from graph.store.entity import Entity, Key
from graph.store.ordering import Order, Ordering

USER = Text("user_id", shortest=1, longest=LONGEST_USER)

USER_ID = KeyAttribute("user_id", "S")
EVENT_TYPE_INDEX = Index("EventTypeIndex", USER_ID, KeyAttribute("event_type#timestamp", "S"))
STATUS_INDEX = Index("StatusIndex", USER_ID, KeyAttribute("status#timestamp", "S"))

EVENTS = TableDesign(
    name="zapier-triggers-api-{env}-events",
    partition_key=USER_ID,
    sort_key=KeyAttribute("timestamp#event_id", "S"),
    indexes=(EVENT_TYPE_INDEX, STATUS_INDEX),
    ttl="ttl",
    resource="TriggerEvents",
)

TRIGGER_EVENT = Entity(
    "TRIGGER_EVENT",
    EVENTS,
    TriggerEvent,
    key=("{user_id}", "{timestamp}#{event_id}"),
    indexes={
        EVENT_TYPE_INDEX: ("{user_id}", "{event_type}#{timestamp}"),
        STATUS_INDEX: ("{user_id}", "{status}#{timestamp}"),
    },
    attributes=(
        Whole("open_deliveries", least=0, absent=0),
        Whole("failed_deliveries", least=0, absent=0),
        Whole("change", unit="sequence number", optional=True),  # absent until an item of another program is adopted
    ),
)

DUE_INDEX = Index("DueIndex", KeyAttribute("gsi1pk", "S"), KeyAttribute("gsi1sk", "N"))
ENDPOINTS = TableDesign("trigger-endpoints-{env}", indexes=(DUE_INDEX,), ttl="ttl", resource="TriggerEndpoints")

ENDPOINT_ID = Text("endpoint_id", shortest=LONGEST_ID, longest=LONGEST_ID, unit="UUID v7")

ENDPOINT = Entity(
    "ENDPOINT",
    ENDPOINTS,
    Endpoint,
    key=("ENDPOINTS#{user_id}", "{endpoint_id}"),
    attributes=(
        Text("secret", longest=128),
        Text("previous_secret", longest=128, optional=True),
        Whole("previous_until", unit="epoch ms", optional=True),
        Whole("revision", least=1, unit="changes"),
    ),
)

ENDPOINT_COUNT = Entity(  # so that a user who creates several at once gets no more than the limit
    "ENDPOINT_COUNT",
    ENDPOINTS,
    key=("ENDPOINT_COUNT#{user_id}", "STATE"),
    attributes=(Text("user_id", shortest=1, longest=LONGEST_USER, in_key_alone=True), Whole("number", least=0)),
)

QUEUE = Entity(
    "QUEUE",
    ENDPOINTS,
    key=("QUEUE#{endpoint_id}", "STATE"),
    indexes={DUE_INDEX: ("QUEUES#{shard}", "{due}")},
    attributes=(
        ENDPOINT_ID,
        USER,
        Whole("sequence", least=0),  # of the last delivery
        Whole("head", least=1),  # sequence of the first delivery that may never have been attempted
        Whole("waiting"),  # deliveries that are neither delivered nor failed
        Whole("failures", least=0),  # failed attempts since the last success
        Whole("failing_since", least=0, unit="epoch ms, 0 for not"),
        Whole("open_until", least=0, unit="epoch ms, 0 for a closed breaker"),
        Whole("shard", least=0),
        Whole("due", unit="epoch ms"),  # when a deliverer has to look at it
        Whole("calls", least=0),  # how often others than a deliverer have made it due
    ),
)

DELIVERY = Entity(
    "DELIVERY",
    ENDPOINTS,
    Delivery,
    key=("DELIVERIES#{endpoint_id}#{user_id}", "{sequence}"),
    indexes={DUE_INDEX: ("RETRIES#{endpoint_id}", "{due}")},
    attributes=(Whole("first_attempt", least=1),),  # the number of the first one since it was created or replayed
)

ATTEMPT = Entity(
    "ATTEMPT",
    ENDPOINTS,
    Attempt,
    key=("ATTEMPTS#{endpoint_id}#{user_id}", "{sequence}#{number}"),
    attributes=(
        ENDPOINT_ID,
        USER,
        Whole("sequence", least=1, digits=SEQUENCE_DIGITS),
        Whole("ttl", unit="epoch seconds"),
    ),
)

IDEMPOTENCY_KEY = Entity(
    "IDEMPOTENCY_KEY",
    ENDPOINTS,
    key=("IDEMPOTENCY#{user_id}", "{key}"),
    attributes=(
        USER,
        Text("key", shortest=1, longest=LONGEST_IDEMPOTENCY_KEY),
        Text("event_id", longest=LONGEST_ID),
        Text("event_timestamp", longest=27),
        Text("digest", longest=64, unit="SHA-256 of type and payload"),
        Whole("ttl", unit="epoch seconds"),
    ),
)

POSITION_ATTRIBUTES = (
    Text("feed", shortest=1, longest=32, in_key_alone=True),
    Whole("number", least=0, unit="sequence number"),  # of the last change that is wholly done
    Whole("version", least=0),  # versions of the next change that are done, if its records have versions
    Text("watch_id", longest=LONGEST_ID),  # the last watch that got what follows; empty for none
    Whole("revision", least=1, optional=True),  # how often a user fell behind or caught up; absent for never
)

FEED_POSITION = Entity("FEED_POSITION", ENDPOINTS, key=("FEED#{feed}", "POSITION"), attributes=POSITION_ATTRIBUTES)

FEED_BACKLOG = Entity(  # how far a feed is followed for a user who is behind it
    "FEED_BACKLOG",
    ENDPOINTS,
    key=("BACKLOG#{feed}", "{user_id}"),
    attributes=(USER, *POSITION_ATTRIBUTES),
)

JOB = Entity(
    "JOB",
    ENDPOINTS,
    key=("JOB#{job}", "LEASE"),
    attributes=(Text("job", shortest=1, longest=32, in_key_alone=True), *LEASE_ATTRIBUTES),
)

EVENT_CHANGES = SequenceEntities.of(
    ENDPOINTS, "EVENT_CHANGES", "TRIGGER_EVENT_CHANGE", keys="events", number="change", expires=True
)
ADOPTION_STATE = adoption_state(ENDPOINTS)
ENTITIES = (
    *(TRIGGER_EVENT, ENDPOINT, ENDPOINT_COUNT, QUEUE, DELIVERY, ATTEMPT, IDEMPOTENCY_KEY),
    *(FEED_POSITION, FEED_BACKLOG, JOB, EVENT_CHANGES.change, EVENT_CHANGES.latest, ADOPTION_STATE),
)

INBOX = Ordering("triggerevents", TRIGGER_EVENT, TRIGGER_EVENT.table.primary, descending=True)
TriggerEvent.cursor = INBOX.cursors()
OF_ENDPOINT = Order("deliveries", Whole("sequence", least=0, greatest=10**SEQUENCE_DIGITS - 1))
Delivery.cursor = OF_ENDPOINT.cursors()
OF_EVENT = Order("eventdeliveries", ENDPOINT_ID, OF_ENDPOINT.attributes[0])
DeliveryOfEvent.cursor = OF_EVENT.cursors()


def key_of_event(user_id: str, key: str) -> Key | None:
    """The primary key of a user's event; None if no event can have it."""
    timestamp, _, event_id = key.partition("#")
    return possible_key(TRIGGER_EVENT, user_id, timestamp, event_id)


def key_of_delivery(user_id: str, key: str) -> Key | None:
    """The primary key of a user's delivery; None if no delivery can have it."""
    endpoint_id, _, sequence = key.partition("#")
    if not (sequence.isascii() and sequence.isdigit() and len(sequence) <= 12 and sequence == str(int(sequence))):
        return None
    return possible_key(DELIVERY, endpoint_id, user_id, int(sequence))
