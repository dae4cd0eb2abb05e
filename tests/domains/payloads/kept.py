"""Ingests whose payloads are kept, and catalogues rebuilt from them, to compare with the originals item by item."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import orjson

from graph.api.recording import Recording
from graph.core.clock import Clock
from graph.domains.earthquakes import entities
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.usgs.client import UsgsClient
from graph.domains.payloads.keeping import PayloadFolder
from graph.domains.payloads.rebuilding import Rebuilt, rebuild
from graph.domains.payloads.receiving import Payloads
from graph.domains.payloads.versions import PayloadVersions
from graph.observability.metrics import Metrics
from graph.store.contract import Database
from tests.domains.earthquakes.ingest.ingests import NOW, no_pause, plain_http, unlogged_ingest
from tests.domains.entities import ENTITIES, documented
from tests.domains.watches.cuts import Noted
from tests.processes import TIMEOUT_S
from tests.store.engines import empty_database

OF_BACKFILLS = (entities.BACKFILL, entities.CHANGES_BACKFILL, entities.BACKFILL_PART)
CATALOGUE = tuple(entity for entity in entities.ENTITIES if entity not in OF_BACKFILLS)


def ticking() -> Clock:
    """A clock that is a millisecond later at every look."""
    return count(NOW).__next__


@dataclass(frozen=True)
class Keeper:
    """A database, and an ingest into it that keeps payloads in a folder."""

    database: Database
    folder: Path
    clock: Clock
    ingest: Ingest
    payloads: Payloads

    @property
    def versions(self) -> PayloadVersions:
        return PayloadVersions(self.database)

    def through(self, database: Database) -> Ingest:
        """The same ingest by another way to the database."""
        ingest = unlogged_ingest(database, self.clock)
        ingest.hand_payloads_to(self.payloads, bodies=True)
        return ingest


@asynccontextmanager
async def a_keeper(
    engine: str,
    folder: Path,
    usgs_url: str = "http://127.0.0.1:9",
    *,
    revises: bool = True,
    cancelled_ends_within_s: float = TIMEOUT_S,
) -> AsyncIterator[Keeper]:
    """A keeper with an empty database, beside a USGS."""
    clock = ticking()
    async with empty_database(engine, ENTITIES, clock=clock) as database, plain_http() as http:
        kept = PayloadFolder(folder, revises=revises)
        payloads = Payloads(clock, kept, cancelled_ends_within_s=cancelled_ends_within_s)
        usgs = UsgsClient(http, usgs_url, timeout_s=60, clock=clock, sleep=no_pause)
        ingest = Ingest(database, usgs, Recording(Metrics()), clock, revises=revises)
        ingest.hand_payloads_to(payloads, bodies=True)
        yield Keeper(database, folder, clock, ingest, payloads)


async def catalogue_in(database: Database) -> set[bytes]:
    """Every item of the catalogue with all of its attributes and keys, but for the random state of its sequence."""
    items = [documented(entity, item) for entity in CATALOGUE async for item in database.scan(entity)]
    for item in items:
        item.pop("state", None)
    return {orjson.dumps(with_floats(item), option=orjson.OPT_SORT_KEYS) for item in items}


def with_floats(item: dict[str, Any]) -> dict[str, Any]:
    """The item with one form of each number, since an engine may return 2 for 2.0."""
    return {name: float(value) if type(value) is int else value for name, value in item.items()}


@asynccontextmanager
async def rebuilt(engine: str, folder: Path) -> AsyncIterator[tuple[Database, Rebuilt]]:
    """A database that is rebuilt from a folder, with a new state in each transaction."""
    async with empty_database(engine, ENTITIES) as database:
        noted, state = Noted(database), entities.EVENT_SEQUENCE.new_state().key
        yield database, await rebuild(noted, folder, lambda progress: None)
    assert all(state in [each.key for each in actions] for method, actions in noted.noted if method == "transact")


async def assert_it_rebuilds(keeper: Keeper, engine: str = "sqlite") -> None:
    """Check that the folder gives exactly the catalogue."""
    async with rebuilt(engine, keeper.folder) as (database, _):
        ours, again = await catalogue_in(keeper.database), await catalogue_in(database)
        assert (sorted(ours - again), sorted(again - ours)) == ([], [])
