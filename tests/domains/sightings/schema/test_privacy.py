"""No answer tells who reported, nor where more finely than a cell.

The documents are made of the schema, so they cover fields and types that are added later.
"""

import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator, Mapping
from threading import Event, Thread
from typing import Any

import orjson
import pytest
from graphql import GraphQLField, is_required_argument

from graph.domains.sightings.grid import KM1, KM10
from graph.geography.areas import distance_km
from tests.bearers import bearer
from tests.domains.triggers.schema.probes import selection
from tests.processes import TIMEOUT_S
from tests.schemas import schema
from tests.service import Service, running
from tests.settings import Settings
from tests.store.samples import HeldClock

EPICENTRE = {"lat": 40.7, "lon": -115.5}
LONELY = (40.7712345, -115.6054321)  # the only one within a kilometre
TOGETHER = ((40.7212345, -115.6054321), (40.7213456, -115.6055432), (40.7214567, -115.6056543))
HIDDEN = (40.68, -115.4)
BEN = "ben-who-asks"
HIDERS = "moderator-heron"
REPORTERS = [f"reporter-{bird}" for bird in ("kestrel", "avocet", "bittern", "curlew")]
CONFIRMERS = ["confirmer-osprey", "confirmer-plover"]
SECRET = re.compile("|".join([*REPORTERS, *CONFIRMERS, "kestrel", "osprey"]))
NEAR_KM = 30.0  # any position so near must be that of a cell, or the epicentre

FIELDS = schema.query_type.fields if schema.query_type else {}
ARGUMENTS = {
    "event": 'eventId: "ci1"',
    "eventVersion": 'eventId: "ci1", asOf: {first: true}',
    "eventVersions": "asOf: {first: true}",
    "serviceLogVolume": "interval: HOUR",
    "endpointDeliveries": "",
    "deliveries": 'endpointId: "01930c5f-7a3e-7cc4-98a5-3f0d6d1c2b7e"',
    "dataFile": 'name: "l1a.nc"',
    "run": 'runId: "01930c5f-7a3e-7cc4-98a5-3f0d6d1c2b7e"',
    "affectedBy": 'calibration: "gain.nc", version: "1.0.0"',
}
WITH_POSITIONS = {
    *("sightings", "sighting", "trending", "areas", "events", "event", "eventVersion"),
    *("catalogueStatistics", "triggerEvents", "triggerEventTypes"),
}
DEPTH = 5

PAYLOAD = selection(schema.type_map["ReportSightingPayload"], DEPTH)
CONFIRMED = selection(schema.type_map["ConfirmSightingPayload"], DEPTH)
REPORT = """mutation($lat: Float!, $lon: Float!, $category: SightingCategory!) { reportSighting(input: {
  category: $category, lat: $lat, lon: $lon, text: "It shook.", eventId: "ci1", area: "Wells",
  questionnaire: {felt: 1, motion: 3, reaction: 2}}) PAYLOAD }""".replace("PAYLOAD", PAYLOAD)


