"""Triggers over HTTP: what mutations take is what queries answer, and what is impossible has a code of its own."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.api.relay import global_id
from tests.bearers import bearer
from tests.domains.triggers.in_store import URL
from tests.effort import rounds
from tests.service import Service, running
from tests.settings import Settings

CREATE = """mutation ($input: CreateTriggerEventInput!) { createTriggerEvent(input: $input) {
  duplicate triggerEvent { id eventId type payload status timestamp createdAt retryCount metadata expiresAt
    deliveries { nodes { id sequence state attemptCount nextAttemptAt endedAt event { eventId } attempts { number } } }
  }
} }"""
INBOX = """query ($filter: TriggerEventFilter, $first: Int, $after: String) {
  triggerEvents(filter: $filter, first: $first, after: $after) {
    nodes { id type payload status } edges { cursor } pageInfo { hasNextPage }
  }
}"""
ACKNOWLEDGE = """mutation ($ids: [ID!]!) {
  acknowledgeTriggerEvents(input: {eventIds: $ids}) {
    acknowledged alreadyAcknowledged missing triggerEvents { id status }
  }
}"""
CREATE_ENDPOINT = """mutation ($input: CreateEndpointInput!) { createEndpoint(input: $input) {
  secret endpoint { id endpointId url types description ordered state reason queue { sequence waiting failures } }
} }"""
UPDATE_ENDPOINT = """mutation ($input: UpdateEndpointInput!) { updateEndpoint(input: $input) {
  endpoint { url types description ordered state }
} }"""

_users = count()


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose endpoints may be on this machine, and which delivers nothing by itself."""
    store = f"sqlite:///{tmp_path_factory.mktemp('quiet') / 'quiet.db'}"
    own: dict[str, Any] = {"webhook_http": True, "webhook_networks": ("127.0.0.0/8",), "max_endpoints": 3}
    with running(Settings(store=store, deliver=False, **own)) as service:
        yield service


@pytest.fixture
def service(quiet: Service) -> Service:
    """The service, whose client is a user of its own."""
    quiet.http.headers.update(bearer(subject=f"user {next(_users)}"))
    return quiet


def create(service: Service, **given: Any) -> dict[str, Any]:
    event = {"type": "order.completed", "payload": {"n": 1}, **given}
    created: dict[str, Any] = service.ask(CREATE, {"input": event})["createTriggerEvent"]
    return created


def create_endpoint(service: Service, **given: Any) -> dict[str, Any]:
    created: dict[str, Any] = service.ask(CREATE_ENDPOINT, {"input": {"url": URL, **given}})["createEndpoint"]
    return created


def inbox(service: Service, **variables: Any) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = service.ask(INBOX, variables)["triggerEvents"]["nodes"]
    return nodes


def refused(service: Service, document: str, given: dict[str, Any]) -> str:
    """The code of the one error of a mutation, whose input may have what Python's JSON alone can write."""
    return refused_body(service, json.dumps({"query": document, "variables": {"input": given}}))


def refused_body(service: Service, body: str) -> str:
    answer = service.http.post("/graphql", content=body, headers={"Content-Type": "application/json"})
    (error,) = answer.json()["errors"]
    return str(error["extensions"]["code"])


def test_an_event_comes_back_with_all_that_was_given_and_its_delivery(service: Service) -> None:
    endpoint = create_endpoint(service)["endpoint"]
    payload = {"n": 1, "ü": [None, True, 1.5, "\U0001f9c0\n", {}], "big": 2**53 - 1}
    created = create(service, payload=payload, correlationId="req-abc123", idempotencyKey="k")
    event = created["triggerEvent"]

    assert (created["duplicate"], event["type"], event["payload"], event["status"]) == (
        *(False, "order.completed"),
        *(payload, "RECEIVED"),
    )
    assert event["metadata"] == {"source_ip": "127.0.0.1", "api_version": "v1", "correlation_id": "req-abc123"}
    assert event["createdAt"] == f"{event['timestamp'][:-4]}Z"
    (delivery,) = event["deliveries"]["nodes"]
    assert delivery == {
        "id": global_id("Delivery", f"{endpoint['endpointId']}#1"),
        "sequence": 1,
        "state": "WAITING",
        "attemptCount": 0,
        "nextAttemptAt": None,
        "endedAt": None,
        "event": {"eventId": event["eventId"]},
        "attempts": [],
    }
    again = create(service, payload=payload, idempotencyKey="k")
    assert (again["duplicate"], again["triggerEvent"]) == (True, event)
    assert [node["id"] for node in inbox(service)] == [event["id"]]
    assert refused(service, CREATE, {"type": "order.completed", "payload": {}, "idempotencyKey": "k"}) == (
        "IDEMPOTENCY_KEY_REUSED"
    )


