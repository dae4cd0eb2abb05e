"""Each event arrives at least once, whatever interrupts its delivery: failures of the store, an end, another deliverer.

The receiver fails in many ways at first. What is sent twice has the same id and the same body, and at the end every
state is right.
"""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

import pytest

from graph.core.errors import DatabaseUnavailable
from graph.domains.triggers.entities import ENDPOINT, ENTITIES, TRIGGER_EVENT
from graph.domains.triggers.model import Endpoint
from graph.domains.triggers.statuses import TriggerEventStatus
from graph.store.contract import Action, Database, Update
from graph.store.entity import Item, Key
from graph.store.query import Page, Query
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.service_logs.builders import held_clock
from tests.domains.triggers.delivering.workshop import Hook, Workshop, a_workshop, a_workshop_on
from tests.domains.triggers.sending.receivers import OK, Reply, receiving, saying, status, then_close
from tests.effort import rounds
from tests.store.engines import empty_database

SEEDS = range(rounds(10, at_least=2))
EVENTS = 30
FAILURES = (
    *(status(500), status(404), status(302, "location: /"), status(429, "retry-after: 30")),
    *(status(503, "retry-after: Tue, 02 Mar 2100 12:00:20 GMT"), then_close(saying(b"")), saying(b"?\r\n\r\n")),
)


@dataclass
class Trouble:
    """A receiver that answers each delivery in some wrong way, at most twice."""

    chosen: random.Random
    arrived: Counter[int]

    def __call__(self, body: Item) -> Reply:
        self.arrived[body["data"]["n"]] += 1
        fails = self.arrived[body["data"]["n"]] <= 2 and self.chosen.random() < 0.5
        return self.chosen.choice(FAILURES) if fails else OK


class UnreliableDatabase(WatchedDatabase):
    """A real database that fails now and then, before or after it has done what it was asked for."""

    def __init__(self, database: Database, chosen: random.Random) -> None:
        super().__init__(database)
        self.chosen = chosen
        self.share = 0.0  # of the calls that fail

    def _fail(self) -> None:
        if self.chosen.random() < self.share / 2:
            raise DatabaseUnavailable("the network is down")

    async def get(self, key: Key, *, attributes: Collection[str] | None = None) -> Item | None:
        self._fail()
        return await super().get(key, attributes=attributes)

    async def get_many(self, keys: Collection[Key], *, attributes: Collection[str] | None = None) -> dict[Key, Item]:
        self._fail()
        return await super().get_many(keys, attributes=attributes)

    async def update(self, update: Update) -> bool:
        self._fail()
        updated = await super().update(update)
        self._fail()
        return updated

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        self._fail()
        refused = await super().transact(actions)
        self._fail()
        return refused

    async def query(self, query: Query) -> Page:
        self._fail()
        return await super().query(query)


async def assert_all_arrived(shop: Workshop, endpoint: Endpoint, events: int) -> None:
    """Everything arrived at least once, always the same, and its states are right."""
    bodies: defaultdict[int, set[bytes]] = defaultdict(set)
    ids: defaultdict[int, set[str]] = defaultdict(set)
    for request, body in zip(shop.hook.requests, shop.hook.bodies, strict=True):
        bodies[body["sequence"]].add(request.body)
        ids[body["sequence"]].add(request.headers["webhook-id"])
    assert sorted(bodies) == list(range(1, events + 1))
    assert {len(bodies[sequence]) + len(ids[sequence]) for sequence in bodies} == {2}
    assert len(set.union(*ids.values())) == events
    assert await shop.states(endpoint) == ["delivered"] * events
    assert await shop.statuses(endpoint.user_id) == [TriggerEventStatus.DELIVERED] * events
    assert await shop.is_at_rest(endpoint)
    if endpoint.ordered:
        assert shop.hook.sequences == sorted(shop.hook.sequences)
    attempts = Counter(attempt.item["sequence"] for attempt in await shop.attempts(endpoint))
    assert attempts == {each.sequence: each.attempt_count for each in await shop.of(endpoint)}
    assert {event.event_id: event.retry_count for event in await shop.in_inbox(endpoint.user_id)} == {
        each.event_id: each.attempt_count - 1 for each in await shop.of(endpoint)
    }


async def wait_for_next(shop: Workshop, endpoint: Endpoint) -> bool:
    """Move the clock to the time at which the endpoint is due. False if that is never."""
    if (wait := await shop.due_in(endpoint)) is None:
        return False
    shop.clock.now += max(wait, 0)
    return True


def share_after(failures: int) -> float:
    """The share of calls that fail: the first one in any case, then some, and at last none."""
    if failures == 0:
        return 2.0
    return 0.05 if failures < 20 else 0.0


@pytest.mark.repeated
@pytest.mark.parametrize("ordered", [False, True], ids=["unordered", "ordered"])
@pytest.mark.parametrize("seed", SEEDS)
async def test_failures_of_the_store_lose_nothing(engine: str, seed: int, ordered: bool) -> None:
    chosen, clock, hook = random.Random(seed), held_clock(), Hook()
    hook.choose = Trouble(chosen, Counter())
    async with receiving(hook) as hook.receiver, empty_database(engine, ENTITIES, clock=clock) as real:
        database = UnreliableDatabase(real, chosen)
        async with a_workshop_on(database, clock, hook) as shop:
            endpoint = await shop.endpoint(ordered=ordered)
            await shop.events(EVENTS)
            failures = 0
            while await wait_for_next(shop, endpoint):
                database.share = share_after(failures)
                worker = shop.worker(endpoint)
                try:
                    await worker.run()
                except DatabaseUnavailable:
                    failures += 1
                database.share = 0

            assert failures
            await assert_all_arrived(shop, endpoint, EVENTS)


