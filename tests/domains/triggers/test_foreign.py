"""Trigger events that another program writes as the trigger document has them, and its snippets on events of ours."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

import boto3
import pytest

from graph.api.relay import global_id
from graph.domain import Domain
from graph.domains import DOMAINS
from tests.bearers import bearer
from tests.domains.entities import ENTITIES
from tests.domains.sightings.foreign import UNADOPTED
from tests.domains.triggers.test_documented import EXAMPLE
from tests.observability.scraping import scraped
from tests.processes import TIMEOUT_S
from tests.service import Service, running
from tests.settings import Settings
from tests.store.engines import make_tables
from tests.store.samples import NOON_SECONDS, HeldClock

USER = "user-123"
NODE = """id eventId type payload status timestamp createdAt retryCount metadata expiresAt
  deliveries(first: 5) { nodes { id } pageInfo { hasNextPage } }"""
INBOX = f"""query ($filter: TriggerEventFilter, $first: Int, $after: String) {{
  triggerEvents(filter: $filter, first: $first, after: $after) {{
    nodes {{ {NODE} }} pageInfo {{ hasNextPage endCursor }}
  }}
}}"""
ONE = f"query ($id: ID!) {{ node(id: $id) {{ ... on TriggerEvent {{ {NODE} }} }} }}"
ACKNOWLEDGE = """mutation ($ids: [ID!]!) {
  acknowledgeTriggerEvents(input: {eventIds: $ids}) { acknowledged alreadyAcknowledged missing }
}"""
CREATE = """mutation { createTriggerEvent(input: {type: "user.created", payload: {email: "user@example.com"}}) {
  triggerEvent { id eventId timestamp }
} }"""


def create_event(table: Any, event_id: str, now: datetime, event_type: str = "user.created", /, **others: Any) -> None:
    """The document's pattern 1, for a given id and time."""
    timestamp = now.isoformat() + "Z"
    ttl = NOON_SECONDS + (30 * 24 * 60 * 60)  # 30 days

    table.put_item(
        Item={
            "user_id": USER,
            "timestamp#event_id": f"{timestamp}#{event_id}",
            "event_id": event_id,
            "event_type": event_type,
            "payload": {"email": "user@example.com"},
            "status": "received",
            "timestamp": timestamp,
            "ttl": ttl,
            "retry_count": 0,
            "metadata": {"source_ip": "192.168.1.1"},
            "event_type#timestamp": f"{event_type}#{timestamp}",
            "status#timestamp": f"received#{timestamp}",
            **others,
        }
    )


def update_status(table: Any, key: str, status: str, retry_count: int, timestamp: str) -> dict[str, Any]:
    """The document's pattern 6."""
    response = table.update_item(
        Key={"user_id": USER, "timestamp#event_id": key},
        UpdateExpression="SET #status = :status, retry_count = :retry_count, #st = :st_val",
        ExpressionAttributeNames={"#status": "status", "#st": "status#timestamp"},
        ExpressionAttributeValues={
            ":status": status,
            ":retry_count": retry_count,
            ":st_val": f"{status}#{timestamp}",
        },
        ReturnValues="ALL_NEW",
    )
    changed: dict[str, Any] = response["Attributes"]
    return changed


def ids_by(table: Any, index: str, name: str, value: str) -> list[str]:
    """The document's patterns 4 and 5: the ids of a type or a status."""
    response = table.query(
        IndexName=index,
        KeyConditionExpression="user_id = :uid AND begins_with(#name, :value)",
        ExpressionAttributeNames={"#name": name},
        ExpressionAttributeValues={":uid": USER, ":value": value},
        Limit=50,
    )
    return [item["event_id"] for item in response["Items"]]


def newest_first(table: Any) -> list[str]:
    """The document's pattern 3."""
    response = table.query(
        KeyConditionExpression="user_id = :uid",
        ExpressionAttributeValues={":uid": USER},
        Limit=100,
        ScanIndexForward=False,
    )
    return [item["event_id"] for item in response["Items"]]


TEN = datetime(2025, 11, 11, 10, 0, 0)  # noqa: DTZ001 - as `utcnow` gives it
EVENTS = (
    ("evt-121", TEN - timedelta(days=1), "order.completed"),
    ("evt-122", TEN - timedelta(microseconds=1), "user.created"),
    ("evt-123", TEN, "user.created"),  # Python writes no microseconds
    ("550e8400-e29b-41d4-a716-446655440000", TEN + timedelta(seconds=1, microseconds=123_456), "user.created_late"),
)
IDS = [event_id for event_id, _, _ in reversed(EVENTS)]
"""Newest first."""


@pytest.fixture
def prefix(dynamodb_endpoint: str) -> str:
    """The prefix of empty tables."""
    return make_tables(ENTITIES)


@pytest.fixture
def table(prefix: str) -> Any:
    """The table, as another program sees it, with its events."""
    table = boto3.resource("dynamodb").Table(f"{prefix}zapier-triggers-api-dev-events")
    for event_id, now, event_type in EVENTS:
        create_event(table, event_id, now, event_type)
    return table


