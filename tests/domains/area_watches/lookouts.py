"""A store with area watches and changes of sightings, and followers that tell the one of the other."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

from graph.domains.area_watches.model import AreaWatch
from graph.domains.area_watches.watcher import AreaWatcher
from graph.domains.area_watches.watches import AreaWatches
from graph.domains.sightings import copies
from graph.domains.sightings.categories import ALL
from graph.domains.sightings.changes import SightingChanges
from graph.domains.sightings.entities import SIGHTING_CHANGES
from graph.domains.sightings.model import SightingChangeKind
from graph.domains.triggers.endpoints import Endpoints
from graph.domains.triggers.entities import TRIGGER_EVENT
from graph.domains.triggers.following import Follower
from graph.domains.triggers.model import TriggerEvent
from graph.domains.triggers.outbox import Outbox
from graph.domains.triggers.sending.resolver import Resolver
from graph.feed.sequence import ChangeSequence
from graph.store.contract import Database
from graph.store.entity import Item
from graph.work.tasks import Sleep
from tests.domains.entities import ENTITIES
from tests.domains.sightings.built import a_sighting
from tests.domains.sightings.in_store import held_clock
from tests.domains.triggers.in_store import LOOPBACK
from tests.store.engines import empty_database
from tests.store.samples import HeldClock

ADA, BEA, REX = "ada", "bea", "rex"  # two who watch, and one who reports
HERE, THERE = "ridgecrest", "kokopo"
SHAKING, FIRE = "SHAKING", "FIRE"

Told = tuple[str, str]
"""Of an event: the watch, and the sighting."""


@dataclass
class Lookout:
    """A store with users' area watches, and what they report."""

    database: Database
    clock: HeldClock
    resolver: Resolver
    watches: AreaWatches
    changes: SightingChanges
    numbers: "count[int]"

    async def watch(self, user_id: str = ADA, area: str = HERE, category: str = ALL) -> AreaWatch:
        """A watch; by default of all categories."""
        return await self.watches.create(user_id, area, category)

    async def report(self, area: str = HERE, category: str = SHAKING, user_id: str = REX, **others: Any) -> Item:
        """A new sighting."""
        number, now_s = next(self.numbers), self.clock() // 1000
        of: dict[str, Any] = {"userId": user_id, "areaSlug": area, "category": category, "reporterTier": "SILVER"}
        sighting = a_sighting(number, now_s, **of, **others)
        assert await self.changes.store(SightingChangeKind.REPORTED, sighting, copies.puts(sighting))
        return sighting

    async def change(self, kind: SightingChangeKind, sighting: Item) -> None:
        """Store that something happened to a sighting, and nothing else."""
        assert await self.changes.store(kind, sighting, [])

    def endpoints(self, database: Database | None = None) -> Endpoints:
        """The users' endpoints."""
        return Endpoints(database or self.database, self.resolver, self.clock, most=40)

    def follower(self, database: Database | None = None, sleep: Sleep = asyncio.sleep) -> Follower:
        """A follower as a process makes it that has just begun, perhaps with another connection to the store."""
        database = database or self.database
        outbox = Outbox(database, self.endpoints(database), self.clock)
        return Follower(
            database, AreaWatcher(SightingChanges(database), watches_in(database, self.clock)), outbox, sleep
        )

    async def events(self) -> list[TriggerEvent]:
        """All events of all users, in the order in which they were stored."""
        items = [item async for item in self.database.scan(TRIGGER_EVENT)]
        return [TriggerEvent(item) for item in sorted(items, key=lambda item: (item["change"], item["timestamp"]))]

    async def told(self) -> Counter[Told]:
        """How often each watch was told of each sighting."""
        return Counter(map(told_by, await self.events()))


def told_by(event: TriggerEvent) -> Told:
    """What an event tells."""
    return event.payload["watch"]["watchId"], event.payload["sighting"]["sightingId"]


def every(watches: list[AreaWatch], *sightings: Item) -> Counter[Told]:
    """What is told if each of these watches is told of each of these sightings once."""
    return Counter((watch.watch_id, sighting["sightingId"]) for watch in watches for sighting in sightings)


def watches_in(database: Database, clock: HeldClock, *, most: int = 1000) -> AreaWatches:
    """The area watches in a store."""
    return AreaWatches(database, clock, ChangeSequence(database, SIGHTING_CHANGES), most=most)


@asynccontextmanager
async def a_lookout(engine: str, *, most: int = 1000) -> AsyncIterator[Lookout]:
    """A lookout at an empty store."""
    clock, resolver = held_clock(), Resolver(LOOPBACK)
    async with empty_database(engine, ENTITIES, clock=clock) as database:
        try:
            watches = watches_in(database, clock, most=most)
            yield Lookout(database, clock, resolver, watches, SightingChanges(database), count())
        finally:
            await resolver.close()
