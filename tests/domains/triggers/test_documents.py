"""What `docs/webhooks.md` shows, in the order of the page, and its tables."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from graph.domains.triggers.checking import LONGEST_CORRELATION_ID, OWN_WORDS
from graph.domains.triggers.entities import ENDPOINTS, EVENTS
from graph.domains.triggers.event_types import EVENT_TYPES
from graph.domains.triggers.model import LARGEST_PAYLOAD, LONGEST_IDEMPOTENCY_KEY, LONGEST_TYPE
from graph.domains.triggers.settings import TriggerSettings
from graph.domains.watches.event_types import EARTHQUAKE_TYPES
from graph.store.values import DEPTH, LEAST_MAGNITUDE, MAGNITUDE_END
from tests.documents.pages import Page, sent
from tests.documents.shell import commands
from tests.domains.entities import ENTITIES
from tests.domains.triggers.receiver_program import gateway, receiving
from tests.domains.triggers.sending.receivers import FIRST, LOOPBACK, SECOND
from tests.processes import TIMEOUT_S
from tests.service import Service, running
from tests.settings import Settings
from tests.store.samples import HeldClock

PAGE = Page.followed_by(__file__, "docs/webhooks.md")
HERE = "http://127.0.0.1:8000"
RECEIVER = "http://127.0.0.1:9000/"
AN_ID = "01930c5f-7a3e-7cc4-98a5-3f0d6d1c2b7e"  # of the endpoint, on the page
ON_THE_PAGE = 1_795_305_600_000  # a time between those that the page names, epoch milliseconds

OWN_NETWORK: dict[str, Any] = {"webhook_networks": LOOPBACK, "webhook_http": True}


class Reader:
    """Somebody who follows the page, with an endpoint of their own."""

    def __init__(self, service: Service, url: str) -> None:
        self._service = service
        (curl,) = [each for each in commands(PAGE.shown("sh", "curl")) if "curl" in each.words]
        address, body = curl.words[1], curl.words[-1]
        answer = service.http.post(
            address.replace(HERE, service.url), content=body.replace(RECEIVER, url), headers=JSON
        )
        assert names_of(answer.json()) == names_of(json.loads(PAGE.shown("json", "createEndpoint")))
        created = answer.json()["data"]["createEndpoint"]
        self.endpoint_id, self.secret = created["endpoint"]["endpointId"], created["secret"]

    def do(self, text: str) -> dict[str, Any]:
        """Send the operation with this text. Returns its data."""
        return self._service.ask(PAGE.shown("graphql", text).replace(AN_ID, self.endpoint_id))

    def wait_for_states(self, *states: str) -> None:
        """Wait until the deliveries are in these states."""
        query = f'{{ deliveries(endpointId: "{self.endpoint_id}") {{ nodes {{ state }} }} }}'
        while [each["state"] for each in self._service.ask(query)["deliveries"]["nodes"]] != list(states):
            pass


JSON = {"Content-Type": "application/json"}


def names_of(value: Any) -> Any:
    """The names in a JSON value, without its other values."""
    return {name: names_of(part) for name, part in value.items()} if isinstance(value, dict) else None


def own(folder: Path, **others: Any) -> Settings:
    return Settings(store=f"sqlite:///{folder}/quakes.db", **OWN_NETWORK, **others)


def test_the_first_steps_end_with_the_webhook_that_is_shown(tmp_path: Path) -> None:
    with gateway() as endpoint, running(own(tmp_path)) as service:
        reader = Reader(service, endpoint.url)
        graph = service.url + "/graphql"
        with receiving(graph, reader.endpoint_id, reader.secret, tmp_path) as program:
            endpoint.program = program
            assert reader.do("testEndpoint")["testEndpoint"]["delivery"]["sequence"] == 1
            assert program.next_event()["type"] == "endpoint.test"
            watch = reader.do("createWatch")["createWatch"]["watch"]
            assert reader.do("ingestEvents") == {"ingestEvents": {"upserted": 1}}
            event = program.next_event()
            for headers in ({}, {**signed(SECOND), "webhook-timestamp": "x"}, signed(SECOND)):
                answer = httpx.post(program.url, content=BODY, headers=headers, trust_env=False, timeout=TIMEOUT_S)
                assert answer.status_code == 401
            assert program.end() == ""

    expected = json.loads(PAGE.shown("json", "earthquake.created"))
    assert re.fullmatch(r"[\d-]{10}T[\d:]{8}\.\d{6}Z", event["timestamp"])
    assert re.fullmatch(r"[\d-]{10}T[\d:]{8}\.\d{3}Z", event["data"]["recordedAt"])
    assert event["data"]["watch"]["watchId"] == watch["watchId"]
    assert json.dumps(masked(event)) == json.dumps(masked(expected))  # also in the same order


def masked(event: dict[str, Any]) -> dict[str, Any]:
    """The event of a watch without its times and the watch's id."""
    data = event["data"]
    watch = {**data["watch"], "watchId": None}
    return {**event, "timestamp": None, "data": {**data, "recordedAt": None, "watch": watch}}


