"""An ordered endpoint gets one delivery after the other, whatever fails, is replayed or waits."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from graph.domains.triggers.endpoints import EndpointChanges
from graph.domains.triggers.model import Endpoint
from graph.store.entity import Item
from tests.domains.triggers.delivering.workshop import HOUR, SECOND, Workshop, a_workshop
from tests.domains.triggers.sending.receivers import OK, Reply, status
from tests.domains.watches.cuts import Intercepted

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
