"""Subscribers get each of their own selected events once, in the order of storing, from wherever they begin."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from graph.core.errors import InvalidCursor
from graph.domains.triggers.entities import INBOX
from graph.domains.triggers.inbox import EventSelection
from graph.domains.triggers.live import TriggerEventBroadcast
from graph.domains.triggers.model import TriggerEvent
from graph.feed.broadcast import SubscriberMessage
from tests.domains.triggers.in_store import ANNA, BEN, DAY_MS, Triggers, a_new_event, held_clock, triggers
from tests.processes import TIMEOUT_S

ALL = EventSelection()


@asynccontextmanager
async def broadcasting(ours: Triggers) -> AsyncIterator[TriggerEventBroadcast]:
    """A broadcast of what is stored, whose subscriptions all end before it does."""
    async with TriggerEventBroadcast(ours.database, ours.outbox.sequence) as broadcast:
        yield broadcast
        assert broadcast.subscriptions == 0


async def some(notices: AsyncIterator[SubscriberMessage[TriggerEvent]], number: int) -> list[int]:
    """The numbers of the next events, so many, of which none was dropped."""
    async with asyncio.timeout(TIMEOUT_S):
        taken = [await anext(notices) for _ in range(number)]
    assert [(notice.dropped, notice.record and notice.record.cursor) for notice in taken] == [
        (0, notice.cursor) for notice in taken
    ]
    return [notice.record.payload["n"] for notice in taken if notice.record]


async def create(ours: Triggers, *numbers: int, user_id: str = ANNA, event_type: str = "a") -> list[TriggerEvent]:
    return await ours.create(*[a_new_event(event_type, {"n": n}, user_id) for n in numbers])


async def test_only_ones_own_selected_events_are_sent_in_the_order_of_storing(engine: str) -> None:
    async with triggers(engine, stream=True) as ours:
        await create(ours, 0)
        async with (
            broadcasting(ours) as broadcast,
            aclosing(await broadcast.events(ANNA, EventSelection("a"))) as notices,
            aclosing(await broadcast.events(BEN, ALL)) as bens,
        ):
            first = asyncio.ensure_future(some(notices, 3))
            second = asyncio.ensure_future(some(bens, 2))
            await create(ours, 1)
            await create(ours, 2, user_id=BEN)
            await create(ours, 3, event_type="a.b")
            await asyncio.gather(*[create(ours, n, user_id=(ANNA, BEN)[n % 2]) for n in (4, 5, 6)])
            assert await first == [1, 4, 6]
            assert await second == [2, 5]


async def test_a_cursor_within_a_change_that_several_users_share_replays_the_rest_of_it(engine: str) -> None:
    async with triggers(engine, stream=True) as ours:
        waiting = [ours.outbox.create(a_new_event("a", {"n": n}, (ANNA, BEN)[n % 2])) for n in range(10)]
        created = [each.trigger_event for each in await asyncio.gather(*waiting)]
        assert len({event.item["change"] for event in created}) < 10
        for at in (0, 4):
            async with (
                broadcasting(ours) as broadcast,
                aclosing(await broadcast.events(ANNA, ALL, created[at].cursor)) as notices,
            ):
                begun = await some(notices, 2)
                await create(ours, at + 10)
                await create(ours, 42, user_id=BEN)
                rest = [*range(at + 2, 10, 2), *range(10, at + 11, 4)]
                assert begun + await some(notices, len(rest) - 2) == rest


async def test_a_cursor_of_another_user_or_of_nothing_is_refused_alike() -> None:
    clock = held_clock()
    async with triggers("sqlite", clock) as ours:
        (of_anna,) = await create(ours, 0)
        (of_ben,) = await create(ours, 1, user_id=BEN)
        nothing = INBOX.cursor_of({**of_ben.item, "event_id": of_anna.event_id})
        foreign = INBOX.cursor_of({**of_anna.item, "event_id": of_ben.event_id})
        messages = set()
        async with broadcasting(ours) as broadcast:
            for cursor in (of_anna.cursor, foreign, nothing, "x", ""):
                with pytest.raises(InvalidCursor) as refused:
                    await broadcast.events(BEN, ALL, cursor)
                messages.add(str(refused.value))
            assert len(messages) == 1

            clock.now += 30 * DAY_MS  # it has expired
            with pytest.raises(InvalidCursor):
                await broadcast.events(BEN, ALL, of_ben.cursor)