def test_acknowledged_events_leave_the_inbox_of_received_ones(service: Service) -> None:
    first, second = (create(service)["triggerEvent"]["id"] for _ in range(2))
    missing = [global_id("TriggerEvent", "x"), "garbage"]
    answer = service.ask(ACKNOWLEDGE, {"ids": [first, *missing, first]})["acknowledgeTriggerEvents"]
    changed = {"triggerEvents": [{"id": first, "status": "DELIVERED"}]}
    assert answer == {"acknowledged": 1, "alreadyAcknowledged": 0, "missing": missing, **changed}
    assert service.ask(ACKNOWLEDGE, {"ids": [first, second]})["acknowledgeTriggerEvents"] == {
        "acknowledged": 1,
        "alreadyAcknowledged": 1,
        "missing": [],
        "triggerEvents": [{"id": second, "status": "DELIVERED"}],
    }
    assert inbox(service, filter={"statuses": ["RECEIVED"]}) == []
    assert service.ask(ACKNOWLEDGE, {"ids": []})["acknowledgeTriggerEvents"]["missing"] == []
    assert service.codes(ACKNOWLEDGE, {"ids": [global_id("Watch", "x")]}) == ["BAD_USER_INPUT"]
    assert service.codes(ACKNOWLEDGE, {"ids": [first] * 1001}) in (["BAD_USER_INPUT"], ["QUERY_TOO_COMPLEX"])


def nest(levels: int) -> Any:
    """A list of lists, so many levels deep."""
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


BAD_PAYLOADS: list[Any] = [
    *([1], "x", 1, True),  # no object
    *({"text": "x" * 263_000}, {"list": ["x" * 99] * 2700}),  # 257 KB
    {"nested": nest(31)},  # 32 levels
    *({"n": 2**63}, {"a": [{"b": 2**64 - 1}]}),  # beyond 64 bits
    *({"n": 1e126}, {"n": 1e-131}),  # beyond what DynamoDB keeps
    *({"": 1}, {"a": [{"": 1}]}),
]
HALF_A_PAIR = ({"text": "\ud800"}, {"\udfff": 1})
LITERALS = ("{n: 1e400}", "{n: -1e400}", "{n: 9223372036854775808}", "NaN", "[1]", "null", "1")
NO_NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999")


def test_a_payload_that_cannot_be_stored_is_refused(service: Service) -> None:
    create_endpoint(service)
    for payload in BAD_PAYLOADS:
        assert refused(service, CREATE, {"type": "a", "payload": payload}) == "BAD_USER_INPUT", repr(payload)[:40]
    for payload in HALF_A_PAIR:
        assert refused(service, CREATE, {"type": "a", "payload": payload}) == "BAD_REQUEST"
    for literal in LITERALS:
        document = f'mutation {{ createTriggerEvent(input: {{type: "a", payload: {literal}}}) {{ duplicate }} }}'
        assert service.codes(document) in (["BAD_USER_INPUT"], ["GRAPHQL_VALIDATION_FAILED"]), literal
    body = json.dumps({"query": CREATE, "variables": {"input": {"type": "a", "payload": {"n": 17}}}})
    for text in NO_NUMBERS:
        assert refused_body(service, body.replace("17", text)) == "BAD_REQUEST", text
    assert inbox(service) == []
    endpoints = service.ask("{ triggerEndpoints { nodes { queue { sequence } } } }")["triggerEndpoints"]["nodes"]
    assert endpoints == [{"queue": {"sequence": 0}}]


def test_a_whole_number_that_no_64_bits_hold_is_read_as_the_nearest_double(service: Service) -> None:
    for number in (2**64, -(2**63) - 1, 2**70):
        assert create(service, payload={"n": number})["triggerEvent"]["payload"] == {"n": float(number)}


