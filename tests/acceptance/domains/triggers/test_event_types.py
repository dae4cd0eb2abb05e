"""The JSON Schemas of event types, judged by jsonschema-rs: examples and real payloads are what they say."""

import shutil
from pathlib import Path
from typing import Any

import orjson
from jsonschema_rs import Draft202012Validator, meta

from graph.domains.area_watches.reported import REPORTED
from graph.domains.earthquakes.revisions.history import History
from graph.domains.earthquakes.revisions.live import event_sequence
from graph.domains.triggers.checking import check_type
from graph.domains.triggers.event_types import DISABLED, EVENT_TYPES, TEST, payload_of_disabled, payload_of_test
from graph.domains.triggers.model import EndpointDisabledReason
from graph.domains.watches.event_types import CREATED, DELETED, EARTHQUAKE_TYPES, REVISED, payload_of_watch
from graph.domains.watches.model import Watch
from graph.store.sqlite import open_sqlite
from tests.domains.area_watches.lookouts import REX, a_lookout
from tests.domains.earthquakes.revisions.histories import a_record
from tests.domains.entities import ENTITIES
from tests.domains.sightings.in_store import sightings_of
from tests.domains.triggers.in_store import triggers
from tests.domains.watches.stations import a_station, say_every_kind

TYPES = (*EARTHQUAKE_TYPES, *EVENT_TYPES, REPORTED)
WATCH = Watch({"watch_id": "01930c60-11d2-7b1f-8d3a-5b2e9c7f4a10", "name": "All"})


def assert_valid(name: str, *payloads: Any) -> None:
    """Check payloads as a receiver gets them: as JSON."""
    (schema,) = [each.schema for each in TYPES if each.name == name]
    validator = Draft202012Validator(schema, validate_formats=True)
    for payload in payloads:
        validator.validate(orjson.loads(orjson.dumps(payload)))


def test_an_example_is_what_its_schema_says_which_allows_nothing_else() -> None:
    for each in TYPES:
        assert meta.is_valid(each.schema)
        check_type(each.name)
        validator = Draft202012Validator(each.schema, validate_formats=True)
        validator.validate(each.example)
        assert not validator.is_valid({})
        assert not validator.is_valid({**each.example, "more": 1})
        for name in each.example:
            assert not validator.is_valid({other: value for other, value in each.example.items() if other != name})
    validator = Draft202012Validator(REPORTED.schema)
    for part, of_part in REPORTED.example.items():  # each of whose parts is told to people, and has no name of one
        assert not validator.is_valid({**REPORTED.example, part: {**of_part, "userId": "rex"}})
        for name in of_part:
            less = {key: value for key, value in of_part.items() if key != name}
            assert not validator.is_valid({**REPORTED.example, part: less})


async def test_payloads_of_the_service_are_what_their_schemas_say() -> None:
    async with triggers("sqlite") as ours:
        endpoint = await ours.endpoint()
        assert_valid(TEST, payload_of_test(endpoint.endpoint_id))
        assert_valid(DISABLED, payload_of_disabled(endpoint, EndpointDisabledReason.FAILING))
    async with a_station("sqlite") as station:
        await station.watch()
        await say_every_kind(station)
        await station.source.say(a_record("us9", updated=2, depth=None, type=None))
        await station.follower().catch_up()
        events = await station.events()
        assert {event.event_type for event in events} == {CREATED, REVISED, DELETED}
        for event in events:
            assert_valid(event.event_type, event.payload)
    async with a_lookout("sqlite") as lookout, sightings_of(lookout.database, lookout.clock) as ours:
        await lookout.watch()
        await ours.new(REX, area="Ridgecrest", lat=35.6225, lon=-117.6709, text="It shook.")
        await lookout.report(eventId="ci1")
        await lookout.report()
        await lookout.follower().catch_up()
        reported = [event.payload for event in await lookout.events()]
    assert len(reported) == 3
    assert_valid(REPORTED.name, *reported)


async def test_payloads_of_the_real_week_are_what_their_schema_says(week_file: Path, tmp_path: Path) -> None:
    shutil.copy(week_file, tmp_path / "week.db")
    async with open_sqlite(tmp_path / "week.db", ENTITIES) as database:
        changes = await event_sequence(database).since(0, 10_000)
        versions = await History(database).revisions([key for change in changes for key in change.keys])
    assert len(versions) > 2000
    payloads = [payload_of_watch(WATCH, version) for version in versions.values()]
    assert_valid(CREATED, *payloads)
    ever = {name for payload in payloads for name, value in payload["earthquake"].items() if value is not None}
    assert ever == payloads[0]["earthquake"].keys()
