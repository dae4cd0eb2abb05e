"""The catalogue of types: examples and real payloads are what its JSON Schemas say."""

import re
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from graph.domain import Domain, Resources
from graph.domains import DOMAINS
from graph.domains.earthquakes.live import event_sequence
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.history import History
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.triggers.checking import check_type
from graph.domains.triggers.event_types import (
    DISABLED,
    EVENT_TYPES,
    TEST,
    EventType,
    EventTypes,
    payload_of_disabled,
    payload_of_test,
    payload_of_watch,
)
from graph.domains.triggers.json_schemas import schema_of, value_of
from graph.domains.triggers.model import Endpoint, Watch
from graph.store.contract import Database
from graph.store.sqlite import open_sqlite
from tests.domains.earthquakes.builders import an_event, ingest
from tests.domains.entities import ENTITIES
from tests.domains.triggers.in_store import ANNA, a_new_event, triggers
from tests.service import running
from tests.settings import Settings
from tests.store.engines import empty_database

BY_NAME = {each.name: each for each in EVENT_TYPES}
WATCH = Watch({"watch_id": "01930c60-11d2-7b1f-8d3a-5b2e9c7f4a10", "name": "All"})
DATE_TIME = re.compile(r"-?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def check(event_type: EventType, payload: Any) -> None:
    """Check a payload as a receiver gets it: as JSON."""
    received = orjson.loads(orjson.dumps(payload))
    Draft202012Validator(event_type.schema).validate(received)
    earthquake = received.get("earthquake")
    if earthquake:
        assert DATE_TIME.fullmatch(earthquake["time"])
        assert DATE_TIME.fullmatch(received["recordedAt"])


@pytest.mark.parametrize("event_type", EVENT_TYPES, ids=lambda each: each.name)
def test_the_example_of_a_type_is_what_its_schema_says(event_type: EventType) -> None:
    Draft202012Validator.check_schema(event_type.schema)
    check(event_type, event_type.example)
    check_type(event_type.name)


@pytest.mark.parametrize("event_type", EVENT_TYPES, ids=lambda each: each.name)
def test_a_schema_allows_nothing_else(event_type: EventType) -> None:
    validator = Draft202012Validator(event_type.schema)
    assert not validator.is_valid({})
    assert not validator.is_valid({**event_type.example, "more": 1})
    for name in event_type.example:
        assert not validator.is_valid({each: value for each, value in event_type.example.items() if each != name})


def test_every_part_of_a_schema_is_described_or_a_mere_container() -> None:
    for event_type in EVENT_TYPES:
        for name, of in event_type.schema["properties"].items():
            assert "description" in of or of["type"] in ("object", "array"), (event_type.name, name)


def test_a_domain_that_builds_on_the_triggers_adds_its_own_types(tmp_path: Path) -> None:
    own = EventType(
        "tide.measured", "A tide was measured.", {"m": 1.5}, schema_of({"m": value_of("number", "Metres.")})
    )

    @asynccontextmanager
    async def opened(resources: Resources) -> AsyncIterator[Sequence[object]]:
        resources.services.of(EventTypes).add(own)
        yield ()

    tides = Domain(name="tides", requires=("triggers",), open=opened)
    with running(Settings(store=f"sqlite:///{tmp_path}/quakes.db"), domains=(*DOMAINS, tides)) as service:
        types = service.ask("{ triggerEventTypes { name description example schema } }")["triggerEventTypes"]

    check(own, own.example)
    assert types[-1] == {name: getattr(own, name) for name in ("name", "description", "example", "schema")}


async def test_payloads_of_the_service_itself_are_what_their_schemas_say(engine: str) -> None:
    async with triggers(engine) as ours:
        endpoint: Endpoint = await ours.endpoint()
        payloads = {
            TEST: payload_of_test(endpoint.endpoint_id),
            DISABLED: payload_of_disabled(endpoint, "FAILING"),
        }
        for name, payload in payloads.items():
            check(BY_NAME[name], payload)
            (event,) = await ours.create(a_new_event(name, payload))
            assert (await ours.again(event)).payload == payload


SPARSE: dict[str, Any] = {"depth": None, "type": None}
FULL: dict[str, Any] = {
    "mag_type": "mww",
    "status": "reviewed",
    "url": "https://earthquake.usgs.gov/earthquakes/eventpage/us7000abcd",
    "tsunami": True,
    "felt": 3,
    "alert": "green",
    "sig": 483,
    "net": "us",
    "code": "7000abcd",
    "ids": ",us7000abcd,nc1,",
    "sources": ",us,nc,",
    "types": ",origin,",
    "nst": 7,
    "dmin": 0.5,
    "rms": 0.3,
    "gap": 12.0,
    "cdi": 4.1,
    "mmi": 5.0,
    "title": "M 5.6",
    "updated": 1_691_000_000_000,
}


async def versions_of(database: Database, *events: Event) -> list[EventRevision]:
    """The versions that the catalogue makes of events, one ingest after the other."""
    for event in events:
        await ingest(database, [event])
    changes = await event_sequence(database).since(0, 10_000)
    found = await History(database).revisions([key for change in changes for key in change.keys])
    return sorted(found.values(), key=lambda version: version.number)


async def test_the_payload_of_a_real_version_is_what_its_schema_says_and_can_be_stored(engine: str) -> None:
    async with empty_database(engine, ENTITIES) as database:
        sparse = an_event(mag=5.0, updated=1_690_000_000_000, **SPARSE)
        full = an_event(mag=5.6, **FULL)
        gone = an_event(mag=5.6, **{**FULL, "status": "deleted", "updated": 1_692_000_000_000})
        versions = await versions_of(database, sparse, full, gone)

    assert [version.kind.value for version in versions] == ["CREATED", "REVISED", "DELETED"]
    changed = {each.field for each in versions[1].changes}
    assert changed == {"mag", "magType", "depth", "type", "status", "alert", "tsunami"}
    async with triggers(engine) as ours:
        for name, version in zip(("created", "revised", "deleted"), versions, strict=True):
            event_type = BY_NAME[f"earthquake.{name}"]
            payload = payload_of_watch(WATCH, version)
            check(event_type, payload)
            (event,) = await ours.create(a_new_event(event_type.name, payload))
            assert (await ours.again(event)).payload == payload
        assert len(await ours.events(ANNA)) == 3


async def test_payloads_of_the_real_week_are_what_their_schema_says(week_file: Path, tmp_path: Path) -> None:
    shutil.copy(week_file, tmp_path / "week.db")
    async with open_sqlite(tmp_path / "week.db", ENTITIES) as database:
        versions = await versions_of(database)
    assert len(versions) > 2000
    for version in versions[::20]:
        check(BY_NAME["earthquake.created"], payload_of_watch(WATCH, version))
