"""A store with watches and a source of earthquakes, watchers of it, and what a plain model expects of them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from graph.core.uuid7 import uuid7
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.history import History
from graph.domains.earthquakes.revisions.live import event_sequence
from graph.domains.earthquakes.revisions.model import EventRevision
from graph.domains.earthquakes.schema.filter_json import selection_of_json
from graph.domains.triggers.endpoints import EndpointChanges, Endpoints
from graph.domains.triggers.entities import TRIGGER_EVENT
from graph.domains.triggers.following import Follower
from graph.domains.triggers.model import TriggerEvent
from graph.domains.triggers.outbox import Outbox
from graph.domains.triggers.sending.resolver import Resolver
from graph.domains.watches.entities import WATCH, WATCH_ENTRY
from graph.domains.watches.known import KnownWatches
from graph.domains.watches.model import OF_REVISION, ChangeKind, Watch
from graph.domains.watches.watcher import Watcher
from graph.domains.watches.watches import Watches
from graph.store.contract import Database, Put
from graph.work.tasks import Sleep
from tests.domains.earthquakes.oracle import selects
from tests.domains.earthquakes.revisions.histories import BEGIN, Clock, Source, a_record
from tests.domains.entities import ENTITIES
from tests.domains.triggers.sending.receivers import OWN_NETWORK
from tests.store.engines import empty_database

USER = "ada"
URL = "http://127.0.0.1:9/hook"  # nothing listens there, and nothing is sent
ALL_KINDS = tuple(ChangeKind)

Told = tuple[str, str, int]
"""Of an event: the watch, the earthquake, and the number of its version."""


@dataclass
class Station:
    """A store, a source of earthquakes, and the users' endpoints and watches."""

    database: Database
    source: Source
    endpoints: Endpoints
    watches: Watches
    resolver: Resolver

    @property
    def clock(self) -> Clock:
        return self.source.clock

    async def watch(
        self,
        filter_: Mapping[str, Any] | None = None,
        *,
        user_id: str = USER,
        kinds: tuple[ChangeKind, ...] = ALL_KINDS,
        endpoint_id: str | None = None,
    ) -> Watch:
        """A new watch; by default of everything."""
        return await self.watches.create(user_id, "A watch", filter_ or {}, kinds, endpoint_id)

    async def endpoint(self, *types: str, user_id: str = USER) -> str:
        """The id of a new endpoint; by default it wants every type."""
        endpoint, _ = await self.endpoints.create(user_id, URL, EndpointChanges(types=types or None))
        return endpoint.endpoint_id

    def follower(self, database: Database | None = None, sleep: Sleep = asyncio.sleep) -> Follower:
        """A follower as a process makes it that has just begun, perhaps with another connection to the store."""
        database = database or self.database
        endpoints = Endpoints(database, self.resolver, self.clock, most=40)
        known = KnownWatches(watches_in(database, endpoints, self.clock), selection_of_json)
        watcher = Watcher(event_sequence(database), History(database), known)
        return Follower(database, watcher, Outbox(database, endpoints, self.clock), sleep)

    async def fill(self, *watches: Watch) -> None:
        """Store many watches at once, without changes that tell of them."""
        items = [watch.item for watch in watches]
        entries = [{name: item[name] for name in ("user_id", "watch_id")} for item in items]
        await self.database.put_many(
            [*[Put(WATCH, item) for item in items], *[Put(WATCH_ENTRY, each) for each in entries]]
        )

    async def events(self) -> list[TriggerEvent]:
        """All events of all users, in the order in which they were stored."""
        items = [item async for item in self.database.scan(TRIGGER_EVENT)]
        return [TriggerEvent(item) for item in sorted(items, key=lambda item: (item["change"], item["timestamp"]))]

    async def told(self) -> Counter[Told]:
        """How often each watch was told of each version."""
        return Counter(map(told_by, await self.events()))

    async def versions(self) -> list[tuple[int, EventRevision]]:
        """All versions of the catalogue, each with the number of its change."""
        changes = await event_sequence(self.database).since(0, 100_000)
        found = await History(self.database).revisions([key for change in changes for key in change.keys])
        return [(change.number, found[key]) for change in changes for key in change.keys]

    async def wanted(self, *watches: Watch) -> Counter[Told]:
        """What these watches have to be told of, once, by a loop over all of them and all versions."""
        compiled = [(watch, selection_of_json(watch.filter), {*map(ChangeKind, watch.kinds)}) for watch in watches]
        return Counter(
            (watch.watch_id, version.event.event_id, version.number)
            for number, version in await self.versions()
            for watch, selection, kinds in compiled
            if number > watch.since and OF_REVISION[version.kind] in kinds
            if any(selects(selection, Event(item)) for item in (version.item, version.before) if item)
        )


async def say_every_kind(station: Station) -> None:
    """A creation, a revision, a new name, a deletion, a return, and a merge of another event into the first one."""
    await station.source.say(a_record("us1"))
    await station.source.say(a_record("us1", mag=5.0, updated=2))
    await station.source.say(a_record("ci1", mag=5.0, ids=["us1", "ci1"], updated=3))
    await station.source.say(a_record("us1", status="deleted", updated=4))
    await station.source.say(a_record("us1", mag=5.0, status="reviewed", updated=5))
    await station.source.say(a_record("nc1", mag=4.9, updated=5))
    await station.source.say(a_record("us1", mag=5.0, status="reviewed", ids=["us1", "nc1"], updated=6))


def told_by(event: TriggerEvent) -> Told:
    """What an event tells."""
    payload = event.payload
    return payload["watch"]["watchId"], payload["earthquake"]["eventId"], payload["revision"]


def a_watch(number: int, filter_: Mapping[str, Any] | None = None, *, user_id: str = USER) -> Watch:
    """A watch of everything that is stored, made by no mutation."""
    return Watch(
        {
            "user_id": user_id,
            "watch_id": uuid7(BEGIN + number),
            "name": "A watch",
            "filter": filter_ or {},
            "kinds": [kind.value for kind in ALL_KINDS],
            "since": 0,
            "created_at": BEGIN,
        }
    )


def watches_in(database: Database, endpoints: Endpoints, clock: Clock) -> Watches:
    """The watches in a store."""
    return Watches(database, endpoints, event_sequence(database), clock, most=100_000)


@asynccontextmanager
async def stationed(database: Database, clock: Clock) -> AsyncIterator[Station]:
    """A station at a store, which has the same clock."""
    resolver = Resolver(OWN_NETWORK)
    try:
        endpoints = Endpoints(database, resolver, clock, most=40)
        watches = watches_in(database, endpoints, clock)
        yield Station(database, Source(database, clock=clock), endpoints, watches, resolver)
    finally:
        await resolver.close()


@asynccontextmanager
async def a_station(engine: str) -> AsyncIterator[Station]:
    """A station at an empty store."""
    clock = Clock()
    async with empty_database(engine, ENTITIES, clock=clock) as database, stationed(database, clock) as station:
        yield station