BODY = b'{"type": "order.completed"}'


def signed(secret: str) -> dict[str, str]:
    """Headers of a webhook with this body, signed now."""
    now = datetime.now(UTC)
    signature = Webhook(secret).sign("1", now, BODY.decode())
    return {"webhook-id": "1", "webhook-timestamp": str(int(now.timestamp())), "webhook-signature": signature}


def test_the_program_repairs_a_hole_and_what_it_missed_while_it_was_down(tmp_path: Path) -> None:
    given_up_at_once = own(tmp_path, webhook_retries=(0.001,))
    with gateway() as endpoint, running(given_up_at_once) as service:
        reader = Reader(service, endpoint.url)
        program_of_reader = partial(receiving, service.url + "/graphql", reader.endpoint_id, reader.secret, tmp_path)

        def create(number: int) -> None:
            event = f'{{type: "order.paid", payload: {{number: {number}}}}}'
            service.ask(f"mutation {{ createTriggerEvent(input: {event}) {{ duplicate }} }}")

        with program_of_reader() as program:
            create(1)
            create(2)
            reader.wait_for_states("FAILED", "FAILED")
            endpoint.program = program
            create(3)
            events = [program.next_event() for _ in range(3)]
            reader.wait_for_states("FAILED", "FAILED", "DELIVERED")  # the program prints an event before it answers
            endpoint.program = None
            assert program.end() == ""
        assert sorted(event["sequence"] for event in events) == [1, 2, 3]
        assert all(event["data"] == {"number": event["sequence"]} for event in events)

        create(4)
        reader.wait_for_states("FAILED", "FAILED", "DELIVERED", "FAILED")
        with program_of_reader() as program:
            assert program.next_event()["sequence"] == 4
            assert program.end() == ""


def test_the_variables_of_the_program_are_those_of_the_answer() -> None:
    answer = json.loads(PAGE.shown("json", "createEndpoint"))["data"]["createEndpoint"]
    exports = [command.words for command in commands(PAGE.shown("sh", "WEBHOOK_SECRET")) if "export" in command.words]
    secret, endpoint_id = answer["secret"].strip("<>"), answer["endpoint"]["endpointId"]
    assert exports[0][1:] == [f"WEBHOOK_SECRET={secret}", f"ENDPOINT_ID={endpoint_id}"]