BAD_TYPES = ("", ".", "a.", ".a", "a..b", "a b", "a-b", "ä", "a#b", "a\n", "a\x00", "x" * 129, "a/b")
OWN_FIRST = ("earthquake", "endpoint", "sighting", "watches")
OWN = (*OWN_FIRST, *(f"{word}.created" for word in OWN_FIRST))
BAD_TEXTS: list[dict[str, Any]] = [
    *({name: text} for name in ("idempotencyKey", "correlationId") for text in ("", "x" * 257)),
    *({"idempotencyKey": key} for key in ("a\nb", "\x00", "\u200b", "\x1f", "x" * 129)),
]


def test_a_type_or_a_text_beyond_its_bounds_is_refused(service: Service) -> None:
    for event_type in (*BAD_TYPES, *OWN):
        assert refused(service, CREATE, {"type": event_type, "payload": {}}) == "BAD_USER_INPUT", event_type
    for text in BAD_TEXTS:
        assert refused(service, CREATE, {"type": "a", "payload": {}, **text}) == "BAD_USER_INPUT", text
    assert inbox(service) == []


def test_types_and_texts_at_their_bounds_are_taken(service: Service) -> None:
    for event_type in ("a", "A.b_c.9", "x" * 128, "earthquakes.created", "my.endpoint.disabled"):
        assert create(service, type=event_type)["triggerEvent"]["type"] == event_type
    given = {"idempotencyKey": "ü" * 128, "correlationId": "\U0001f9c0" * 256, "type": "x" * 128}
    assert not create(service, **given)["duplicate"]
    assert create(service, **given)["duplicate"]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(-1e100, 1e100, allow_subnormal=False).filter(lambda number: number == 0 or abs(number) > 1e-100)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=rounds(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(payload=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), json_values, max_size=4))
def test_any_object_of_json_comes_back_as_it_was_given(service: Service, payload: dict[str, Any]) -> None:
    event = create(service, payload=payload)["triggerEvent"]
    assert event["payload"] == payload
    assert inbox(service, first=1)[0]["payload"] == payload


# Endpoints


BAD_URLS = ("", "x", "ftp://127.0.0.1/", "http://10.0.0.1/", "http://127.0.0.1:9/#a", f"http://127.0.0.1/{'x' * 2048}")
MORE_URLS = ("http://u:p@127.0.0.1/", "http://127.0.0.1/a b", "http://127.0.0.1/\n", "http://nowhere.invalid/")


BAD_ENDPOINTS: list[dict[str, Any]] = [
    *({"types": []}, {"types": ["a b"]}, {"types": ["a", ""]}, {"types": ["a"] * 101}, {"description": "x" * 513})
]


def test_an_impossible_endpoint_is_refused(service: Service) -> None:
    endpoint_id = create_endpoint(service)["endpoint"]["endpointId"]
    impossible = [({"url": url}, "ENDPOINT_REFUSED") for url in (*BAD_URLS, *MORE_URLS)]
    impossible += [({"url": URL, **each}, "BAD_USER_INPUT") for each in BAD_ENDPOINTS]
    for each, code in impossible:
        assert refused(service, CREATE_ENDPOINT, each) == code, each
        assert refused(service, UPDATE_ENDPOINT, {"endpointId": endpoint_id, **each}) == code, each
    rotate = "mutation ($input: RotateEndpointSecretInput!) { rotateEndpointSecret(input: $input) { secret } }"
    for seconds in (-0.1, 604_800.1, 1e300):
        assert refused(service, rotate, {"endpointId": endpoint_id, "overlapSeconds": seconds}) == "BAD_USER_INPUT"
    found = service.ask("{ triggerEndpoints { nodes { url types } } }")["triggerEndpoints"]["nodes"]
    assert found == [{"url": URL, "types": None}]


