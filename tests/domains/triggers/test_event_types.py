"""The catalogue of types: each part of a schema is described, and domains add types of their own."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from graph.domain import Domain, Resources
from graph.domains import DOMAINS
from graph.domains.triggers.event_types import (
    EVENT_TYPES,
    EventType,
    EventTypes,
)
from graph.domains.triggers.json_schemas import schema_of, value_of
from tests.service import running
from tests.settings import Settings


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
