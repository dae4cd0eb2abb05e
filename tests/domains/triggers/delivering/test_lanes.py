"""How many requests an endpoint gets at once: as many as it can take, one after failures, none while it is left alone.

An ordered endpoint gets one delivery after the other, whatever fails, is replayed or waits.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from graph.domains.triggers.delivering.health import FAILURES_TO_OPEN
from graph.domains.triggers.delivering.worker import AT_ONCE, FEW_AT_ONCE
from graph.domains.triggers.endpoints import EndpointChanges
from graph.domains.triggers.model import Endpoint
from graph.store.entity import Item
from tests.domains.triggers.delivering.workshop import HOUR, MINUTE, SECOND, Workshop, a_workshop, running
from tests.domains.triggers.sending.receivers import OK, Reply, status
from tests.domains.watches.cuts import Intercepted


def is_first(body: Item) -> bool:
    return bool(body["data"]["n"] == 1)


async def test_a_request_that_hangs_delays_no_other_of_its_endpoint(shop: Workshop) -> None:
    endpoint = await shop.endpoint()
    worker = shop.worker(endpoint)
    await shop.some_events(200)
    with shop.hook.holding(is_first):
        working = asyncio.create_task(worker.run())
        await shop.hook.has(200)
        await shop.event(n=201)
        worker.woken.set()
        await shop.hook.has(201)
    await working

    assert sorted(shop.hook.sequences) == list(range(1, 202))
    assert await shop.is_at_rest(endpoint)


async def test_a_retry_that_becomes_due_is_sent_while_another_request_hangs() -> None:
    async with a_workshop(look_every_s=0.01) as shop:
        endpoint = await shop.endpoint()
        await shop.some_events(2)
        shop.hook.choose = lambda _: status(500) if shop.hook.sequences.count(2) == 1 else OK
        with shop.hook.holding(is_first):
            working = asyncio.create_task(shop.deliver())
            await shop.counted.are(1)
            shop.clock.now += 5 * SECOND
            await shop.hook.has(3)
        await working

        assert shop.hook.sequences[2] == 2
        assert await shop.is_at_rest(endpoint)


async def test_what_another_process_stores_is_sent_while_a_request_hangs(shop: Workshop) -> None:
    endpoint = await shop.endpoint()
    await shop.some_events(2)
    with shop.hook.holding(is_first):
        async with running(shop.deliverer()):
            await shop.counted.are(1)
            await shop.event(n=3)
            await shop.counted.are(2)
            await shop.replay(endpoint)
            await shop.counted.are(4)

    assert sorted(shop.hook.sequences) == [1, 2, 2, 3, 3]


async def test_an_endpoint_gets_few_requests_at_once_until_some_have_succeeded(shop: Workshop) -> None:
    endpoint = await shop.endpoint()
    await shop.some_events(5 * AT_ONCE)
    with shop.hook.holding():
        working = asyncio.create_task(shop.deliver())
        await shop.hook.has(FEW_AT_ONCE)
        assert len(shop.hook.requests) == FEW_AT_ONCE
    await working

    assert len(shop.hook.requests) == 5 * AT_ONCE
    assert await shop.is_at_rest(endpoint)


async def test_an_endpoint_that_fails_is_left_alone_tried_once_and_gets_many_at_once_when_it_does_well(
    shop: Workshop,
) -> None:
    endpoint = await shop.endpoint()
    await shop.some_events(5 * AT_ONCE)
    shop.hook.answer(status(500))
    await shop.deliver()
    assert FAILURES_TO_OPEN <= len(shop.hook.requests) <= AT_ONCE
    tried = len(shop.hook.requests)

    await shop.deliver_after(5 * SECOND - 1)
    assert len(shop.hook.requests) == tried
    await shop.deliver_after(1)
    assert len(shop.hook.requests) == tried + 1

    shop.hook.answer(OK)  # it recovers
    with shop.hook.holding(lambda _: len(shop.hook.requests) > tried + 1 + AT_ONCE):
        working = asyncio.create_task(shop.deliver_after(MINUTE))
        await shop.hook.has(tried + 1 + 2 * AT_ONCE)
        assert len(shop.hook.requests) == tried + 1 + 2 * AT_ONCE
    await working
    assert await shop.is_at_rest(endpoint)
    assert len(shop.hook.requests) == 5 * AT_ONCE + tried + 1


T = TypeVar("T")


@pytest.fixture
async def endpoint(shop: Workshop) -> Endpoint:
    """An ordered endpoint."""
    return await shop.endpoint(ordered=True)


async def test_none_is_sent_before_the_one_before_is_answered(shop: Workshop, endpoint: Endpoint) -> None:
    await shop.some_events(3)
    worker = shop.worker(endpoint)

    def only_one(body: Item) -> Reply:
        async def answer(reader: object, writer: object) -> None:
            waiting = [each.sequence for each in await shop.of_endpoint(endpoint) if each.item["state"] == "waiting"]
            assert waiting == list(range(body["sequence"], 4))
            worker.woken.set()  # which starts no further lane
            await OK(reader, writer)  # type: ignore[arg-type]

        return answer

    shop.hook.choose = only_one
    await worker.run()

    assert shop.hook.sequences == [1, 2, 3]


async def test_none_is_sent_before_the_one_before_has_ended(shop: Workshop, endpoint: Endpoint) -> None:
    failing = {2: 3, 4: 5, 5: 1}  # sequence → attempts that fail; the fourth fails for good
    await shop.some_events(6)

    def choose(body: Item) -> Reply:
        failed = shop.hook.sequences.count(body["sequence"])
        return status(500) if failed <= failing.get(body["sequence"], 0) else OK

    shop.hook.choose = choose
    await shop.deliver()
    while (wait := await shop.due_in(endpoint)) is not None:
        await shop.deliver_after(wait - 1)
        await shop.deliver_after(1)

    assert shop.hook.sequences == [1, *[2] * 4, 3, *[4] * 4, 5, 5, 6]
    assert await shop.states(endpoint) == [*["delivered"] * 3, "failed", *["delivered"] * 2]
    assert await shop.is_at_rest(endpoint)


async def test_deliveries_arrive_in_order_and_replayed_ones_before_later_ones(any_shop: Workshop) -> None:
    shop = any_shop
    endpoint = await shop.endpoint(ordered=True)
    await shop.some_events(70)  # more than one reading, and more than one transaction of DynamoDB
    await shop.deliver()
    assert shop.hook.sequences == list(range(1, 71))
    del shop.hook.requests[:]

    assert await shop.replay(endpoint) == 70
    await shop.event()
    shop.hook.choose = lambda body: status(500) if shop.hook.sequences.count(7) == 1 else OK
    await shop.deliver()
    assert shop.hook.sequences == list(range(1, 8))
    await shop.deliver_after(5 * SECOND)

    assert shop.hook.sequences == [*range(1, 8), *range(7, 72)]
    assert await shop.is_at_rest(endpoint)


async def test_an_endpoint_that_becomes_ordered_gets_first_what_is_retried_and_once_it_is_not_the_others_beside_it(
    shop: Workshop,
) -> None:
    endpoint = await shop.endpoint()

    async def change(*, ordered: bool) -> None:
        await shop.endpoints.update(endpoint.user_id, endpoint.endpoint_id, EndpointChanges(ordered=ordered))
        await shop.event()
        shop.hook.answer(OK)

    await shop.some_events(4)
    shop.hook.choose = lambda body: status(500) if body["sequence"] in (2, 3) else OK
    await shop.deliver()
    await change(ordered=True)
    await shop.deliver_after(5 * SECOND - 1)
    assert sorted(shop.hook.sequences) == [1, 2, 3, 4]
    await shop.deliver_after(1)
    assert shop.hook.sequences[4:] == [2, 3, 5]
    assert await shop.is_at_rest(endpoint)

    await shop.some_events(3)
    shop.hook.answer(status(500))
    await shop.deliver()
    await change(ordered=False)
    await shop.deliver()
    assert sorted(shop.hook.sequences[7:]) == [6, 7, 8, 9]
    await shop.deliver_after(HOUR)
    assert shop.hook.sequences[11:] == [6]
    assert await shop.is_at_rest(endpoint)


async def test_a_replay_of_several_transactions_begins_with_the_oldest() -> None:
    class DeliveringMeanwhile(Intercepted):
        """Whatever a transaction of the replay has stored is delivered before the next one."""

        is_replaying = False

        async def around(self, method: str, asked: Any, call: Callable[[], Awaitable[T]]) -> T:
            answer = await call()
            if method == "transact" and self.is_replaying:
                self.is_replaying = False
                await shop.deliver()
                self.is_replaying = True
            return answer

    async with a_workshop(wrap=DeliveringMeanwhile) as shop:
        database = shop.database
        assert isinstance(database, DeliveringMeanwhile)
        database.transaction_limit = 21  # ten deliveries with their events
        endpoint = await shop.endpoint(ordered=True)
        await shop.some_events(30)
        await shop.deliver()
        database.is_replaying = True
        assert await shop.replay(endpoint) == 30

    assert shop.hook.sequences == [*range(1, 31), *range(1, 31)]