def test_an_endpoint_is_changed_paused_resumed_and_deleted(service: Service) -> None:
    created = create_endpoint(service, types=["a", "b", "a"], description="Mine", ordered=True)
    assert created["secret"].startswith("whsec_")
    endpoint = created["endpoint"]
    assert (endpoint["types"], endpoint["description"], endpoint["ordered"], endpoint["state"]) == (
        *(["a", "b"], "Mine"),
        *(True, "ENABLED"),
    )
    assert endpoint["queue"] == {"sequence": 0, "waiting": 0, "failures": 0}

    def change(**given: Any) -> dict[str, Any]:
        named = {"endpointId": endpoint["id"], **given}  # below, its own id
        changed: dict[str, Any] = service.ask(UPDATE_ENDPOINT, {"input": named})["updateEndpoint"]["endpoint"]
        return changed

    assert change() == {"url": URL, "types": ["a", "b"], "description": "Mine", "ordered": True, "state": "ENABLED"}
    assert change(allTypes=True, ordered=False, description="")["types"] is None
    assert change(types=["c"]) == {"url": URL, "types": ["c"], "description": "", "ordered": False, "state": "ENABLED"}
    both = {"endpointId": endpoint["endpointId"], "types": ["c"], "allTypes": True}
    assert refused(service, UPDATE_ENDPOINT, both) == "BAD_USER_INPUT"

    def do(name: str, selected: str = "endpoint { state }") -> Any:
        document = f'mutation {{ {name}(input: {{endpointId: "{endpoint["endpointId"]}"}}) {{ {selected} }} }}'
        body = service.answer(document)
        return body["data"][name] if "errors" not in body else body["errors"][0]["extensions"]["code"]

    for _ in range(2):
        assert do("pauseEndpoint") == {"endpoint": {"state": "PAUSED"}}
    assert do("testEndpoint", "delivery { id }") == "CONFLICT"
    assert inbox(service) == []
    for _ in range(2):
        assert do("resumeEndpoint") == {"endpoint": {"state": "ENABLED"}}
    tested = do("testEndpoint", "triggerEvent { type payload } delivery { sequence event { type } }")
    assert tested["triggerEvent"]["payload"]["endpointId"] == endpoint["endpointId"]
    assert tested["delivery"] == {"sequence": 1, "event": {"type": "endpoint.test"}}
    assert do("rotateEndpointSecret", "secret")["secret"] != created["secret"]
    assert do("deleteEndpoint", "deletedId") == {"deletedId": endpoint["id"]}
    for name in ("deleteEndpoint", "pauseEndpoint", "resumeEndpoint", "rotateEndpointSecret", "testEndpoint"):
        assert do(name, "__typename") == "NOT_FOUND", name


def test_a_watch_takes_global_ids_and_its_deletion_answers_one(service: Service) -> None:
    endpoint = create_endpoint(service)["endpoint"]
    created = """mutation ($id: ID) { createWatch(input: {name: "mine", endpointId: $id}) {
      watch { id watchId endpointId }
    } }"""
    delete = "mutation ($id: ID!) { deleteWatch(input: {watchId: $id}) { deletedId } }"
    watches = [service.ask(created, {"id": id_})["createWatch"]["watch"] for id_ in (endpoint["id"], None)]
    assert [watch["endpointId"] for watch in watches] == [endpoint["endpointId"], None]
    assert service.ask("{ watches(first: 1) { totalCount totalCountReason } }") == {
        "watches": {"totalCount": 2, "totalCountReason": None}
    }
    for watch, named in zip(watches, (watches[0]["id"], watches[1]["watchId"]), strict=True):
        assert service.ask(delete, {"id": named}) == {"deleteWatch": {"deletedId": watch["id"]}}
        assert service.codes(delete, {"id": named}) == ["NOT_FOUND"]


def test_deliveries_are_asked_for_by_number_and_range(service: Service) -> None:
    endpoint = create_endpoint(service)["endpoint"]
    endpoint_id = endpoint["endpointId"]
    for _ in range(3):
        create(service)
    document = """query ($id: ID!, $from: Int, $after: String, $last: Int, $before: String, $filter: DeliveryFilter) {
      deliveries(
        endpointId: $id, afterSequence: $from, after: $after, last: $last, before: $before, filter: $filter
      ) { nodes { sequence } edges { cursor } }
    }"""

    def numbers(**variables: Any) -> list[int]:
        answer = service.ask(document, {"id": endpoint_id, **variables})["deliveries"]
        return [node["sequence"] for node in answer["nodes"]]

    first, _, last = (edge["cursor"] for edge in service.ask(document, {"id": endpoint_id})["deliveries"]["edges"])
    assert [numbers(**{"from": number}) for number in (0, 1, 3, 2**31 - 1)] == [[1, 2, 3], [2, 3], [], []]
    assert (numbers(after=first, **{"from": 2}), numbers(after=first, **{"from": 0})) == ([3], [2, 3])
    assert numbers(last=1, before=last, **{"from": 1}) == [2]
    assert service.codes(document, {"id": endpoint_id, "from": -1}) == ["BAD_USER_INPUT"]
    assert numbers(filter={"states": ["WAITING"], "startTime": "2023-01-01"}) == [1, 2, 3]
    assert numbers(filter={"endTime": "2023-01-01"}) == []
    backwards = {"startTime": "2023-01-02", "endTime": "2023-01-01"}
    assert service.codes(document, {"id": endpoint_id, "filter": backwards}) == ["BAD_USER_INPUT"]
    by_global_id = service.ask(document, {"id": endpoint["id"]})
    assert by_global_id == service.ask(document, {"id": endpoint_id})
    assert service.codes(document, {"id": global_id("Watch", endpoint_id)}) == ["BAD_USER_INPUT"]
    for wrong in ("", "x", "\x00", "x" * 36, "x" * 10_000):
        assert service.codes(document, {"id": wrong}) == ["NOT_FOUND"], wrong