def test_the_operations_of_an_endpoint_do_what_the_page_says(tmp_path: Path) -> None:
    clock = HeldClock()
    clock.now = ON_THE_PAGE
    with gateway() as endpoint, running(own(tmp_path), clock=clock) as service:
        reader = Reader(service, endpoint.url)
        created = reader.do("createTriggerEvent")["createTriggerEvent"]
        again = reader.do("createTriggerEvent")["createTriggerEvent"]
        assert (created["duplicate"], again["duplicate"]) == (False, True)
        assert created["triggerEvent"]["id"] == again["triggerEvent"]["id"]
        while not reader.do("latencyMs")["deliveries"]["nodes"][0]["attempts"]:
            pass
        (delivery,) = reader.do("latencyMs")["deliveries"]["nodes"]
        assert (delivery["state"], delivery["attempts"][0]["status"]) == ("WAITING", 500)
        assert delivery["nextAttemptAt"] > delivery["attempts"][0]["startedAt"]

        endpoint.status = 410
        reader.do("testEndpoint")
        reader.wait_for_states("WAITING", "FAILED")
        counts = {"waiting": 1, "failed": 1, "received": 1}  # that the endpoint is disabled; the order has failed once
        while {name: each["totalCount"] for name, each in reader.do("waiting: deliveries").items()} != counts:
            pass
        (stopped,) = reader.do("latencyMs")["triggerEndpoints"]["nodes"]
        assert (stopped["state"], stopped["reason"], stopped["queue"]["failures"]) == ("DISABLED", "GONE", 2)
        (missed,) = reader.do("afterSequence: 1")["deliveries"]["nodes"]
        assert (missed["sequence"], missed["event"]["type"]) == (2, "endpoint.test")

        endpoint.status = 204
        service.ask(
            f'mutation {{ resumeEndpoint(input: {{endpointId: "{reader.endpoint_id}"}}) {{ endpoint {{ id }} }} }}'
        )
        assert reader.do("pauseEndpoint") == {
            "pauseEndpoint": {"endpoint": {"state": "PAUSED"}},
            "resumeEndpoint": {"endpoint": {"state": "ENABLED"}},
        }
        assert reader.do("replayDeliveries") == {
            "replayDeliveries": {"replayed": 1, "hasMore": False, "deliveries": [{"sequence": 2}]}
        }
        reader.wait_for_states("WAITING", "DELIVERED")
        assert endpoint.bodies[-1]["sequence"] == missed["sequence"]
        assert endpoint.ids[-1] == missed["webhookId"]
        assert reader.do("rotateEndpointSecret")["rotateEndpointSecret"]["secret"] != reader.secret


def test_the_inbox_is_read_and_acknowledged_and_the_table_of_types_is_what_the_graph_says(tmp_path: Path) -> None:
    with running(own(tmp_path)) as service:
        service.ask(PAGE.shown("graphql", "createTriggerEvent"))
        inbox, taken = PAGE.shown("graphql", "[RECEIVED], types"), PAGE.shown("graphql", "acknowledgeTriggerEvents")
        (event,) = service.ask(inbox)["triggerEvents"]["nodes"]
        acknowledged = [service.ask(taken, {"ids": [event["id"]]})["acknowledgeTriggerEvents"] for _ in range(2)]
        left = service.ask(inbox)["triggerEvents"]["nodes"]
        types = {each["name"] for each in service.ask(PAGE.shown("graphql", "triggerEventTypes"))["triggerEventTypes"]}

    assert (event["payload"], event["metadata"]["correlation_id"]) == ({"order": 17, "total": 42.5}, "req-8")
    assert acknowledged == [
        {"acknowledged": 1, "alreadyAcknowledged": 0, "missing": []},
        {"acknowledged": 0, "alreadyAcknowledged": 1, "missing": []},
    ]
    assert left == []
    assert set(PAGE.names("What is sent")) >= types >= {each.name for each in (*EVENT_TYPES, *EARTHQUAKE_TYPES)}
    assert {each.partition(".")[0] for each in types} == set(OWN_WORDS)


async def test_the_subscription_sends_what_is_stored(tmp_path: Path) -> None:
    create = PAGE.shown("graphql", "createTriggerEvent")
    notice = await PAGE.first_notice(own(tmp_path), lambda service: sent(service, create))
    assert (notice["node"]["type"], notice["node"]["payload"]["order"]) == ("order.completed", 17)


