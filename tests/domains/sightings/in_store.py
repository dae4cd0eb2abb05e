"""Sightings to test with: `async with sightings(engine) as ours`, `await ours.report("anna", area="Downtown")`."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.core.paging import Page, Paging
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.sightings.active_areas import ActiveAreas
from graph.domains.sightings.areas import KnownAreas
from graph.domains.sightings.categories import Categories
from graph.domains.sightings.changes import SightingChanges
from graph.domains.sightings.confirming import Confirming
from graph.domains.sightings.hiding import hide
from graph.domains.sightings.lifetimes import Lifetimes
from graph.domains.sightings.live import SightingBroadcast
from graph.domains.sightings.model import ConfirmationOutcome, Profile, ReportOutcome, Sighting
from graph.domains.sightings.profiles import profile_of
from graph.domains.sightings.reading import Sightings
from graph.domains.sightings.reporting import Report, Reporting
from graph.domains.sightings.selection import SightingSelection
from graph.store.contract import Database
from graph.store.entity import Entity, Item
from graph.store.location import StoreLocation
from graph.store.ordering import PageRequest
from tests.domains.entities import ENTITIES
from tests.domains.noon import NOON as NOON
from tests.domains.noon import held_clock as held_clock
from tests.processes import TIMEOUT_S
from tests.store.engines import empty_database, new_store
from tests.store.samples import HeldClock

NOON_S = NOON // 1000
ANNA, BEN, CARA = "anna", "ben", "cara"
LIFETIMES = Lifetimes(new=1800, refreshed=1800, longest=21_600)


@dataclass(frozen=True)
class SightingStore:
    """The sightings of a database, as one process writes and reads them."""

    database: Database
    clock: HeldClock
    categories: Categories
    sightings: Sightings
    reporting: Reporting
    confirming: Confirming
    areas: ActiveAreas
    changes: SightingChanges
    broadcast: SightingBroadcast

    async def report(self, user_id: str = ANNA, category: str = "SHAKING", **given: Any) -> ReportOutcome:
        """Report something, downtown unless it is said where."""
        where: dict[str, Any] = {} if given.keys() & {"area", "lat"} else {"area": "Downtown"}
        return await self.reporting.report(user_id, Report(category=category, **where, **given))

    async def new(self, user_id: str = ANNA, category: str = "SHAKING", **given: Any) -> Sighting:
        """A new sighting."""
        reported = await self.report(user_id, category, **given)
        assert reported.created
        return reported.sighting

    async def confirm(self, user_id: str, sighting: Sighting) -> ConfirmationOutcome:
        """Confirm a sighting."""
        return await self.confirming.confirm(user_id, sighting.sighting_id)

    async def hide(self, moderator_id: str, sighting_id: str, reason: str) -> None:
        """Hide a sighting."""
        await hide(self.reporting, moderator_id, sighting_id, reason)

    async def one(self, sighting: Sighting) -> Sighting | None:
        """A sighting as it is now."""
        return (await self.sightings.by_id([sighting.sighting_id])).get(sighting.sighting_id)

    async def profile(self, user_id: str) -> Profile:
        """A user's profile."""
        return await profile_of(self.database, user_id)

    async def page(self, size: int = 50, **selection: Any) -> Page[Sighting]:
        """The first page of a selection."""
        return await self.sightings.page(SightingSelection(**selection), PageRequest(Paging(size)))

    async def ids(self, size: int = 50, **selection: Any) -> list[str]:
        """The ids of the first page of a selection."""
        return [each.sighting_id for each in (await self.page(size, **selection)).records]

    async def items(self, entity: Entity) -> list[Item]:
        """All stored items of an entity."""
        return [item async for item in self.database.scan(entity)]

    def later(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.now += round(1000 * seconds)


@asynccontextmanager
async def sightings_of(
    database: Database,
    clock: HeldClock,
    *,
    lifetimes: Lifetimes = LIFETIMES,
    categories: Categories | None = None,
    known: KnownAreas | None = None,
    most_reports: int = 1000,
) -> AsyncIterator[SightingStore]:
    """The sightings of a database."""
    categories = categories or Categories()
    reporting = Reporting(
        database=database,
        catalogue=Catalogue(database),
        categories=categories,
        known=known or KnownAreas(),
        lifetimes=lifetimes,
        clock=clock,
        most=most_reports,
    )
    async with SightingBroadcast(database, reporting.changes.sequence, clock) as broadcast:
        yield SightingStore(
            database=database,
            clock=clock,
            categories=categories,
            sightings=Sightings(database, clock, categories, longest_s=lifetimes.longest_kept),
            reporting=reporting,
            confirming=reporting.confirming,
            areas=reporting.areas,
            changes=reporting.changes,
            broadcast=broadcast,
        )


@asynccontextmanager
async def sightings(
    engine: str, clock: HeldClock | None = None, *, stream: bool = False, **options: Any
) -> AsyncIterator[SightingStore]:
    """The sightings of tables of their own, which are empty."""
    clock = clock or held_clock()
    async with (
        empty_database(engine, ENTITIES, clock=clock, stream=stream) as database,
        sightings_of(database, clock, **options) as ours,
    ):
        yield ours


@asynccontextmanager
async def store_of(url: str, clock: HeldClock, **options: Any) -> AsyncIterator[SightingStore]:
    """The sightings of an existing store, through a connection of their own."""
    async with (
        StoreLocation.of(url).open(ENTITIES, clock=clock, timeout_s=TIMEOUT_S) as database,
        sightings_of(database, clock, **options) as ours,
    ):
        yield ours


@asynccontextmanager
async def two_processes(
    engine: str, folder: Path, **options: Any
) -> AsyncIterator[tuple[SightingStore, SightingStore]]:
    """The sightings of one empty store as two processes write and read them, at the same time."""
    url, clock = await new_store(engine, folder, ENTITIES), held_clock()
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(store_of(url, clock, **options))
        yield first, await stack.enter_async_context(store_of(url, clock, **options))