class Town:
    """A service with sightings of some people, and what it has answered to Ben."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.heard: list[str] = []  # by Ben, as a subscriber
        self.sighting_ids: list[str] = []

    def post(self, subject: str, query: str, variables: Mapping[str, Any] | None = None) -> str:
        """The text of an answer."""
        body = {"query": query, "variables": variables or {}}
        return self.service.http.post("/graphql", json=body, headers=bearer(subject=subject)).text

    def ask(self, subject: str, query: str, variables: Mapping[str, Any] | None = None) -> Any:
        """The data of an answer, which has no errors and says nothing that others may not know."""
        text = self.post(subject, query, variables)
        check(text)
        body = orjson.loads(text)
        assert "errors" not in body, body
        return body["data"]

    def told(self) -> list[str]:
        """The ids of the sightings that Ben's watch was told of, oldest first."""
        query = '{ triggerEvents(filter: {types: ["sighting.reported"]}) { nodes { payload metadata } } }'
        nodes: list[dict[str, Any]] = self.ask(BEN, query)["triggerEvents"]["nodes"]
        return [node["payload"]["sighting"]["sightingId"] for node in nodes[::-1]]

    def report(self, reporter: str, at: tuple[float, float], category: str = "SHAKING") -> str:
        """Report what one feels. Returns the sighting's id."""
        reported = self.ask(reporter, REPORT, {"lat": at[0], "lon": at[1], "category": category})["reportSighting"]
        assert reported["created"]
        self.sighting_ids.append(reported["sighting"]["sightingId"])
        return self.sighting_ids[-1]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    clock = HeldClock()
    store = tmp_path_factory.mktemp("town") / "town.db"
    settings = Settings(store=f"sqlite:///{store}", max_cost=1_000_000, max_tokens=20_000, max_document_bytes=200_000)
    with running(settings, clock=clock) as service:
        town = Town(service)
        event = {"eventId": "ci1", "eventTsMs": clock.now - 60_000, "mag": 6.1, **EPICENTRE}
        service.ask(INGEST, {"events": [event]})
        town.ask(BEN, 'mutation { createAreaWatch(input: {area: "Wells"}) { areaWatch { watchId } } }')
        subscribed = Event()
        told = Thread(target=_listen, args=(town, subscribed))
        told.start()
        assert subscribed.wait(TIMEOUT_S)
        town.report(REPORTERS[0], LONELY)
        for reporter, at, category in zip(REPORTERS[1:], TOGETHER, ("SHAKING", "DAMAGE", "FIRE"), strict=True):
            town.report(reporter, at, category)
        for confirmer in CONFIRMERS:
            town.ask(confirmer, CONFIRM, {"id": town.sighting_ids[0]})
        town.ask(HIDERS, HIDE, {"id": town.report(REPORTERS[1], HIDDEN, "OTHER")})
        clock.now += 300_000
        told.join()
        while len(town.told()) < 4:  # the others follow soon
            pass
        yield town


INGEST = "mutation($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }"
CONFIRM = f"mutation($id: ID!) {{ confirmSighting(input: {{sightingId: $id}}) {CONFIRMED} }}"
HIDE = 'mutation($id: ID!) { hideSighting(input: {sightingId: $id, reason: "It is spam."}) { deletedId } }'


def _listen(town: Town, subscribed: Event) -> None:
    """Keep what a subscriber hears of the first sighting and its confirmations."""
    query = f"subscription {{ sightings {selection(schema.type_map['SightingNotice'], DEPTH)} }}"
    headers = {**bearer(subject=BEN), "Accept": "text/event-stream"}
    with town.service.http.stream("POST", "/graphql", json={"query": query}, headers=headers) as stream:
        subscribed.set()  # whatever is stored from now on is told
        for line in stream.iter_lines():
            if line.startswith("data: {"):
                town.heard.append(line.removeprefix("data: "))
                if "HIDDEN" in line:
                    return


def _document(name: str, field: GraphQLField) -> str:
    given = ARGUMENTS.get(name, "")
    if name == "sighting":
        given = "sightingId: $id"
    if "first" in field.args:
        given = f"{given} first: 10"
    missing = [each for each, argument in field.args.items() if is_required_argument(argument) and each not in given]
    assert not missing, f"{name} needs {missing}: say which"
    arguments = f"({given})" if given else ""
    selected = selection(field.type, DEPTH - 1 if name == "run" else DEPTH)  # deeper, a run costs too much
    return f"query{'($id: ID!)' if name == 'sighting' else ''} {{ {name}{arguments} {selected} }}"


def test_no_query_tells_who_or_where(town: Town) -> None:
    for name in FIELDS.keys() - {"node", "nodes"}:
        variables = {"id": town.sighting_ids[0]} if name == "sighting" else {}
        text = town.post(BEN, _document(name, FIELDS[name]), variables)
        if name not in ("deliveries", "catalogueStatistics", "affectedBy"):
            assert "errors" not in orjson.loads(text), text[:1000]
        check(text)
        assert ("precisionKm" in text) is (name in WITH_POSITIONS), name