def test_the_sample_has_the_shape_of_the_webhook(tmp_path: Path) -> None:
    """The calls of Zapier and n8n: subscribe, sample, unsubscribe."""
    with gateway() as endpoint, running(own(tmp_path)) as service:
        endpoint.status = 200

        def call(text: str, variables: Mapping[str, Any]) -> dict[str, Any]:
            return service.ask(PAGE.shown("graphql", text), variables)

        subscribed = call("mutation Subscribe", {"url": endpoint.url, "types": ["order.completed"]})["createEndpoint"]
        service.ask(PAGE.shown("graphql", "createTriggerEvent"))
        while not endpoint.bodies:
            pass
        (sample,) = call("query Sample", {"type": "order.completed"})["triggerEvents"]["nodes"]
        listed = service.ask("{ triggerEndpoints { nodes { endpointId url } } }")["triggerEndpoints"]["nodes"]
        call("mutation Unsubscribe", {"id": subscribed["endpoint"]["id"]})
        unsubscribed = service.ask("{ triggerEndpoints { nodes { endpointId url } } }")["triggerEndpoints"]["nodes"]

    assert sample == {
        "id": endpoint.ids[0],
        **{name: endpoint.bodies[0][name] for name in ("type", "timestamp", "data")},
    }
    assert list(endpoint.bodies[0]) == ["type", "timestamp", "data", "sequence"]
    assert listed == [{"endpointId": subscribed["endpoint"]["id"], "url": endpoint.url}]
    assert unsubscribed == []
    assert "`triggerEndpoints { nodes { endpointId url } }`" in PAGE.text


def test_the_function_verifies_a_webhook_of_its_secret() -> None:
    program: dict[str, Any] = {}
    exec(PAGE.shown("python", "def event_of"), program)  # noqa: S102 - our own

    assert program["event_of"](FIRST, BODY, signed(FIRST)) == {"type": "order.completed"}
    with pytest.raises(WebhookVerificationError):
        program["event_of"](FIRST, BODY, signed(SECOND))
    with pytest.raises(ValueError, match="unpack"):
        program["event_of"](FIRST, BODY, {**signed(FIRST), "webhook-signature": "x"})


def test_the_table_of_attempts_is_the_schedule() -> None:
    seconds = {"s": 1, "min": 60, "h": 3600}

    def duration(text: str) -> int:
        return sum(int(number) * seconds[unit] for number, unit in re.findall(r"(\d+) (\w+)", text))

    waits = TriggerSettings.model_fields["webhook_retries"].default
    rows = [
        (int(attempt), duration(wait), duration(total)) for attempt, wait, total in PAGE.rows("When an endpoint fails")
    ]
    at_last = [(number, wait, sum(waits[: number - 1])) for number, wait in enumerate(waits, 2)]
    assert [row[:2] for row in rows] == [row[:2] for row in at_last]
    assert all(abs(shown - exact) < 60 for (*_, shown), (*_, exact) in zip(rows, at_last, strict=True))


def test_the_limits_of_an_event_are_those_of_the_code() -> None:
    limits = {row[0]: row[1] for row in PAGE.rows("Limits")}
    assert f"{LARGEST_PAYLOAD:,} bytes" in limits["payload"]
    assert f"at most {DEPTH - 1} levels" in limits["payload"]
    assert f"±{LEAST_MAGNITUDE} to ±1e126" in limits["numbers of a payload"]
    assert MAGNITUDE_END == 1e126
    assert limits["type"].startswith(f"{LONGEST_TYPE} characters")
    assert re.findall("`(.*?)`", limits["first word of a type"]) == list(OWN_WORDS)
    assert limits["idempotency key, correlation id"].startswith(
        f"{LONGEST_IDEMPOTENCY_KEY} and {LONGEST_CORRELATION_ID} characters"
    )


def test_the_table_of_items_names_the_partitions_of_each_table() -> None:
    rows = PAGE.rows("How they are stored")
    said = {(row[1], key.partition("#")[0]) for row in rows for key in re.findall(r"`([^`]+)`", row[2])}
    partitions = {
        (table, partition.partition("#")[0].strip("{}"))
        for table, design in (("events", EVENTS), ("endpoints", ENDPOINTS))
        for entity in ENTITIES
        for partition, _ in (entity.key, *entity.indexes.values())
        if entity.table is design
    }

    assert said == partitions
    assert {EVENTS.name, ENDPOINTS.name} <= set(PAGE.spans)
