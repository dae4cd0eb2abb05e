"""Deliveries to test with: a store, a receiver, and a clock that a test moves.

async with a_workshop(engine) as shop:
    endpoint = await shop.endpoint()
    await shop.event()
    await shop.deliver()
    assert shop.hook.sequences == [1]
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from graph.domains.triggers.deliveries import DeliverySelection
from graph.domains.triggers.delivering.deliverer import Deliverer, slots_beside
from graph.domains.triggers.delivering.disabling import disable
from graph.domains.triggers.delivering.due import DueDeliveries
from graph.domains.triggers.delivering.recent import RecentRetries
from graph.domains.triggers.delivering.retry_policy import DeliveryRetryPolicy
from graph.domains.triggers.delivering.worker import Delivering, EndpointWorker
from graph.domains.triggers.entities import ATTEMPT, DUE_INDEX, ENTITIES, QUEUE
from graph.domains.triggers.event_types import TEST, payload_of_test
from graph.domains.triggers.model import Attempt, DeliveryState, Endpoint, NewTriggerEvent, TriggerEvent
from graph.domains.triggers.queues import IDLE, SHARDS
from graph.domains.triggers.sending.sender import MessageSender
from graph.domains.triggers.statuses import TriggerEventStatus
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.query import Query
from tests.domains.triggers.in_store import ANNA, Triggers, held_clock, triggers_of
from tests.domains.triggers.sending.receivers import OK, Receiver, Reply, Request, receiving
from tests.processes import TIMEOUT_S
from tests.store.engines import empty_database
from tests.store.samples import HeldClock

WAITS_S = (5.0, 60.0, 300.0)  # before each attempt after the first; a test takes them whole
SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000  # milliseconds


@dataclass
class Hook:
    """A receiver that answers as a test says."""

    choose: Callable[[Item], Reply] = lambda _: OK  # the answer to a body
    receiver: Receiver = field(default_factory=lambda: Receiver(0))
    arrived: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        body = json.loads(self.requests[-1].body)
        async with self.arrived:
            self.arrived.notify_all()
        await self.choose(body)(reader, writer)

    @property
    def requests(self) -> list[Request]:
        return self.receiver.requests

    @property
    def bodies(self) -> list[Item]:
        return [json.loads(request.body) for request in self.requests]

    @property
    def sequences(self) -> list[int]:
        """The sequence numbers that arrived, in this order."""
        return [body["sequence"] for body in self.bodies]

    def answer(self, reply: Reply) -> None:
        """Answer all further requests so."""
        self.choose = lambda _: reply

    @contextmanager
    def holding(self, held: Callable[[Item], bool] = lambda _: True) -> Iterator[None]:
        """Answer no request with such a body within the `with`; all of them at its end."""
        end, before = asyncio.Event(), self.choose

        async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await end.wait()
            await OK(reader, writer)

        self.choose = lambda body: hang if held(body) else before(body)
        try:
            yield
        finally:
            self.choose = before
            end.set()

    async def has(self, requests: int) -> None:
        """Wait until so many requests have arrived."""
        async with asyncio.timeout(TIMEOUT_S), self.arrived:
            await self.arrived.wait_for(lambda: len(self.requests) >= requests)


@dataclass
class Counted:
    """The attempts whose results are stored, by outcome."""

    outcomes: Counter[str] = field(default_factory=Counter)
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, outcome: str) -> None:
        self.outcomes[outcome] += 1
        self._more.set()

    async def are(self, number: int) -> None:
        """Wait until they are so many."""
        async with asyncio.timeout(TIMEOUT_S):
            while self.outcomes.total() < number:
                self._more.clear()
                await self._more.wait()


@dataclass
class Workshop(Triggers):
    """One process's parts of the triggers, without the process."""

    hook: Hook
    shared: Delivering
    counted: Counted
    recent: RecentRetries = field(default_factory=RecentRetries)

    @property
    def url(self) -> str:
        return self.hook.receiver.url()

    def deliverer(self) -> Deliverer:
        """A deliverer of its own."""
        return Deliverer(self.shared)

    def worker(self, endpoint: Endpoint) -> EndpointWorker:
        """A worker for an endpoint."""
        return self._worker(endpoint.endpoint_id)

    def _worker(self, endpoint_id: str) -> EndpointWorker:
        return EndpointWorker(self.shared, DueDeliveries(self.database, self.recent, endpoint_id))

    async def event(self, user: str = ANNA, **payload: Any) -> TriggerEvent:
        """A new event."""
        (event,) = await self.create(NewTriggerEvent(user, "quake.felt", payload, {}))
        return event

    async def some_events(self, number: int, user: str = ANNA) -> list[TriggerEvent]:
        """New events, in the order of their sequence numbers."""
        return list(await asyncio.gather(*[self.event(user, n=n) for n in range(1, number + 1)]))

    async def test(self, endpoint: Endpoint) -> None:
        """Create a test of an endpoint."""
        payload = payload_of_test(endpoint.endpoint_id)
        await self.create(NewTriggerEvent(endpoint.user_id, TEST, payload, {}, endpoint_ids=(endpoint.endpoint_id,)))

    async def replay(self, endpoint: Endpoint, *states: DeliveryState) -> int:
        """Begin the deliveries in these states again; all that have ended, if none is given."""
        selection = DeliverySelection(states or None)
        replayed, _ = await self.deliveries.replay(endpoint.user_id, endpoint.endpoint_id, selection)
        return len(replayed)

    async def deliver(self) -> None:
        """Deliver all that is due at the moment at which the clock stands."""
        async with asyncio.timeout(TIMEOUT_S):
            while due := await self.due():
                await asyncio.gather(*[self._worker(each).run() for each in due])

    async def deliver_after(self, milliseconds: int) -> None:
        """Move the clock, and deliver."""
        self.clock.now += milliseconds
        await self.deliver()

    async def due(self) -> list[str]:
        """The ids of the endpoints whose queues are due."""
        shards, until = [(shard,) for shard in range(SHARDS)], (None, self.clock.now)
        found = await self.database.query(Query(entity=QUEUE, index=DUE_INDEX, partitions=shards, between=until))
        return [item["endpoint_id"] for item in found.items]

    async def has_queue(self, endpoint: Endpoint) -> bool:
        """Whether an endpoint still has a queue."""
        return await self.database.get(QUEUE.key_for(endpoint.endpoint_id)) is not None

    async def due_in(self, endpoint: Endpoint) -> int | None:
        """Milliseconds until an endpoint's queue is due; None for never."""
        due: int = (await self.queue(endpoint))["due"]
        return None if due == IDLE else due - self.clock.now

    async def is_at_rest(self, endpoint: Endpoint) -> bool:
        """Whether nothing of an endpoint waits, and its queue says so."""
        queue = await self.queue(endpoint)
        done = "waiting" not in await self.states(endpoint)
        return done and (queue["waiting"], queue["head"], queue["due"]) == (0, queue["sequence"] + 1, IDLE)

    async def states(self, endpoint: Endpoint) -> list[str]:
        """The states of an endpoint's deliveries in order."""
        return [each.state.value for each in await self.of_endpoint(endpoint)]

    async def attempts(self, endpoint: Endpoint) -> list[Attempt]:
        """The attempts of an endpoint's deliveries, each delivery's in order."""
        query = Query(entity=ATTEMPT, partitions=((endpoint.endpoint_id, endpoint.user_id),))
        return list(map(Attempt, (await self.database.query(query)).items))

    async def stored(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint as it is stored."""
        return await self.endpoints.one(endpoint.user_id, endpoint.endpoint_id)

    async def statuses(self, user: str = ANNA) -> list[TriggerEventStatus]:
        """The statuses of a user's events, oldest first."""
        return [event.status for event in await self.events(user)]


@asynccontextmanager
async def a_workshop(
    engine: str = "sqlite",
    *,
    clock: HeldClock | None = None,
    wrap: Callable[[Database], Database] = lambda database: database,
    **options: Any,
) -> AsyncIterator[Workshop]:
    """A workshop with an empty store and one receiver.

    Args:
        wrap: puts another database before the real one.
        options: see `a_workshop_on`.
    """
    clock, hook = clock or held_clock(), Hook()
    async with (
        receiving(hook) as hook.receiver,
        empty_database(engine, ENTITIES, clock=clock) as real,
        a_workshop_on(wrap(real), clock, hook, **options) as shop,
    ):
        yield shop


@asynccontextmanager
async def a_workshop_on(
    database: Database,
    clock: HeldClock,
    hook: Hook,
    *,
    waits_s: Sequence[float] = WAITS_S,
    look_every_s: float = 3600.0,
    connections: int = 0,
) -> AsyncIterator[Workshop]:
    """A workshop on a store that exists; several on one store are as several processes."""
    counted = Counted()
    async with (
        triggers_of(database, clock=clock) as ours,
        MessageSender(ours.resolver, clock=clock, timeout_s=TIMEOUT_S) as sender,
    ):
        shared = Delivering(
            database=database,
            sender=sender,
            results=ours.results,
            disable=partial(disable, ours.endpoints, ours.outbox),
            policy=DeliveryRetryPolicy(waits_s, lambda _, greatest: greatest),
            clock=clock,
            slots=slots_beside(connections),
            count=counted,
            look_every_s=look_every_s,
        )
        yield Workshop(**vars(ours), hook=hook, shared=shared, counted=counted)


@asynccontextmanager
async def running(deliverer: Deliverer) -> AsyncIterator[None]:
    """Run a deliverer within the `with`."""
    task = asyncio.create_task(deliverer.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
