"""Each event arrives at least once, whatever interrupts its delivery: failures of the store, an end, another deliverer.

The receiver fails in many ways at first. What is sent twice has the same id and the same body, and at the end every
state is right.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import pytest

from graph.core.errors import DatabaseUnavailable
from graph.domains.triggers.delivering.health import Health
from graph.domains.triggers.delivering.outcomes import given_up
from graph.domains.triggers.delivering.results import Result
from graph.domains.triggers.entities import ATTEMPT, ENDPOINT, ENTITIES, TRIGGER_EVENT
from graph.domains.triggers.model import Delivery, Endpoint
from graph.domains.triggers.statuses import TriggerEventStatus
from graph.store.contract import Database, Put
from graph.store.values import InvalidItem
from tests.domains.triggers.delivering.arrivals import FAILURES, Trouble, assert_all_arrived
from tests.domains.triggers.delivering.workshop import SECOND, Hook, Workshop, a_workshop, a_workshop_on
from tests.domains.triggers.in_store import ANNA, held_clock
from tests.domains.triggers.sending.receivers import OK, receiving, status
from tests.domains.watches.cuts import Cut, Intercepted, Meanwhile, lose_connection
from tests.effort import rounds
from tests.store.engines import empty_database

T = TypeVar("T")

EVENTS = 20
LATER = (status(429, "retry-after: 30"), status(503, "retry-after: Tue, 02 Mar 2100 12:00:20 GMT"))


def seeds(engine: str) -> range:
    """Of the receiver's troubles, and of what interrupts: few on the slow engine."""
    return range(rounds(10 if engine == "sqlite" else 5, at_least=1))


Several = Callable[[int], Awaitable[list[Workshop]]]


@asynccontextmanager
async def troubled(
    engine: str, chosen: random.Random, wrap: Callable[[Database], Database] = lambda database: database
) -> AsyncIterator[Several]:
    """A store, and a receiver in trouble. Yields what makes workshops there, as of several processes."""
    clock, hook = held_clock(), Hook()
    hook.choose = Trouble(chosen, 0.5, 2, (*FAILURES, *LATER))
    async with (
        receiving(hook) as hook.receiver,
        empty_database(engine, ENTITIES, clock=clock) as database,
        AsyncExitStack() as stack,
    ):

        async def workshops(number: int) -> list[Workshop]:
            making = [a_workshop_on(wrap(database), clock, hook) for _ in range(number)]
            return [await stack.enter_async_context(each) for each in making]

        yield workshops


async def wait_for_next(shop: Workshop, endpoint: Endpoint) -> bool:
    """Move the clock to the time at which the endpoint is due. False if that is never."""
    if (wait := await shop.due_in(endpoint)) is None:
        return False
    shop.clock.now += max(wait, 0)
    return True


ORDERED = pytest.mark.parametrize("ordered", [False, True], ids=["unordered", "ordered"])


@pytest.mark.repeated
@ORDERED
async def test_failures_of_the_store_lose_nothing(engine: str, ordered: bool) -> None:
    for chosen in map(random.Random, seeds(engine)):
        async with troubled(engine, chosen, partial(Cut, way="refused")) as workshops:
            (shop,) = await workshops(1)
            database = shop.database
            assert isinstance(database, Cut)
            endpoint = await shop.endpoint(ordered=ordered)
            await shop.some_events(EVENTS)
            failures = 0
            while await wait_for_next(shop, endpoint):
                if failures < 20:
                    database.left = chosen.randrange(1, 25) if failures else 1
                    database.way = chosen.choice(("refused", "answer lost"))
                try:
                    await shop.worker(endpoint).run()
                except DatabaseUnavailable:
                    failures += 1
                database.left = 0

            assert failures
            await assert_all_arrived(shop, endpoint)
            assert not ordered or shop.hook.sequences == sorted(shop.hook.sequences)


@pytest.mark.repeated
@ORDERED
async def test_a_deliverer_that_is_ended_loses_nothing(engine: str, ordered: bool) -> None:
    for chosen in map(random.Random, seeds(engine)):
        async with troubled(engine, chosen) as workshops:
            (shop,) = await workshops(1)
            endpoint = await shop.endpoint(ordered=ordered)
            await shop.some_events(EVENTS)
            ends = 0
            while await wait_for_next(shop, endpoint):
                ends += 1
                (shop,) = await workshops(1)  # of another process
                working = asyncio.create_task(shop.deliver())
                if ends < 20:
                    arriving = asyncio.create_task(shop.hook.has(len(shop.hook.requests) + 1))
                    await asyncio.wait([working, arriving], return_when=asyncio.FIRST_COMPLETED)
                    arriving.cancel()
                    for _ in range(chosen.randrange(40)):
                        await asyncio.sleep(0)
                    working.cancel()
                await asyncio.wait([working])

            assert ends > 2
            await assert_all_arrived(shop, endpoint)
            assert not ordered or shop.hook.sequences == sorted(shop.hook.sequences)


