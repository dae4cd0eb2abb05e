"""A service with records of every domain, which were stored by its own API. Several share each millisecond."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graph.core.times import rfc3339_of_millis
from graph.observability.logs import get_logger
from tests.bearers import bearer
from tests.domains.earthquakes.ingest.ingests import a_feature
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.entities import ENTITIES
from tests.domains.noon import NOON, held_clock
from tests.service import Service, running
from tests.settings import Settings
from tests.store.engines import new_store
from tests.store.samples import HeldClock

ANNA, BEN = "anna", "ben"
URL = "http://127.0.0.1:9/hook"  # nothing is sent there
ACCEPT = {"Accept": "application/json, text/event-stream"}  # a refused subscription is answered with JSON
MANY = 6  # nodes of a list, where one is as good as another
EVENTS = 40

CATEGORIES = ("SHAKING", "DAMAGE", "TSUNAMI", "LANDSLIDE", "FIRE", "POWER_OUTAGE")
RUN_ID = "00000000-0000-4000-8000-00000000000{}"

INGEST = "mutation ($some: [EventInput!]!) { ingestEvents(input: {events: $some}) { upserted revised } }"
REPORT = "mutation ($one: ReportSightingInput!) { reportSighting(input: $one) { created sighting { id } } }"
CREATE_EVENT = "mutation ($one: CreateTriggerEventInput!) { createTriggerEvent(input: $one) { triggerEvent { id } } }"
WRITE_LOGS = "mutation ($some: [ServiceLogInput!]!) { writeServiceLogs(input: {logs: $some}) { accepted } }"
REGISTER = "mutation ($some: [DataFileInput!]!) { registerFiles(input: {files: $some}) { registered } }"
RECORD = "mutation ($one: RecordRunInput!) { recordRun(input: $one) { run { id } } }"
CREATE_ENDPOINT = (
    "mutation ($one: CreateEndpointInput!) { createEndpoint(input: $one) { endpoint { endpointId } secret } }"
)
CREATE_WATCH = "mutation ($one: CreateWatchInput!) { createWatch(input: $one) { watch { watchId } } }"
WATCH_AREA = "mutation ($one: CreateAreaWatchInput!) { createAreaWatch(input: $one) { areaWatch { watchId } } }"


def event(number: int, updated: int = 1, **others: Any) -> dict[str, Any]:
    """An event: five in a row share their millisecond and their magnitude."""
    time = NOON - 40_000_000 * (number // 5 + 1)
    mag = 3 + number // 5 % 4 / 2
    at = rfc3339_of_millis(updated)
    return {
        "eventId": f"ev{number}",
        "updatedAt": at,
        "eventTsMs": time,
        "mag": mag,
        "lat": 35.5,
        "lon": -117.5,
        **others,
    }


@dataclass
class Filled:
    """A filled service, and what its fields need to be asked for."""

    service: Service
    arguments: dict[str, dict[str, Any]] = field(default_factory=dict)  # required ones, by the field
    owned: dict[str, Any] = field(default_factory=dict)  # ids of Anna's, by the mutation's or the input's field
    lists: dict[str, Any] = field(default_factory=dict)  # those of `connections` that were found

    def answer(self, document: str, variables: Mapping[str, Any] | None = None, user_id: str = ANNA) -> dict[str, Any]:
        """The body of the answer to a user with every scope."""
        return self.answer_to(bearer(subject=user_id), document, variables)

    def answer_to(
        self, headers: Mapping[str, str], document: str, variables: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The body of the answer to a request with these headers."""
        body = {"query": document, "variables": variables}
        return dict(self.service.http.post("/graphql", json=body, headers={**ACCEPT, **headers}).json())

    def ask(self, document: str, user_id: str = ANNA, **variables: Any) -> Any:
        """The only field of the answer, which must have no errors."""
        body = self.answer(document, variables, user_id)
        assert body.keys() == {"data"}, body
        (found,) = body["data"].values()
        return found


