"""Events are stored with their deliveries or not at all, once for each idempotency key, in an order without gaps."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph.domains.triggers.entities import ENDPOINT, EVENT_CHANGES, FEED_POSITION, QUEUE
from graph.domains.triggers.errors import IdempotencyKeyReused
from graph.domains.triggers.model import DeliveryState, TriggerEvent, delivery_key
from graph.domains.triggers.outbox import Created, Mark
from graph.domains.triggers.statuses import EventProgress, TriggerEventStatus
from graph.store.conditions import Absent, Condition, Present
from graph.store.contract import Database, Delete, Update
from graph.store.values import InvalidItem
from tests.domains.entities import connections, everything_in
from tests.domains.triggers.in_store import (
    ANNA,
    BEN,
    DAY_MS,
    NOON,
    Triggers,
    a_new_event,
    held_clock,
    key_of,
    sequences,
    triggers,
    triggers_of,
)
from tests.domains.watches.cuts import Meanwhile, Noted

REFUNDED = "order.refunded"


async def everything(database: Database) -> list[str]:
    return sorted(map(repr, await everything_in(database)))


async def is_consistent(ours: Triggers, user_id: str = ANNA) -> bool:
    """Whether events and deliveries name each other, and no number is left out or used twice."""
    events = await ours.events(user_id)
    endpoints = (await ours.endpoints.of_users([user_id]))[user_id]
    named = {name: key_of(event) for event in events for name in event.delivery_keys}
    stored: dict[str, str] = {}
    for endpoint in endpoints:
        deliveries = await ours.of_endpoint(endpoint)
        assert sequences(deliveries) == list(range(1, len(deliveries) + 1))
        queue = await ours.queue(endpoint)
        assert (queue["sequence"], queue["waiting"]) == (len(deliveries), len(deliveries))
        stored |= {delivery_key(each.endpoint_id, each.sequence): each.event_key for each in deliveries}
    changes = await ours.outbox.sequence.since(0, 10_000)
    assert [change.number for change in changes] == list(range(1, len(changes) + 1))
    by_number = {key: change.number for change in changes for key in change.keys}
    mine = [event for event in events if by_number[f"{user_id}\x1f{key_of(event)}"] == event.item[EVENT_CHANGES.number]]
    return named == stored and len(mine) == len(events)


def mark_if(condition: Condition) -> Mark:
    """A mark on a position, which keeps the number of stored events."""

    def mark(stored: int) -> Update:
        attributes = {"number": 1, "version": stored, "watch_id": ""}
        return Update(FEED_POSITION.key_for("test"), set=attributes, condition=condition)

    return mark


async def test_an_event_is_stored_with_a_delivery_for_each_endpoint_that_wants_it(engine: str) -> None:
    async with triggers(engine) as ours:
        everything = await ours.endpoint()
        orders = await ours.endpoint(types=["order.completed", "order"])
        refunds = await ours.endpoint(types=[REFUNDED])
        paused = await ours.endpoints.pause(ANNA, (await ours.endpoint()).endpoint_id)
        of_ben = await ours.endpoint(BEN)

        (event,) = await ours.create(a_new_event(payload={"order": 18, "ü": [None, 1.5]}))

        assert event == await ours.again(event)
        assert (event.user_id, event.event_type, event.payload) == (
            *(ANNA, "order.completed"),
            {"order": 18, "ü": [None, 1.5]},
        )
        assert (event.timestamp, event.item["ttl"]) == ("2100-03-02T12:00:00.000000Z", NOON // 1000 + 30 * 86_400)
        assert event.progress == EventProgress(TriggerEventStatus.RECEIVED, 3, 0, 0)
        wanting = {everything.endpoint_id, orders.endpoint_id, paused.endpoint_id}
        assert {key.partition("#")[0] for key in event.delivery_keys} == wanting
        for endpoint in (refunds, of_ben):
            assert await ours.of_endpoint(endpoint) == []
        (delivery,) = await ours.of_endpoint(orders)
        assert (delivery.sequence, delivery.state, delivery.attempt_count) == (1, DeliveryState.WAITING, 0)
        assert (delivery.webhook_id, delivery.expires_at) == (event.event_id, event.expires_at)
        assert (await ours.queue(orders))["due"] == NOON
        assert await is_consistent(ours)


async def test_an_event_for_named_endpoints_goes_to_these_of_its_user_whatever_they_want(engine: str) -> None:
    async with triggers(engine) as ours:
        wanted, disabled = await ours.endpoint(types=[REFUNDED]), await ours.endpoint()
        of_ben = await ours.endpoint(BEN)
        gone = Update(ENDPOINT.key_of(disabled.item), set={"state": "disabled", "reason": "GONE"})
        assert await ours.database.update(gone)
        ids = (wanted.endpoint_id, disabled.endpoint_id, of_ben.endpoint_id, "x" * 36)
        events = await ours.create(a_new_event(endpoint_ids=ids), a_new_event(endpoint_ids=()), a_new_event())
        assert [event.delivery_keys for event in events] == [[delivery_key(wanted.endpoint_id, 1)], [], []]
        await ours.endpoints.resume(ANNA, disabled.endpoint_id)
        assert len((await ours.create(a_new_event()))[0].delivery_keys) == 1


async def test_what_is_refused_leaves_nothing_behind(engine: str) -> None:
    async with triggers(engine) as ours:
        await ours.endpoint()
        await ours.numbered(2)
        before = await everything(ours.database)

        assert await ours.outbox.create_some([a_new_event()] * 3, mark_if(Present("number"))) == 0
        with pytest.raises(InvalidItem):
            await ours.outbox.create(a_new_event(payload={"text": "x" * 300_000}, idempotency_key="k"))
        assert await everything(ours.database) == before
        await ours.create(a_new_event(idempotency_key="k"))
        assert await is_consistent(ours)


async def test_many_that_create_at_the_same_time_or_while_the_clock_goes_back_leave_no_gap_and_no_time_twice(
    engine: str,
) -> None:
    async with triggers(engine) as ours:
        for types in (None, ["order.completed"], [REFUNDED]):
            await ours.endpoint(types=types)
        await ours.endpoint(BEN)
        events = [
            a_new_event(("order.completed", REFUNDED)[n % 2], {"n": n}, (ANNA, BEN)[n % 3 == 0]) for n in range(60)
        ]

        created = await asyncio.gather(*[ours.outbox.create(event) for event in events])

        assert [each.trigger_event.payload["n"] for each in created] == list(range(60))
        ours.clock.now -= DAY_MS
        events_later = await ours.numbered(2)
        ours.clock.now += DAY_MS + 1
        (last,) = await ours.numbered(1)
        stored = [*(each.trigger_event for each in created), *events_later, last]
        times = [event.timestamp[11:] for event in stored]
        assert times == [*(f"12:00:00.0000{n:02}Z" for n in range(62)), "12:00:00.001000Z"]
        assert await is_consistent(ours, ANNA)
        assert await is_consistent(ours, BEN)


async def test_several_processes_leave_no_gap_in_an_endpoints_numbers_and_make_one_event_of_one_key(
    engine: str, tmp_path: Path
) -> None:
    clock = held_clock()
    async with connections(engine, tmp_path, 3, clock) as databases, AsyncExitStack() as stack:
        processes = [await stack.enter_async_context(triggers_of(each, clock=clock)) for each in databases]
        first = processes[0]
        endpoints = [await first.endpoint(), await first.endpoint(types=["order.completed"])]
        same = a_new_event(idempotency_key="order 18")

        async def create(ours: Triggers) -> list[Created]:
            for _ in range(4):
                *_, found = await asyncio.gather(*[ours.outbox.create(each) for each in (a_new_event(), same, same)])
            return [found]

        created = [each for some in await asyncio.gather(*map(create, processes)) for each in some]

        assert [each.duplicate for each in created] == [True] * 3
        assert len({key_of(each.trigger_event) for each in created}) == 1
        for endpoint in endpoints:
            assert sequences(await first.of_endpoint(endpoint)) == list(range(1, 14))
        assert await is_consistent(first)


@pytest.mark.parametrize(
    ("number", "endpoints", "payload"), [(150, 1, {}), (20, 0, {"text": "x" * 262_000})], ids=["many", "large"]
)
async def test_what_one_transaction_does_not_take_is_stored_in_several(
    engine: str, number: int, endpoints: int, payload: dict[str, Any]
) -> None:
    async with triggers(engine) as tables:
        watched = Noted(tables.database)
        async with triggers_of(watched, clock=tables.clock) as ours:
            for _ in range(endpoints):
                await ours.endpoint()
            watched.noted.clear()
            await asyncio.gather(*[ours.outbox.create(a_new_event(payload=payload)) for _ in range(number)])
            sizes = [len(actions) for method, actions in watched.noted if method == "transact"]
            assert 1 < len(sizes) < 8
            assert max(sizes) <= watched.transaction_limit
        assert len(await tables.events()) == number
        assert await is_consistent(tables)


async def test_of_some_events_the_first_that_fit_one_transaction_are_stored_and_their_number_is_told(
    engine: str,
) -> None:
    async with triggers(engine, most_endpoints=40) as ours:
        events = [a_new_event(payload={"text": "x" * 200_000, "n": n}) for n in range(30)]
        stored = await ours.outbox.create_some(events, mark_if(Absent("number")))
        assert 0 < stored < 30
        position = await ours.database.get(FEED_POSITION.key_for("test"))
        assert position is not None
        assert position["version"] == stored
        assert [event.payload["n"] for event in await ours.events()] == list(range(stored))

        await asyncio.gather(*[ours.endpoint() for _ in range(40)])  # as many as a setting allows
        (event,) = await ours.create(a_new_event(idempotency_key="k"))
        assert len(event.delivery_keys) == 40
        assert await ours.outbox.create_some([a_new_event(idempotency_key="l")] * 2, mark_if(Present("number"))) == 1


async def test_an_event_that_is_created_again_with_its_key_is_the_same_one(engine: str) -> None:
    async with triggers(engine) as ours:
        endpoint = await ours.endpoint()
        event = a_new_event(payload={"a": 1, "b": {"c": 2, "d": 3}}, idempotency_key="order 18")
        again = a_new_event(payload={"b": {"d": 3, "c": 2}, "a": 1}, idempotency_key="order 18")
        (first,) = await ours.create(event)
        await ours.inbox.acknowledge(ANNA, [key_of(first)])

        assert await ours.outbox.create(again) == Created(found := await ours.again(first), duplicate=True)
        assert found.status is TriggerEventStatus.DELIVERED
        assert sequences(await ours.of_endpoint(endpoint)) == [1]

        for other in (a_new_event(payload={"a": 2}), a_new_event(REFUNDED, event.payload)):
            with pytest.raises(IdempotencyKeyReused) as refused:
                await ours.outbox.create(replace(other, idempotency_key="order 18"))
            assert refused.value.code == "IDEMPOTENCY_KEY_REUSED"
        assert await ours.events() == [found]
        await ours.create(a_new_event(REFUNDED, user_id=BEN, idempotency_key="order 18"))  # of another user


async def test_of_one_key_at_the_same_time_one_event_is_stored_and_another_payload_is_refused(engine: str) -> None:
    async with triggers(engine) as ours:
        await ours.endpoint()
        same = [a_new_event(idempotency_key="k")] * 5
        others = [a_new_event(payload={"n": n}) for n in range(5)]
        reused = a_new_event(REFUNDED, idempotency_key="k")

        *created, refused = await asyncio.gather(
            *[ours.outbox.create(event) for event in (*same, *others, reused)], return_exceptions=True
        )

        stored = [each for each in created if not isinstance(each, BaseException)]
        assert [each.duplicate for each in stored] == [False, *[True] * 4, *[False] * 5]
        assert len({key_of(each.trigger_event) for each in stored[:5]}) == 1
        assert isinstance(refused, IdempotencyKeyReused)
        assert len(await ours.events()) == 6
        assert await is_consistent(ours)


async def test_a_key_may_be_used_again_once_its_event_has_expired() -> None:
    clock = held_clock()
    async with triggers("sqlite", clock) as ours:
        (first,) = await ours.create(a_new_event(idempotency_key="k"))
        clock.now += 30 * DAY_MS - 1
        assert (await ours.outbox.create(a_new_event(idempotency_key="k"))).duplicate
        clock.now += 1
        (second,) = await ours.create(a_new_event(REFUNDED, idempotency_key="k"))
        assert [event.event_id for event in await ours.events()] == [second.event_id]
        assert second.event_id != first.event_id


async def created_while(tables: Triggers, happen: Callable[[], Awaitable[object]]) -> TriggerEvent:
    """An event that is created while something else happens."""
    async with triggers_of(Meanwhile(tables.database, happen), clock=tables.clock) as ours:
        (event,) = await ours.create(a_new_event())
        return event


async def test_an_endpoint_that_is_deleted_meanwhile_gets_nothing_once_its_queue_is_gone(engine: str) -> None:
    async with triggers(engine) as tables:
        gone, stays = await tables.endpoint(), await tables.endpoint()

        async def delete() -> None:
            await tables.endpoints.delete(ANNA, gone.endpoint_id)
            await tables.database.delete(Delete(QUEUE.key_for(gone.endpoint_id)))  # as a deliverer does

        event = await created_while(tables, delete)
        assert event.delivery_keys == [delivery_key(stays.endpoint_id, 1)]
        assert event.progress.open == 1
        assert await tables.of_endpoint(gone) == []
        assert await is_consistent(tables)


async def test_an_endpoint_that_is_deleted_meanwhile_leaves_what_a_deliverer_can_give_up(engine: str) -> None:
    async with triggers(engine) as tables:
        gone = await tables.endpoint()
        event = await created_while(tables, lambda: tables.endpoints.delete(ANNA, gone.endpoint_id))

        (delivery,) = await tables.of_endpoint(gone)
        assert event.delivery_keys == [delivery_key(gone.endpoint_id, 1)]
        queue = await tables.queue(gone)
        assert (queue["sequence"], queue["waiting"], queue["due"]) == (1, 1, NOON)
        await tables.give_up(delivery)
        assert (await tables.again(event)).status is TriggerEventStatus.FAILED