@contextmanager
def serving(prefix: str, clock: HeldClock, domains: Sequence[Domain] = DOMAINS) -> Iterator[Service]:
    with running(Settings(store=f"dynamodb://{prefix}"), clock=clock, domains=domains) as service:
        service.http.headers.update(bearer(subject=USER))
        yield service


@pytest.fixture
def service(prefix: str, table: Any, clock: HeldClock) -> Iterator[Service]:
    """A service with the other program's events, for their user."""
    with serving(prefix, clock) as service:
        yield service


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


def nodes(service: Service, **filter_: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = service.ask(INBOX, {"first": 50, "filter": filter_})["triggerEvents"]["nodes"]
    return found


def found(service: Service, **filter_: Any) -> list[str]:
    """The ids of the events that a filter selects."""
    return [node["eventId"] for node in nodes(service, **filter_)]


def test_the_documents_example_is_shown_with_all_that_it_has(service: Service, table: Any) -> None:
    table.put_item(Item=EXAMPLE)
    service.http.headers.update(bearer(subject="user-12345"))

    (node,) = nodes(service)
    key = f"{EXAMPLE['timestamp']}#{EXAMPLE['event_id']}"
    assert node == {
        "id": global_id("TriggerEvent", key),
        "eventId": EXAMPLE["event_id"],
        "type": "user.created",
        "payload": EXAMPLE["payload"],
        "status": "RECEIVED",
        "timestamp": "2025-11-11T10:30:45.123456Z",
        "createdAt": "2025-11-11T10:30:45.123Z",
        "retryCount": 0,
        "metadata": EXAMPLE["metadata"],
        "expiresAt": "2025-01-02T15:30:45.000Z",
        "deliveries": {"nodes": [], "pageInfo": {"hasNextPage": False}},
    }
    assert service.ask(ONE, {"id": node["id"]}) == {"node": node}


def test_foreign_events_are_paged_and_found_by_their_ids(service: Service) -> None:
    cursor, seen = None, list[str]()
    for _ in IDS:
        page = service.ask(INBOX, {"first": 1, "after": cursor})["triggerEvents"]
        (node,) = page["nodes"]
        assert service.ask(ONE, {"id": node["id"]}) == {"node": node}
        seen.append(node["eventId"])
        cursor = page["pageInfo"]["endCursor"]
    assert (seen, page["pageInfo"]["hasNextPage"]) == (IDS, False)


def test_foreign_events_are_filtered_by_type_status_and_time(service: Service) -> None:
    assert found(service, types=["user.created"]) == ["evt-123", "evt-122"]
    assert found(service, types=["user.created_late"]) == [IDS[0]]
    assert found(service, statuses=["RECEIVED"]) == IDS
    assert found(service, statuses=["RECEIVED"], types=["order.completed"]) == ["evt-121"]
    assert found(service, statuses=["DELIVERED"]) == []
    assert found(service, startTime="2025-11-11T10:00:00Z") == IDS[:2]
    assert found(service, endTime="2025-11-11T10:00:00Z") == IDS[1:]
    assert found(service, endTime="2025-11-11T09:59:59.999Z") == IDS[2:]
    assert found(service, startTime="2025-11-11T10:00:00Z", endTime="2025-11-11T10:00:00Z") == ["evt-123"]
    assert found(service, startTime="2025-11-11T10:00:00.001Z", types=["user.created"]) == []
    assert found(service, startTime="2025-11-10", endTime="2025-11-10") == ["evt-121"]


def test_foreign_events_are_acknowledged_and_the_documents_queries_see_it(service: Service, table: Any) -> None:
    one, other = nodes(service, types=["user.created"])
    ids = [one["id"], f"{other['timestamp']}#{other['eventId']}"]
    missing = [global_id("TriggerEvent", "2025-11-11T10:00:00Z#evt-999"), one["eventId"]]

    for acknowledged in (2, 0):
        assert service.ask(ACKNOWLEDGE, {"ids": [*ids, *missing]})["acknowledgeTriggerEvents"] == {
            "acknowledged": acknowledged,
            "alreadyAcknowledged": 2 - acknowledged,
            "missing": missing,
        }

    assert found(service, statuses=["DELIVERED"]) == ["evt-123", "evt-122"]
    assert ids_by(table, "StatusIndex", "status#timestamp", "delivered") == ["evt-122", "evt-123"]
    assert ids_by(table, "StatusIndex", "status#timestamp", "received") == ["evt-121", IDS[0]]


def test_foreign_events_expire(service: Service, table: Any, clock: HeldClock) -> None:
    create_event(table, "evt-124", TEN + timedelta(hours=1), ttl=NOON_SECONDS + 1)
    assert found(service) == ["evt-124", *IDS]
    clock.now += 1000
    assert found(service) == IDS


def test_a_status_that_another_program_sets_is_shown_and_found(service: Service, table: Any) -> None:
    key = "2025-11-11T10:00:00Z#evt-123"
    before = nodes(service, types=["user.created"])[0]
    for status, retry_count in (("failed", 1), ("retrying", 1), ("delivered", 3)):
        changed = update_status(table, key, status, retry_count, "2025-11-11T10:00:00Z")

        assert (changed["status"], changed["retry_count"]) == (status, retry_count)
        (node,) = nodes(service, statuses=[status.upper()])
        assert node == {**before, "status": status.upper(), "retryCount": retry_count}
        assert found(service, statuses=["RECEIVED"]) == [IDS[0], "evt-122", "evt-121"]
        assert ids_by(table, "StatusIndex", "status#timestamp", status) == ["evt-123"]
    assert service.ask(ACKNOWLEDGE, {"ids": [node["id"]]})["acknowledgeTriggerEvents"]["alreadyAcknowledged"] == 1


BROKEN: list[dict[str, Any]] = [
    {"payload": "user@example.com"},
    {"payload": ["user@example.com"]},
    {"metadata": []},
    {"status": "pending"},
    {"ttl": "soon"},
    {"ttl": 1_735_831_845_000_000},
    {"retry_count": "none"},
    {"event_type": "user created"},
    {"retry_count": 2**31},
    {"deliveries": "none"},
    {"deliveries": ["evt", 7]},
    {"deliveries": {"evt": 7}},
]


@pytest.fixture
def unadopted(prefix: str, table: Any, clock: HeldClock) -> Iterator[Service]:
    """A service with the other program's events, which reads nothing but for callers."""
    with serving(prefix, clock, UNADOPTED) as service:
        yield service


def test_a_broken_foreign_event_is_left_out_and_breaks_nothing_beside_it(unadopted: Service, table: Any) -> None:
    service = unadopted
    for number, broken in enumerate(BROKEN):
        create_event(table, f"broken-{number}", TEN + timedelta(hours=1, seconds=number), **broken)
    nowhere = "2025-11-11T11:30:00Z#evt-999"
    update_status(table, nowhere, "delivered", 3, "2025-11-11T11:30:00Z")  # makes an item without the rest

    assert found(service) == IDS
    name = "zapier-triggers-api-{env}-events"
    left_out = scraped(service.url).value("quakegraph_store_broken_items_total", table=name)
    assert left_out == len(BROKEN) + 1, "each once by the first reading"
    assert found(service, types=["user.created"]) == ["evt-123", "evt-122"]
    assert found(service, statuses=["RECEIVED"]) == IDS
    assert found(service, statuses=["DELIVERED"]) == []
    keys = ["2025-11-11T11:00:00Z#broken-0", "2025-11-11T10:00:00Z#evt-123", nowhere]
    ids = [global_id("TriggerEvent", key) for key in keys]
    answer = service.ask(ACKNOWLEDGE, {"ids": ids})["acknowledgeTriggerEvents"]
    assert answer == {"acknowledged": 1, "alreadyAcknowledged": 0, "missing": [ids[0], ids[2]]}


def test_a_serving_process_adopts_what_is_there_and_what_is_written_later(
    dynamodb_endpoint: str, clock: HeldClock
) -> None:
    prefix = make_tables(ENTITIES, stream=True)
    table = boto3.resource("dynamodb").Table(f"{prefix}zapier-triggers-api-dev-events")
    create_event(table, "before", TEN)
    with serving(prefix, clock) as service:
        for event_id in ("before", "after"):
            if event_id == "after":
                create_event(table, event_id, TEN)
            key = {"user_id": USER, "timestamp#event_id": f"2025-11-11T10:00:00Z#{event_id}"}
            deadline = monotonic() + TIMEOUT_S
            while "change" not in table.get_item(Key=key, ConsistentRead=True)["Item"]:
                assert monotonic() < deadline
        assert found(service) == ["before", "after"]


def test_the_documents_snippets_work_on_events_of_ours(service: Service, table: Any) -> None:
    event = service.ask(CREATE)["createTriggerEvent"]["triggerEvent"]
    key = f"{event['timestamp']}#{event['eventId']}"

    item = table.get_item(Key={"user_id": USER, "timestamp#event_id": key}).get("Item")  # pattern 2
    assert EXAMPLE.keys() <= item.keys()
    assert (item["status"], item["payload"]) == ("received", {"email": "user@example.com"})
    assert set(newest_first(table)) == {*IDS, event["eventId"]}
    assert event["eventId"] in ids_by(table, "EventTypeIndex", "event_type#timestamp", "user.created")
    assert event["eventId"] in ids_by(table, "StatusIndex", "status#timestamp", "received")

    update_status(table, key, "failed", 2, event["timestamp"])
    (node,) = nodes(service, statuses=["FAILED"])
    assert (node["eventId"], node["retryCount"]) == (event["eventId"], 2)
    assert service.ask(ACKNOWLEDGE, {"ids": [event["id"]]})["acknowledgeTriggerEvents"]["acknowledged"] == 1
    assert ids_by(table, "StatusIndex", "status#timestamp", "delivered") == [event["eventId"]]
