"""How many requests an endpoint gets at once: as many as it can take, one after failures, none while it is left alone.

A lane is one request after the other. A receiver that hangs holds up one lane.
"""

import asyncio

from graph.domains.triggers.delivering.health import FAILURES_TO_OPEN
from graph.domains.triggers.delivering.worker import AT_ONCE, FEW_AT_ONCE
from graph.store.entity import Item
from tests.domains.triggers.delivering.workshop import MINUTE, SECOND, Workshop, a_workshop, running
from tests.domains.triggers.sending.receivers import OK, status


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