@contextmanager
def filled(engine: str, folder: Path, usgs: UsgsServer) -> Iterator[Filled]:
    """Fill a store with one service, and open it with another one, which stores nothing by itself."""
    quiet: Any = {
        "deliver": False,
        "webhook_http": True,
        "webhook_networks": ("127.0.0.0/8",),
        "public_read": False,
        "max_cost": 1_000_000,
    }
    store = asyncio.run(new_store(engine, folder, ENTITIES))
    clock = held_clock()
    with running(Settings(store=store, usgs_url=usgs.url, own_logs=True, **quiet), clock=clock) as service:
        first = Filled(service)
        _fill(first, clock, usgs)
    clock.now += 1000
    with running(Settings(store=store, max_logs=0, **quiet), clock=clock) as service:
        service.http.headers.pop("Authorization")
        yield Filled(service, first.arguments, first.owned)


def _fill(filled: Filled, clock: HeldClock, usgs: UsgsServer) -> None:
    ask = filled.ask

    # The catalogue
    ask(INGEST, some=[event(number) for number in range(EVENTS)])
    for revision in range(2, MANY + 1):
        clock.now += revision % 2
        assert ask(INGEST, some=[event(0, mag=revision / 2, updated=revision)])["revised"] == 1
    usgs.hold([a_feature(f"us{number}", time=NOON - 1) for number in range(MANY)])
    assert ask("mutation { ingestRecent(input: {feed: ALL_WEEK}) { upserted } }") == {"upserted": MANY}

    # Logs
    some = [
        {"service": "api", "message": f"{number}", "loggedAt": "2100-03-02T11:00:00Z"} for number in range(2 * MANY)
    ]
    ask(WRITE_LOGS, some=some)
    answer = filled.service.http.post("/graphql", json={"query": "{ ingestStatus { __typename } }"})
    for number in range(MANY):
        get_logger("tests").warning(f"Line {number}", request_id=answer.headers["X-Request-Id"])

    # Sightings: every category in one area, and one category in every area
    for number, category in enumerate(CATEGORIES):
        clock.now += number % 2
        ask(REPORT, one={"category": category, "area": "Area 0", "eventId": "ev0"})
    for number in range(1, MANY):
        ask(REPORT, one={"category": "SHAKING", "area": f"Area {number}"})

    # Triggers: every endpoint gets every event
    endpoints = [ask(CREATE_ENDPOINT, one={"url": URL})["endpoint"]["endpointId"] for _ in range(MANY)]
    for number in range(2 * MANY):
        clock.now += number % 2
        created = ask(CREATE_EVENT, one={"type": "order.completed", "payload": {"n": number}})
    filled.arguments["Query.eventVersions"] = {"asOf": {"first": True}}
    filled.arguments["Query.deliveries"] = {"endpointId": endpoints[0]}
    for number in range(MANY):
        watch = ask(CREATE_WATCH, one={"name": f"{number}", "filter": {"minMagnitude": 9.5}})["watch"]
        area = ask(WATCH_AREA, one={"area": f"Area {number}"})["areaWatch"]
    filled.owned |= {"endpointId": endpoints[0], "acknowledgeTriggerEvents.eventIds": [created["triggerEvent"]["id"]]}
    filled.owned |= {"createWatch.endpointId": endpoints[0], "replayDeliveries.endpointId": endpoints[0]}
    filled.owned |= {"deleteWatch.watchId": watch["watchId"], "deleteAreaWatch.watchId": area["watchId"]}

    # Files: one has several revisions, and several runs used it
    day = {"level": "L0", "applicableDates": ["2100-03-01"]}
    files = [{"name": f"file{number}", "checksum": "a" * 32, **day} for number in range(2 * MANY)]
    calibrations = [
        {"name": f"cal{n}", "level": "CAL", "calibrations": [{"calibrates": "L0", "calibrationVersion": f"1.0.{n}"}]}
        for n in range(MANY)
    ]
    ask(REGISTER, some=[*files, *calibrations])
    for checksum in "bcdef":
        ask(REGISTER, some=[{**files[0], "checksum": checksum * 32}])
    for number in range(MANY):
        ask(RECORD, one={"runId": RUN_ID.format(number), "algorithm": "l1a", "used": [{"name": "file0"}]})