@pytest.mark.repeated
@pytest.mark.parametrize("ordered", [False, True], ids=["unordered", "ordered"])
@pytest.mark.parametrize("seed", SEEDS)
async def test_a_deliverer_that_is_ended_loses_nothing(engine: str, seed: int, ordered: bool) -> None:
    chosen, clock, hook = random.Random(seed), held_clock(), Hook()
    trouble = hook.choose = Trouble(chosen, Counter())
    async with receiving(hook) as hook.receiver, empty_database(engine, ENTITIES, clock=clock) as database:
        ends = 0
        while True:
            async with a_workshop_on(database, clock, hook) as shop:
                if not ends:
                    endpoint = await shop.endpoint(ordered=ordered)
                    await shop.events(EVENTS)
                elif not await wait_for_next(shop, endpoint):
                    break
                ends += 1
                working = asyncio.create_task(shop.deliver())
                if ends < 20:
                    await asyncio.wait([working, asyncio.create_task(hook.has(len(hook.requests) + 1))], timeout=0.1)
                    for _ in range(chosen.randrange(40)):
                        await asyncio.sleep(0)
                    working.cancel()
                await asyncio.wait([working])

        assert ends > 2
        async with a_workshop_on(database, clock, hook) as shop:
            await assert_all_arrived(shop, endpoint, EVENTS)
        assert trouble.arrived.total() == len(hook.requests)


@pytest.mark.repeated
@pytest.mark.parametrize("seed", SEEDS)
async def test_deliverers_that_work_at_the_same_time_lose_nothing(engine: str, seed: int) -> None:
    chosen, clock, hook = random.Random(seed), held_clock(), Hook()
    hook.choose = Trouble(chosen, Counter())
    async with AsyncExitStack() as stack:
        hook.receiver = await stack.enter_async_context(receiving(hook))
        database = await stack.enter_async_context(empty_database(engine, ENTITIES, clock=clock))
        shops = [await stack.enter_async_context(a_workshop_on(database, clock, hook)) for _ in range(3)]
        shop = shops[0]
        endpoint = await shop.endpoint()
        await shop.events(EVENTS // 2)
        await asyncio.gather(shop.events(EVENTS - EVENTS // 2), *[each.deliver() for each in shops])
        while await wait_for_next(shop, endpoint):
            await asyncio.gather(*[each.deliver() for each in shops])

        bodies = {request.body for request in hook.requests}
        assert len(bodies) == EVENTS
        assert len({request.headers["webhook-id"] for request in hook.requests}) == EVENTS
        assert await shop.states(endpoint) == ["delivered"] * EVENTS
        assert await shop.statuses() == [TriggerEventStatus.DELIVERED] * EVENTS
        assert await shop.is_at_rest(endpoint)


async def test_what_was_sent_when_the_store_fails_is_stored_and_not_sent_again() -> None:
    class FailingOnce(WatchedDatabase):
        """It fails to read one event."""

        failing: Key | None = None

        async def get_many(
            self, keys: Collection[Key], *, attributes: Collection[str] | None = None
        ) -> dict[Key, Item]:
            if self.failing in keys:
                self.failing = None
                raise DatabaseUnavailable("the network is down")
            return await super().get_many(keys, attributes=attributes)

    async with a_workshop(wrap=FailingOnce) as shop:
        database = shop.database
        assert isinstance(database, FailingOnce)
        endpoint = await shop.endpoint()
        *_, last = await shop.events(3)
        database.failing = TRIGGER_EVENT.key_of(last.item)
        with shop.hook.holding():
            working = asyncio.create_task(shop.worker(endpoint).run())
            await shop.hook.has(2)
        with pytest.raises(DatabaseUnavailable):
            await working
        assert shop.counted.outcomes == {"delivered": 2}
        await shop.deliver()

        assert sorted(shop.hook.sequences) == [1, 2, 3]
        await assert_all_arrived(shop, endpoint, 3)


async def test_a_pause_that_ends_while_a_worker_looks_is_not_missed() -> None:
    class ResumedMeanwhile(WatchedDatabase):
        """The endpoint is resumed just after it was read."""

        resume: Callable[[], Awaitable[object]] | None = None

        async def get(self, key: Key, *, attributes: Collection[str] | None = None) -> Item | None:
            found = await super().get(key, attributes=attributes)
            if key.entity is ENDPOINT and (resume := self.resume):
                self.resume = None
                await resume()
            return found

    async with a_workshop(wrap=ResumedMeanwhile) as shop:
        database = shop.database
        assert isinstance(database, ResumedMeanwhile)
        endpoint = await shop.endpoint()
        await shop.endpoints.pause(endpoint.user_id, endpoint.endpoint_id)
        await shop.event()
        database.resume = partial(shop.endpoints.resume, endpoint.user_id, endpoint.endpoint_id)
        await shop.deliver()

        assert shop.hook.sequences == [1]
        assert await shop.is_at_rest(endpoint)