def test_no_node_no_mutation_and_no_watch_of_another_user_tells_who_or_where(town: Town) -> None:
    inner = selection(schema.type_map["Sighting"], DEPTH)
    (node,) = town.ask(BEN, "{ sightings(filter: {categories: [FIRE]}) { nodes { id } } }")["sightings"]["nodes"]
    answer = town.ask(BEN, f"query($id: ID!) {{ node(id: $id) {{ ... on Sighting {inner} }} }}", {"id": node["id"]})
    assert answer["node"]["category"] == "FIRE"

    assert town.ask(BEN, CONFIRM, {"id": town.sighting_ids[2]})["confirmSighting"]["confirmed"]
    near = {"lat": LONELY[0] + 0.00001, "lon": LONELY[1], "category": "SHAKING"}
    repeated = town.ask(BEN, REPORT, near)["reportSighting"]
    assert (repeated["created"], repeated["confirmed"]) == (False, True)
    assert town.told()[:4] == town.sighting_ids[:4]


def test_no_subscriber_hears_who_or_where(town: Town) -> None:
    notices = [orjson.loads(text)["data"]["sightings"] for text in town.heard]
    assert [notice["kind"] for notice in notices] == [*["REPORTED"] * 4, *["CONFIRMED"] * 2, "REPORTED", "HIDDEN"]
    assert notices[-1]["node"] is None
    for text in town.heard:
        check(text)


def test_the_cell_of_three_reporters_is_served_and_that_of_one_is_not(town: Town) -> None:
    query = '{ event(eventId: "ci1") { feltIntensity { cells { reports position { lat lon precisionKm } } } } }'
    cells = town.ask(BEN, query)["event"]["feltIntensity"]["cells"]
    fine = [each for each in cells if each["position"]["precisionKm"] == 1]
    assert [(each["reports"], _point(each["position"])) for each in fine] == [(3, KM1.centre(KM1.cell(*TOGETHER[0])))]


def test_a_reporter_is_told_of_its_own_sighting_only_that_it_is_its_own(town: Town) -> None:
    both = " ".join(f"{name} {selection(FIELDS[name].type, DEPTH)}" for name in ("sightings", "profile"))
    answer = town.ask(REPORTERS[0], f"{{ {both} }}")
    assert True in [node["own"] for node in answer["sightings"]["nodes"]]


def check(text: str) -> None:
    """Check that an answer says neither who reported nor where more finely than a cell."""
    assert not SECRET.search(text)
    for encoded in re.findall(r'"([A-Za-z0-9_-]{16,})"', text):
        assert not SECRET.search(_decoded(encoded))
    for at in (LONELY, *TOGETHER):
        for number in at:
            assert f"{abs(number):.3f}" not in text
    for position in _positions(orjson.loads(text)):
        if distance_km(*LONELY, {"lat": position[0], "lon": position[1]}) < NEAR_KM:
            assert position in SERVED, position


SERVED = {_each for at in (LONELY, *TOGETHER, HIDDEN) for _each in [tuple(KM10.centre(KM10.cell(*at)))]} | {
    tuple(KM1.centre(KM1.cell(*TOGETHER[0]))),
    (EPICENTRE["lat"], EPICENTRE["lon"]),
}


def _decoded(text: str) -> str:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode(errors="replace")
    except ValueError:
        return ""


def _positions(value: Any) -> Iterator[tuple[float, float]]:
    """All pairs of a latitude and a longitude in an answer."""
    if isinstance(value, Mapping):
        if isinstance(value.get("lat"), float) and isinstance(value.get("lon"), float):
            yield value["lat"], value["lon"]
        for each in value.values():
            yield from _positions(each)
    elif isinstance(value, list):
        for each in value:
            yield from _positions(each)


def _point(position: Mapping[str, float]) -> tuple[float, float]:
    return position["lat"], position["lon"]