@pytest.mark.repeated
async def test_deliverers_that_work_at_the_same_time_lose_nothing(engine: str) -> None:
    for chosen in map(random.Random, seeds(engine)):
        async with troubled(engine, chosen) as workshops:
            shops = await workshops(3)
            endpoint = await shops[0].endpoint()
            await shops[0].some_events(EVENTS // 2)
            await asyncio.gather(shops[0].some_events(EVENTS // 2), *[each.deliver() for each in shops])
            while await wait_for_next(shops[0], endpoint):
                await asyncio.gather(*[each.deliver() for each in shops])

            await assert_all_arrived(shops[0], endpoint)


async def test_what_was_sent_when_the_store_fails_is_stored_and_not_sent_again() -> None:
    def is_of_last(method: str, asked: Any) -> bool:
        return bool(method == "get_many" and events and TRIGGER_EVENT.key_of(events[-1].item) in asked)

    events = []
    async with a_workshop(wrap=lambda real: Meanwhile(real, lose_connection, is_of_last)) as shop:
        endpoint = await shop.endpoint()
        events += await shop.some_events(3)
        with shop.hook.holding():
            working = asyncio.create_task(shop.worker(endpoint).run())
            await shop.hook.has(2)
        with pytest.raises(DatabaseUnavailable):
            await working
        assert shop.counted.outcomes == {"delivered": 2}
        await shop.deliver()

        assert sorted(shop.hook.sequences) == [1, 2, 3]
        await assert_all_arrived(shop, endpoint)


async def test_a_delivery_is_not_attempted_twice_at_once_however_soon_it_is_due_again() -> None:
    """The second attempt begins before the process knows that the result of the first is stored."""

    class Slow(Intercepted):
        async def around(self, method: str, asked: Any, call: Callable[[], Awaitable[T]]) -> T:
            answer = await call()
            puts = [each for each in asked if isinstance(each, Put)] if method == "transact" else []
            if any(each.entity is ATTEMPT and each.item["sequence"] == 1 for each in puts):
                shop.clock.now += 1  # so that it is due
                worker.woken.set()
                await shop.hook.has(2)
            return answer

    async with a_workshop(wrap=Slow, waits_s=(0.0, 60.0)) as shop:
        endpoint = await shop.endpoint()
        worker = shop.worker(endpoint)
        await shop.event()
        shop.hook.choose = lambda _: status(500) if len(shop.hook.requests) == 1 else OK
        with shop.hook.holding(lambda body: len(shop.hook.requests) > 1):
            working = asyncio.create_task(worker.run())
            await shop.counted.are(1)
            await shop.event()
            worker.woken.set()
            await shop.hook.has(3)
        await working

        assert sorted(shop.hook.sequences) == [1, 1, 2]
        await assert_all_arrived(shop, endpoint)


async def test_an_event_whose_attempt_was_cut_off_is_retrying_until_the_next_one_ends(engine: str) -> None:
    async with troubled(engine, random.Random(0)) as workshops:
        ended, other = await workshops(2)
        endpoint = await ended.endpoint()
        ended.hook.answer(status(500))
        await ended.event()
        await ended.deliver()
        ended.hook.answer(OK)
        with ended.hook.holding():
            working = asyncio.create_task(ended.deliver_after(5 * SECOND))
            await ended.hook.has(2)
            working.cancel()
            await asyncio.wait([working])
        assert await other.statuses() == [TriggerEventStatus.RETRYING]

        await other.deliver()

        assert len(other.hook.requests) == 3
        await assert_all_arrived(other, endpoint)


async def test_a_result_that_cannot_be_stored_fails_alone(shop: Workshop) -> None:
    def result(delivery: Delivery, **wrong: Any) -> Result:
        outcome = given_up(delivery, shop.clock())
        return Result(replace(outcome, after={**outcome.after, **wrong}), lambda: {"head": 1, **Health()._asdict()})

    endpoint = await shop.endpoint()
    await shop.some_events(4)
    good, twice, bad, other = await shop.of_endpoint(endpoint)
    results = [result(good), result(twice), result(twice), result(bad, attempts=1.5), result(other)]
    failures = await asyncio.gather(*map(shop.shared.results.write, results), return_exceptions=True)

    assert [type(each) for each in failures] == [*[type(None)] * 3, InvalidItem, type(None)]
    assert await shop.states(endpoint) == ["failed", "failed", "waiting", "failed"]
    assert (await shop.queue(endpoint))["waiting"] == 1


async def test_a_pause_that_ends_while_a_worker_looks_is_not_missed() -> None:
    async def resume() -> None:
        await shop.endpoints.resume(ANNA, endpoint.endpoint_id)

    def is_of_endpoint(method: str, asked: Any) -> bool:
        return bool(method == "get" and asked.entity is ENDPOINT and events)

    events = []
    async with a_workshop(wrap=lambda real: Meanwhile(real, resume, is_of_endpoint, after=True)) as shop:
        endpoint = await shop.endpoint()
        await shop.endpoints.pause(ANNA, endpoint.endpoint_id)
        events += await shop.some_events(1)
        await shop.deliver()

        assert shop.hook.sequences == [1]
        assert await shop.is_at_rest(endpoint)
