"""Triggers to test with: `async with triggers(engine) as ours`, `a_new_event("order.completed")`."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any

from graph.core.paging import Paging
from graph.domains.earthquakes.revisions.live import event_sequence
from graph.domains.triggers.deliveries import Deliveries
from graph.domains.triggers.delivering.health import Health
from graph.domains.triggers.delivering.outcomes import given_up, outcome_of
from graph.domains.triggers.delivering.results import Result, Results
from graph.domains.triggers.delivering.retry_policy import DeliveryRetryPolicy
from graph.domains.triggers.endpoints import EndpointChanges, Endpoints
from graph.domains.triggers.entities import DELIVERY, QUEUE, TRIGGER_EVENT
from graph.domains.triggers.inbox import EventSelection, Inbox
from graph.domains.triggers.model import Delivery, Endpoint, NewTriggerEvent, TriggerEvent, event_key
from graph.domains.triggers.outbox import Outbox
from graph.domains.triggers.sending.answers import SendResult
from graph.domains.triggers.sending.destinations import Destinations
from graph.domains.triggers.sending.resolver import Resolver
from graph.domains.watches.watches import Watches
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.ordering import PageRequest
from graph.store.query import Query
from tests.domains.entities import ENTITIES
from tests.domains.noon import NOON as NOON
from tests.domains.noon import held_clock as held_clock
from tests.store.engines import empty_database
from tests.store.samples import HeldClock

DAY_MS = 86_400_000
ANNA, BEN = "anna", "ben"
URL = "http://127.0.0.1:9/hook"  # nothing is sent there
LOOPBACK = Destinations((ip_network("127.0.0.0/8"),), http=True)
ATTEMPTS = 3  # of a delivery, before it is given up
POLICY = DeliveryRetryPolicy((60.0,) * (ATTEMPTS - 1), lambda least, greatest: greatest)

OK = SendResult(status=200, latency_ms=3)
ERROR = SendResult(status=500, latency_ms=3)
GONE = SendResult(status=410, latency_ms=3)


def a_new_event(
    event_type: str = "order.completed", payload: Mapping[str, Any] | None = None, user_id: str = ANNA, **others: Any
) -> NewTriggerEvent:
    """An event that breaks no rule; what is not given does not matter."""
    return NewTriggerEvent(user_id, event_type, {"order": 18} if payload is None else payload, {}, **others)


@dataclass
class Triggers:
    """The triggers of a database, as one process writes and reads them."""

    database: Database
    clock: HeldClock
    inbox: Inbox
    endpoints: Endpoints
    outbox: Outbox
    deliveries: Deliveries
    results: Results
    watches: Watches
    resolver: Resolver

    @property
    def url(self) -> str:
        """The address of endpoints."""
        return URL

    async def endpoint(self, user_id: str = ANNA, query: str = "", **changes: Any) -> Endpoint:
        """A new endpoint, whose address ends with `query`."""
        endpoint, _ = await self.endpoints.create(user_id, self.url + query, EndpointChanges(**changes))
        return endpoint

    async def create(self, *events: NewTriggerEvent) -> list[TriggerEvent]:
        """Create new events, one after the other."""
        created = [await self.outbox.create(event) for event in events]
        assert [each.duplicate for each in created] == [False] * len(events)
        return [each.trigger_event for each in created]

    async def numbered(self, number: int, **options: Any) -> list[TriggerEvent]:
        """So many new events, whose payloads are their numbers."""
        return await self.create(*[a_new_event(payload={"n": n}, **options) for n in range(number)])

    async def events(self, user_id: str = ANNA) -> list[TriggerEvent]:
        """All stored events of a user, oldest first."""
        query = Query(entity=TRIGGER_EVENT, partitions=((user_id,),))
        return list(map(TriggerEvent, (await self.database.query(query)).items))

    async def again(self, event: TriggerEvent) -> TriggerEvent:
        """An event as it is stored now."""
        (found,) = (await self.inbox.by_key(event.user_id, [key_of(event)])).values()
        return found

    async def of_endpoint(self, endpoint: Endpoint) -> list[Delivery]:
        """All stored deliveries of an endpoint, in order of their numbers."""
        query = Query(entity=DELIVERY, partitions=((endpoint.endpoint_id, endpoint.user_id),))
        return list(map(Delivery, (await self.database.query(query)).items))

    async def queue(self, endpoint: Endpoint) -> Item:
        """The stored queue of an endpoint."""
        item = await self.database.get(QUEUE.key_for(endpoint.endpoint_id))
        assert item is not None
        return item

    async def attempt(self, delivery: Delivery, answer: SendResult) -> None:
        """Store what an attempt came to."""
        now = self.clock()
        await self._write(Result(outcome_of(delivery, answer, POLICY, now, now), _doing_well))

    async def give_up(self, delivery: Delivery) -> None:
        """Give a delivery up without an attempt, as if its endpoint were gone."""
        await self._write(Result(given_up(delivery, self.clock()), _doing_well))

    async def _write(self, result: Result) -> None:
        await self.results.write(result)

    async def page(self, selection: EventSelection | None = None, user_id: str = ANNA, size: int = 10) -> list[Any]:
        """The first page of an inbox, as the numbers of its events."""
        request = PageRequest(Paging(size))
        found = await self.inbox.page(user_id, selection or EventSelection(), request)
        return [event.payload.get("n") for event in found.records]


def _doing_well() -> Item:
    return {"head": 1, **Health()._asdict()}


def key_of(event: TriggerEvent) -> str:
    """What identifies an event of its user."""
    return event_key(event.timestamp, event.event_id)


def sequences(deliveries: Sequence[Delivery]) -> list[int]:
    """The numbers of deliveries, in order."""
    return [delivery.sequence for delivery in deliveries]


@asynccontextmanager
async def triggers_of(
    database: Database, *, clock: HeldClock, most_endpoints: int = 20, most_watches: int = 20
) -> AsyncIterator[Triggers]:
    """The triggers of a database."""
    async with AsyncExitStack() as stack:
        resolver = Resolver(LOOPBACK)
        stack.push_async_callback(resolver.close)
        inbox = Inbox(database)
        endpoints = Endpoints(database, resolver, clock, most=most_endpoints)
        yield Triggers(
            database,
            clock,
            inbox,
            endpoints,
            Outbox(database, endpoints, clock),
            Deliveries(database, inbox, clock),
            Results(database),
            Watches(database, endpoints, event_sequence(database), clock, most=most_watches),
            resolver,
        )


@asynccontextmanager
async def triggers(
    engine: str, clock: HeldClock | None = None, *, stream: bool = False, **options: Any
) -> AsyncIterator[Triggers]:
    """The triggers of tables of their own, which are empty."""
    clock = clock or held_clock()
    async with (
        empty_database(engine, ENTITIES, clock=clock, stream=stream) as database,
        triggers_of(database, clock=clock, **options) as ours,
    ):
        yield ours
