"""The table of events and its items are those of document 004."""

import re
from uuid import UUID

from graph.domains.triggers.entities import EVENTS, TRIGGER_EVENT
from graph.store.design import table_name
from tests.domains.entities import documented
from tests.domains.triggers.in_store import a_new_event, triggers

# "Example Event Item". The service adds what the status follows from, and a place among the changes.
EXAMPLE = {
    "user_id": "user-12345",
    "timestamp#event_id": "2025-11-11T10:30:45.123456Z#550e8400-e29b-41d4-a716-446655440000",
    "event_id": "550e8400-e29b-41d4-a716-446655440000",
    "event_type": "user.created",
    "payload": {
        "user_id": "12345",
        "email": "newuser@example.com",
        "name": "John Doe",
        "created_at": "2025-11-11T10:30:45Z",
    },
    "status": "received",
    "timestamp": "2025-11-11T10:30:45.123456Z",
    "ttl": 1735831845,
    "retry_count": 0,
    "metadata": {"source_ip": "192.168.1.1", "api_version": "v1", "correlation_id": "req-abc123"},
    "event_type#timestamp": "user.created#2025-11-11T10:30:45.123456Z",
    "status#timestamp": "received#2025-11-11T10:30:45.123456Z",
}
OURS = {"change", "deliveries", "open_deliveries", "failed_deliveries"}


def test_the_documented_example_is_an_item_of_ours_with_the_same_keys() -> None:
    attributes = {name: value for name, value in EXAMPLE.items() if "#" not in name}
    item = {**attributes, "change": 1, "deliveries": [], "open_deliveries": 0, "failed_deliveries": 0}
    TRIGGER_EVENT.check(item)
    stored = documented(TRIGGER_EVENT, item)
    assert {name: value for name, value in stored.items() if name not in OURS} == EXAMPLE
    assert stored.keys() == EXAMPLE.keys() | OURS


async def test_a_created_event_has_the_documented_attributes(engine: str) -> None:
    async with triggers(engine) as ours:
        await ours.create(a_new_event("user.created", EXAMPLE["payload"]))  # type: ignore[arg-type]
        (event,) = await ours.events()

    stored = documented(TRIGGER_EVENT, event.item)
    assert stored.keys() == EXAMPLE.keys() | OURS
    assert {name: type(value) for name, value in stored.items() if name in EXAMPLE} == {
        name: type(value) for name, value in EXAMPLE.items()
    }
    assert UUID(event.event_id).version == 4
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", event.timestamp)
    assert stored["timestamp#event_id"] == f"{event.timestamp}#{event.event_id}"
    assert (event.expires_at - event.created_at).days == 30


def test_the_table_is_designed_as_the_document_says() -> None:
    assert table_name(EVENTS, prefix="", environment="prod") == "zapier-triggers-api-prod-events"
    indexes = (EVENTS.primary, *EVENTS.indexes)
    assert [(index.name, index.partition_key.name, index.sort_key.name) for index in indexes] == [
        ("primary", "user_id", "timestamp#event_id"),
        ("EventTypeIndex", "user_id", "event_type#timestamp"),
        ("StatusIndex", "user_id", "status#timestamp"),
    ]
    assert ({key.type for key in EVENTS.key_attributes}, EVENTS.ttl) == ({"S"}, "ttl")
