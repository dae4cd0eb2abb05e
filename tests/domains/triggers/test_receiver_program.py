"""`docs/webhook_receiver.py` and a `serve` as processes: what is stored reaches the program once, verified."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.domains.triggers.receiver_program import gateway, receiving
from tests.processes import Server, serving

OWN_NETWORK = {"GRAPH_WEBHOOK_NETWORKS": "127.0.0.0/8", "GRAPH_WEBHOOK_HTTP": "true"}
GIVEN_UP_AT_ONCE = {"GRAPH_WEBHOOK_RETRIES": "0.001"}
NOWHERE = "http://127.0.0.1:9/"
OTHER_SECRET = "whsec_c29tZWJvZHkgZWxzZSdzIHNlY3JldA=="  # noqa: S105  # pragma: allowlist secret


def ask(server: Server, query: str) -> dict[str, Any]:
    answer = server.ask(query).json()
    assert answer.keys() == {"data"}, answer
    data: dict[str, Any] = answer["data"]
    return data


@dataclass
class User:
    """A user of the service with one endpoint."""

    server: Server
    endpoint_id: str
    secret: str

    @classmethod
    def of(cls, server: Server, url: str = NOWHERE) -> "User":
        query = f'mutation {{ createEndpoint(input: {{url: "{url}"}}) {{ endpoint {{ endpointId }} secret }} }}'
        created = ask(server, query)["createEndpoint"]
        return cls(server, created["endpoint"]["endpointId"], created["secret"])

    def send_to(self, url: str) -> None:
        change = f'{{endpointId: "{self.endpoint_id}", url: "{url}"}}'
        ask(self.server, f"mutation {{ updateEndpoint(input: {change}) {{ endpoint {{ id }} }} }}")

    def create(self, number: int) -> None:
        event = f'{{type: "order.paid", payload: {{number: {number}}}}}'
        ask(self.server, f"mutation {{ createTriggerEvent(input: {event}) {{ duplicate }} }}")

    def deliveries(self) -> list[dict[str, Any]]:
        query = f'{{ deliveries(endpointId: "{self.endpoint_id}") {{ nodes {{ state attempts {{ status }} }} }} }}'
        found: list[dict[str, Any]] = ask(self.server, query)["deliveries"]["nodes"]
        return found

    def wait_for_states(self, *states: str) -> None:
        while [delivery["state"] for delivery in self.deliveries()] != list(states):
            pass


def test_an_earthquake_that_a_watch_wants_reaches_the_program(tmp_path: Path) -> None:
    with serving(folder=tmp_path, settings=OWN_NETWORK) as server:
        user = User.of(server)
        watch = f'{{name: "Large", filter: {{minMagnitude: 5}}, endpointId: "{user.endpoint_id}"}}'
        ask(server, f"mutation {{ createWatch(input: {watch}) {{ watch {{ id }} }} }}")
        with receiving(server.url, user.endpoint_id, user.secret, tmp_path) as program:
            user.send_to(program.url)
            small, large = (
                f'{{eventId: "{name}", eventTsMs: 0, mag: {mag}, lat: 1, lon: 2}}'
                for name, mag in (("us1", 4.9), ("us2", 5))
            )
            ask(server, f"mutation {{ ingestEvents(input: {{events: [{small}, {large}]}}) {{ upserted }} }}")
            event = program.next_event()
            assert program.end() == ""

    assert (event["type"], event["sequence"]) == ("earthquake.created", 1)
    assert (event["data"]["earthquake"]["eventId"], event["data"]["watch"]["name"]) == ("us2", "Large")


def test_the_program_refuses_what_somebody_else_has_sent(tmp_path: Path) -> None:
    with serving(folder=tmp_path, settings=OWN_NETWORK) as server:
        user = User.of(server)
        with receiving(NOWHERE, user.endpoint_id, OTHER_SECRET, tmp_path) as program:
            user.send_to(program.url)
            user.create(1)
            while not (attempts := user.deliveries()[0]["attempts"]):
                pass
            for headers in ({}, {"webhook-id": "1", "webhook-timestamp": "x", "webhook-signature": "x"}):
                assert httpx.post(program.url, content=b"{}", headers=headers, trust_env=False).status_code == 401
            assert program.end() == ""

    assert attempts == [{"status": 401}]


def test_the_program_repairs_a_hole_and_what_it_missed_while_it_was_down(tmp_path: Path) -> None:
    settings = {**OWN_NETWORK, **GIVEN_UP_AT_ONCE}
    with gateway() as endpoint, serving(folder=tmp_path, settings=settings) as server:
        user = User.of(server, endpoint.url)
        with receiving(server.url, user.endpoint_id, user.secret, tmp_path) as program:
            user.create(1)
            user.create(2)
            user.wait_for_states("FAILED", "FAILED")
            endpoint.program = program
            user.create(3)
            events = [program.next_event() for _ in range(3)]
            endpoint.program = None
            assert program.end() == ""

        assert sorted(event["sequence"] for event in events) == [1, 2, 3]
        assert all(event["data"] == {"number": event["sequence"]} for event in events)

        user.create(4)
        user.wait_for_states("FAILED", "FAILED", "DELIVERED", "FAILED")
        with receiving(server.url, user.endpoint_id, user.secret, tmp_path) as program:
            assert program.next_event()["sequence"] == 4
            assert program.end() == ""