def test_the_inbox_and_its_deliveries_are_counted_by_type_status_and_state(service: Service) -> None:
    endpoint_id = create_endpoint(service)["endpoint"]["endpointId"]
    created = [create(service, type=f"order.{n % 3}")["triggerEvent"]["id"] for n in range(240)]
    service.ask(
        "mutation ($ids: [ID!]!) { acknowledgeTriggerEvents(input: {eventIds: $ids}) { acknowledged } }",
        {"ids": created[:6]},
    )

    numbers = service.ask(
        """query ($id: ID!) {
          of_types: triggerEvents(first: 0, filter: {types: ["order.0", "order.1"]}) { totalCount }
          of_statuses: triggerEvents(first: 2, filter: {statuses: [RECEIVED, FAILED]}) { totalCount }
          of_both: triggerEvents(first: 9, filter: {types: ["order.0"], statuses: [RECEIVED]}) { totalCount }
          waiting: deliveries(last: 3, endpointId: $id, filter: {states: [WAITING]}) { totalCount }
          failed: deliveries(first: 0, endpointId: $id, filter: {states: [FAILED]}) { totalCount }
        }""",
        {"id": endpoint_id},
    )
    assert {name: each["totalCount"] for name, each in numbers.items()} == {
        "of_types": 160,
        "of_statuses": 234,
        "of_both": 78,
        "waiting": 240,
        "failed": 0,
    }


def test_a_page_of_the_inbox_is_selected_by_type_status_and_time(service: Service) -> None:
    for n, event_type in enumerate(("user.created", "user.created_late", "order.completed")):
        create(service, type=event_type, payload={"n": n})

    def found(**filter_: Any) -> list[int]:
        return [node["payload"]["n"] for node in inbox(service, filter=filter_)]

    assert (found(), found(types=["user.created"]), found(statuses=["FAILED"])) == ([2, 1, 0], [0], [])
    assert (found(startTime="0001-01-01T00:00:00Z"), found(endTime="0999-12-31")) == ([2, 1, 0], [])
    assert found(startTime="2023-01-01", endTime="9999-12-31T23:59:59.999999Z", types=["order.completed"]) == [2]
    assert found(types=["order.completed", "user.created"], statuses=["RECEIVED", "FAILED"]) == [2, 0]
    assert (found(types=[]), found(statuses=[])) == ([], [])
    for bad in ({"types": ["a b"]}, {"types": ["a"] * 21}, {"startTime": "2023-01-02", "endTime": "2023-01-01"}):
        assert service.codes(INBOX, {"filter": bad}) == ["BAD_USER_INPUT"]


def test_the_catalogue_of_types_describes_each_type_of_the_service_and_of_a_domain_that_adds_one(
    service: Service,
) -> None:
    found = service.ask("{ triggerEventTypes { name description example schema } }")["triggerEventTypes"]
    assert [each["name"] for each in found] == [
        *(f"earthquake.{name}" for name in ("created", "revised", "deleted")),
        *("endpoint.disabled", "watches.limited", "endpoint.test", "sighting.reported"),
    ]
    for each in found:
        assert each["description"].endswith(".")
        assert each["schema"]["type"] == "object"
        for of in each["schema"]["properties"].values():
            assert "description" in of or of["type"] in ("object", "array"), each["name"]
