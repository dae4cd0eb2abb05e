"""Fills a store with endpoints, watches and events, without the service."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from graph.core.uuid7 import uuid7
from graph.domain import Services, entities_of
from graph.domains import DOMAINS
from graph.domains.triggers.endpoints import EndpointChanges, Endpoints
from graph.domains.triggers.entities import TRIGGER_EVENT
from graph.domains.triggers.model import RETENTION_S, NewTriggerEvent, timestamp_at
from graph.domains.triggers.outbox import Outbox
from graph.domains.watches.entities import WATCH, WATCH_ENTRY
from graph.domains.watches.model import ChangeKind
from graph.opening import open_services, read_settings
from graph.store.contract import Put
from graph.store.entity import Item
from graph.store.query import Query
from graph.store.sqlite import open_sqlite

T = TypeVar("T")

SETTINGS = {"webhook_http": "true", "webhook_networks": "127.0.0.0/8"}
"""That let webhooks come to this machine."""

ENVIRONMENT = {f"GRAPH_{name.upper()}": value for name, value in SETTINGS.items()}
TYPE = "order.completed"
TYPES = tuple(f"order.{word}" for word in ("created", "paid", "packed", "sent", "delivered", "returned", "completed"))
STATUSES = ("delivered",) * 90 + ("received",) * 6 + ("failed",) * 3 + ("retrying",)
APART_US = 1_000_000  # between two events of an inbox
AT_ONCE = 1000


def payload(number: int) -> dict[str, Any]:
    """The payload of an event, some 200 bytes."""
    return {
        "order": f"A-{number:08}",
        "customer": {"id": number % 9973, "name": "Jane Doe", "email": f"jane{number % 9973}@example.org"},
        "items": [{"sku": f"S{number % 97:04}", "quantity": 1 + number % 5, "price": 19.9}],
        "total": round(19.9 * (1 + number % 5), 2),
    }


@asynccontextmanager
async def services_at(path: Path) -> AsyncIterator[Services]:
    """The services at a SQLite file, without their background tasks."""
    settings = read_settings(DOMAINS, store=f"sqlite:///{path}", **SETTINGS)
    async with open_services(settings, DOMAINS) as services:
        yield services


def done(work: Coroutine[Any, Any, T]) -> T:
    """Do some work in a loop of its own."""
    return asyncio.run(work)


async def queue_events(path: Path, user_id: str, url: str, number: int) -> str:
    """Make an endpoint, and so many events that wait for it. Returns the endpoint's id."""
    async with services_at(path) as services:
        endpoint, _ = await services.of(Endpoints).create(user_id, url, EndpointChanges())
        outbox = services.of(Outbox)
        for first in range(0, number, AT_ONCE):
            events = [
                NewTriggerEvent(user_id, TYPE, payload(each), {}) for each in range(first, min(first + AT_ONCE, number))
            ]
            await asyncio.gather(*map(outbox.create, events))
    return endpoint.endpoint_id


@dataclass(frozen=True, slots=True)
class InboxOf:
    """Many events of one user, a second apart. Equal arguments give equal events."""

    user_id: str
    number: int
    end_us: int  # when the last one was created, epoch microseconds
    types: Sequence[str] = TYPES
    statuses: Sequence[str] = STATUSES

    def item(self, number: int) -> Item:
        """An event of it."""
        rng = random.Random(number)  # noqa: S311 - reproducible on purpose
        at_us = self.end_us - (self.number - 1 - number) * APART_US
        return {
            "user_id": self.user_id,
            "timestamp": timestamp_at(at_us),
            "event_id": str(UUID(int=rng.getrandbits(128), version=4)),
            "event_type": rng.choice(self.types),
            "payload": payload(number),
            "status": rng.choice(self.statuses),
            "ttl": int(time.time()) + RETENTION_S,
            "retry_count": 0,
            "metadata": {"api_version": "v1", "source_ip": "127.0.0.1"},
            "deliveries": [],
            "open_deliveries": 0,
            "failed_deliveries": 0,
            "change": number + 1,
        }

    def items(self) -> Iterator[Item]:
        """All of them."""
        return map(self.item, range(self.number))


async def store_inbox(path: Path, inbox: InboxOf) -> None:
    """Store the events of an inbox."""
    async with open_sqlite(path, entities_of(DOMAINS)) as database:
        for some in _parts(inbox.items(), AT_ONCE):
            await database.put_many([Put(TRIGGER_EVENT, item, is_checked=True) for item in some])


async def store_watches(
    path: Path, user_id: str, filters: Iterable[Mapping[str, Any]], endpoint_id: str | None = None
) -> None:
    """Store watches of what comes from now on into an empty catalogue."""
    now = time.time_ns() // 1_000_000
    puts = []
    for each in filters:
        watch: Item = {
            "user_id": user_id,
            "watch_id": uuid7(now),
            "name": "A watch",
            "filter": dict(each),
            "kinds": [kind.value for kind in ChangeKind],
            "since": 0,
            "created_at": now,
            **({} if endpoint_id is None else {"endpoint_id": endpoint_id}),
        }
        puts += [Put(WATCH, watch), Put(WATCH_ENTRY, {"watch_id": watch["watch_id"], "user_id": user_id})]
    async with open_sqlite(path, entities_of(DOMAINS)) as database:
        await database.put_many(puts)


async def number_of_events(path: Path, user_id: str) -> int:
    """The number of a user's events."""
    async with open_sqlite(path, entities_of(DOMAINS)) as database:
        return await database.count(Query(entity=TRIGGER_EVENT, partitions=((user_id,),)))


def _parts(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    while some := list(islice(items, size)):
        yield some
