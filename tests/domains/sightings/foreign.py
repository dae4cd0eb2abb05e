"""A table `blip` as another program writes it, with boto3 and by the document alone, and the service that serves it."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any

import pytest

from graph.core.services import Services
from graph.domain import Domain
from graph.domains import DOMAINS
from graph.domains.area_watches import DOMAIN as AREA_WATCHES
from graph.domains.sightings.adopting import ADOPTIONS
from graph.domains.sightings.entities import BLIP
from tests.domains.area_watches.lookouts import watches_in
from tests.domains.earthquakes.builders import at
from tests.domains.entities import ENTITIES
from tests.domains.sightings.in_store import SightingStore, sightings_of
from tests.feed.adopt_all import adopt_all
from tests.other_programs import ForeignTable, table_of
from tests.service import Service
from tests.store.engines import make_tables, open_dynamodb
from tests.store.samples import HeldClock

REPORTED = "2026-06-25T14:30:00Z"
REPORTED_S = at(REPORTED[:19]) // 1000
EXPIRES_S = REPORTED_S + 1800
NOW_S = REPORTED_S + 600

UNADOPTED: Sequence[Domain] = [replace(domain, adoptions=()) for domain in DOMAINS]
"""The domains of a service that only finds what other programs write."""


def a_sighting(
    area: str = "Downtown",
    category: str = "Sneakers",
    reported_at: str = REPORTED,
    sighting_id: str = "abc123",
    **more: Any,
) -> dict[str, Any]:
    """The document's sighting: its keys and its expiry."""
    return {
        "PK": f"AREA#{area}",
        "SK": f"SIGHTING#{reported_at}#{sighting_id}",
        "GSI1PK": f"CATEGORY#{category}",
        "GSI1SK": f"{reported_at}#{sighting_id}",
        "expiresAt": EXPIRES_S,
        **more,
    }


class ForeignSightings(ForeignTable):
    """The table, as another program has it."""

    @contextmanager
    def served(self, domains: Sequence[Domain] = UNADOPTED, **settings: Any) -> Iterator[Service]:
        """The service, which by default adopts nothing by itself."""
        with super().served(domains, **settings) as service:
            yield service

    @asynccontextmanager
    async def store(self) -> AsyncIterator[SightingStore]:
        """The sightings as the service reads and writes them."""
        async with (
            open_dynamodb(ENTITIES, prefix=self.prefix, clock=self.clock) as database,
            sightings_of(database, self.clock) as ours,
        ):
            yield ours

    async def adopt(self) -> None:
        """Adopt what there is."""
        async with self.store() as ours:
            services = Services([ours.reporting.adopting, watches_in(ours.database, self.clock)])
            await adopt_all(services, ours.database, [*ADOPTIONS, *AREA_WATCHES.adoptions])


@pytest.fixture
def foreign(dynamodb_endpoint: str) -> ForeignSightings:
    return new_table()


def new_table(*, stream: bool = False) -> ForeignSightings:
    """An empty table, at the document's time, perhaps with a stream."""
    prefix, clock = make_tables(ENTITIES, stream=stream), HeldClock()
    clock.now = 1000 * NOW_S
    return ForeignSightings(prefix, table_of(BLIP, prefix), clock)
