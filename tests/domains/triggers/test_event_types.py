"""The catalogue of types: payloads have the parts that their schemas name and describe, and domains add types."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from graph.domain import Domain, Resources
from graph.domains import DOMAINS
from graph.domains.triggers.event_types import (
    DISABLED,
    EVENT_TYPES,
    TEST,
    EventType,
    EventTypes,
    payload_of_disabled,
    payload_of_test,
)
from graph.domains.triggers.json_schemas import schema_of, value_of
from tests.domains.triggers.in_store import triggers
from tests.domains.triggers.watching.stations import a_station, say_every_kind
from tests.service import running
from tests.settings import Settings


def parts_of(schema: Mapping[str, Any]) -> Any:
    """The names that a schema requires, with those of its objects."""
    if schema.get("type") == "array":
        return [parts_of(schema["items"])]
    if "properties" not in schema:
        return None
    assert (schema["required"], schema["additionalProperties"]) == (list(schema["properties"]), False)
    return {name: parts_of(each) for name, each in schema["properties"].items()}


def parts_in(value: Any) -> Any:
    """The names in a payload."""
    if isinstance(value, list):
        return [parts_in(each) for each in value[:1]]
    return {name: parts_in(each) for name, each in value.items()} if isinstance(value, dict) else None


async def test_payloads_have_the_parts_that_their_schemas_name() -> None:
    payloads = [(each.name, dict(each.example)) for each in EVENT_TYPES]
    async with triggers("sqlite") as ours:
        endpoint = await ours.endpoint()
        payloads += [
            (TEST, payload_of_test(endpoint.endpoint_id)),
            (DISABLED, payload_of_disabled(endpoint, "FAILING")),
        ]
    async with a_station("sqlite") as station:
        await station.watch()
        await say_every_kind(station)
        await station.follower().catch_up()
        payloads += [(event.event_type, dict(event.payload)) for event in await station.events()]

    schemas = {each.name: each.schema for each in EVENT_TYPES}
    for name, payload in payloads:
        expected = parts_of(schemas[name])
        if "changes" in expected and not payload["changes"]:
            expected["changes"] = []
        assert parts_in(payload) == expected


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

    assert types[-1] == {name: getattr(own, name) for name in ("name", "description", "example", "schema")}
