"""One rule for the names of every domain: what a program writes is taken, and what hides or turns text is not."""

from typing import Any

from tests.core.test_names import NAMES, NO_NAMES
from tests.service import Service
from tests.store.samples import NOON

WRITE = """mutation ($name: String!, $eventId: ID!, $now: EpochMillis!, $time: DateTime!) {
  ingestEvents(input: {events: [{eventId: $eventId, eventTsMs: $now, mag: 1, lat: 0, lon: 0}]}) { rejected }
  registerFiles(input: {files: [{name: $name, additional: [{identifier: $name, attributes: {}}]}]}) { rejected }
  writeServiceLogs(input: {logs: [{service: $name, message: "m", loggedAt: $time}]}) { rejected }
}"""
CREATE = """mutation ($name: String!) {
  createTriggerEvent(input: {type: "a.b", payload: {}, idempotencyKey: $name}) { duplicate }
}"""
READ = """query ($name: String!, $eventId: ID!) {
  event(eventId: $eventId) { eventId }
  dataFile(name: $name) { name additional { identifier } }
  serviceLogs(filter: {services: [$name]}) { nodes { service } }
}"""


def given(name: str) -> dict[str, Any]:
    return {"name": name, "eventId": name, "now": NOON, "time": "2023-11-14T22:13:20Z"}


def run_of(name: str) -> dict[str, Any]:
    """An event of OpenLineage, whose job and output have the name."""
    return {
        "eventType": "COMPLETE",
        "eventTime": "2024-01-01T00:00:00Z",
        "run": {"runId": "7b0c2a3e-5f0e-4b1c-9a55-1f6f0f0d0002"},
        "job": {"namespace": "n", "name": name},
        "outputs": [{"namespace": "file", "name": f"{name}.out"}],
        "producer": "https://producer.example",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
    }


def test_every_domain_takes_a_name_as_programs_write_it_and_finds_it(service: Service) -> None:
    for name in NAMES:
        assert service.ask(WRITE, given(name)) == {
            "ingestEvents": {"rejected": 0},
            "registerFiles": {"rejected": 0},
            "writeServiceLogs": {"rejected": 0},
        }
        assert service.ask(CREATE, {"name": name}) == {"createTriggerEvent": {"duplicate": False}}
        assert service.http.post("/api/v1/lineage", json=run_of(name)).status_code == 200
        assert service.ask(READ, {"name": name, "eventId": name}) == {
            "event": {"eventId": name},
            "dataFile": {"name": name, "additional": [{"identifier": name}]},
            "serviceLogs": {"nodes": [{"service": name}]},
        }
        found = service.http.get("/fdsnws/event/1/query", params={"format": "text", "eventid": name})
        assert found.text.splitlines()[1].startswith(f"{name}|")


def test_no_domain_takes_a_name_with_a_control_character(service: Service) -> None:
    for name in NO_NAMES:
        answer = service.ask(WRITE, given(name))
        assert [each["rejected"] for each in answer.values()] == [1, 1, 1], ascii(name)
        assert service.codes(CREATE, {"name": name}) == ["BAD_USER_INPUT"]
        assert service.http.post("/api/v1/lineage", json=run_of(name)).status_code == 422
