"""Pages of the inbox equal what looking at every event finds, on either engine, for any filter and any cursors.

Subscribers get each of their own selected events once, in the order of storing, from wherever they begin.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strawberry.utils.await_maybe import await_maybe

from graph.core.errors import InvalidCursor, QueryTooComplex
from graph.core.paging import Page, Paging
from graph.domains.triggers.entities import EVENT_TYPE_INDEX, EVENTS, INBOX, STATUS_INDEX, TRIGGER_EVENT
from graph.domains.triggers.inbox import EventSelection, Inbox
from graph.domains.triggers.live import TriggerEventBroadcast
from graph.domains.triggers.model import TriggerEvent, timestamp_at
from graph.domains.triggers.statuses import TriggerEventStatus
from graph.feed.broadcast import SubscriberMessage
from graph.store.contract import Database, Put
from graph.store.entity import Item
from graph.store.ordering import PageRequest
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.triggers.in_store import ANNA, BEN, DAY_MS, NOON, Triggers, a_new_event, held_clock, key_of, triggers
from tests.effort import rounds
from tests.feed.notes import records, some
from tests.store.samples import HeldClock
from tests.work.accounts import an_account

T = TypeVar("T")

RECEIVED, DELIVERED, FAILED = (TriggerEventStatus[name] for name in ("RECEIVED", "DELIVERED", "FAILED"))
TTL = NOON // 1000 + 30 * 86_400
TYPES = ("user", "user.created", "user.created_late", "user.created.late", "user-created", "User.created")
TIMES = tuple(
    timestamp_at(1000 * NOON + microseconds)
    for microseconds in (-86_400_000_000, -1_000_001, -2, -1, 0, 1, 999, 1000, 86_400_000_000)
)
ENDS = ("Z", "+00:00", ".001Z", ".0000005Z", ".999999999+00:00")
OF_OTHERS = tuple(TIMES[4].replace(".000000Z", end) for end in ENDS)
"""Times within one second as other programs write them: Python without microseconds, JavaScript, Java."""


def an_item(number: int, time: str = TIMES[4], event_type: str = "user.created", **others: Any) -> Item:
    """A stored event, whose payload is its number."""
    given = {
        "user_id": ANNA,
        "event_id": str(UUID(int=number * 7919 % 1000, version=4)),
        "timestamp": time,
        "event_type": event_type,
        "payload": {"n": number},
        "status": TriggerEventStatus.RECEIVED.value,
        "ttl": TTL,
        "retry_count": 0,
        "deliveries": [],
        "open_deliveries": 0,
        "failed_deliveries": 0,
        "change": 1,
    }
    return {**given, **others}


async def put(database: Database, items: Iterable[Item]) -> None:
    await database.put_many([Put(TRIGGER_EVENT, item) for item in items])


kinds = st.tuples(
    st.sampled_from([*TIMES, *OF_OTHERS]),
    st.sampled_from(TYPES),
    st.sampled_from([status.value for status in TriggerEventStatus]),
    st.sampled_from([ANNA, ANNA, ANNA, BEN, "anna "]),
    st.sampled_from([TTL, TTL, TTL - 86_400]),
)
items = st.lists(kinds, max_size=25).map(
    lambda some: [
        an_item(number, time, event_type, status=status, user_id=user_id, ttl=ttl)
        for number, (time, event_type, status, user_id, ttl) in enumerate(some)
    ]
)


def _selection(
    types: tuple[str, ...] | None,
    statuses: tuple[TriggerEventStatus, ...] | None,
    bounds: tuple[str | None, str | None],
) -> EventSelection:
    first, last = bounds
    if first and last and first > last:
        first, last = last, first
    return EventSelection(types, statuses, first, last)


def some_of(values: st.SearchStrategy[T]) -> st.SearchStrategy[tuple[T, ...]]:
    """Mostly one of them, perhaps none or some, perhaps one twice."""
    return st.tuples(values) | st.lists(values, max_size=4).map(tuple)


times = st.none() | st.sampled_from([*TIMES, timestamp_at(0), timestamp_at(1000 * NOON + 500)])
selections = st.builds(
    _selection,
    st.none() | some_of(st.sampled_from([*TYPES, "user.create"])),
    st.none() | some_of(st.sampled_from(TriggerEventStatus)),
    st.tuples(times, times),
)


def selects(selection: EventSelection, event: TriggerEvent) -> bool:
    """Whether an event is selected, by the words of the filter's documentation."""
    first, last = (each and datetime.fromisoformat(each) for each in (selection.first, selection.last))
    return (
        (selection.types is None or event.event_type in selection.types)
        and (selection.statuses is None or event.status in selection.statuses)
        and (first or event.created_at) <= event.created_at <= (last or event.created_at)
    )


@asynccontextmanager
async def stored(engine: str, some: Sequence[Item], later_ms: int = 0) -> AsyncIterator[tuple[Triggers, HeldClock]]:
    """Events in tables of their own, some time after they were stored."""
    clock = held_clock()
    async with triggers(engine, clock) as ours:
        await put(ours.database, some)
        clock.now += later_ms
        yield ours, clock


async def page_of(ours: Triggers, selection: EventSelection, paging: Paging) -> Page[TriggerEvent]:
    return await ours.inbox.page(ANNA, selection, PageRequest(paging))


def place_of(event: TriggerEvent) -> Any:
    return INBOX.place_of(event.cursor, "after")


def place(event: TriggerEvent) -> tuple[str, str]:
    """What orders every list of events, whichever index it is read from."""
    return event.timestamp, event.event_id


@settings(A_FEW, max_examples=rounds(60))
@given(some=items, selection=selections, size=st.integers(0, 7), days=st.sampled_from([0, 0, 29, 30]), data=st.data())
async def test_a_page_is_the_one_that_relay_defines_for_any_filter_and_cursors(
    engine: str, some: list[Item], selection: EventSelection, size: int, days: int, data: st.DataObject
) -> None:
    async with stored(engine, some, days * DAY_MS) as (ours, _):
        events = await ours.events()
        order = sorted((event for event in events if selects(selection, event)), key=place, reverse=True)
        after, before = (data.draw(st.none() | st.sampled_from(events)) if events else None for _ in range(2))
        backward = data.draw(st.booleans())
        behind = [each for each in order if after is None or place(each) < place(after)]
        window = [each for each in behind if before is None or place(each) > place(before)]
        paging = Paging(size, backward, *(None if each is None else place_of(each) for each in (after, before)))
        found = await page_of(ours, selection, paging)

        expected = window[max(len(window) - size, 0) :] if backward else window[:size]
        assert list(found.records) == expected
        more = len(window) > size
        has_previous, has_next = await await_maybe(found.has_previous), await await_maybe(found.has_next)
        passed = [each for each in order if before is not None and place(each) <= place(before)]
        if backward:
            assert (has_previous, has_next) == (more, bool(passed))
        else:
            assert (has_previous, has_next) == (len(behind) < len(order), more)


@settings(A_FEW, max_examples=rounds(100))
@given(some=items, selection=selections)
def test_a_subscription_admits_what_a_query_would_find(some: list[Item], selection: EventSelection) -> None:
    events = list(map(TriggerEvent, some))
    assert list(map(selection.admits, some)) == [selects(selection, event) for event in events]


FILTERS = [
    (EventSelection(), EVENTS.primary),
    (EventSelection(first=TIMES[2], last=TIMES[-1]), EVENTS.primary),
    (EventSelection(("user.created",)), EVENT_TYPE_INDEX),
    (EventSelection(statuses=(FAILED,)), STATUS_INDEX),
    (EventSelection(("user.created",), (FAILED,)), STATUS_INDEX),
    (EventSelection(("user.created",), (DELIVERED,)), EVENT_TYPE_INDEX),
    (EventSelection(("user.created", "user"), (DELIVERED, FAILED)), EVENT_TYPE_INDEX),
    (EventSelection(("user.created", "user"), (RECEIVED, FAILED)), STATUS_INDEX),
]


async def test_each_value_of_a_filter_takes_one_query_of_the_index_that_fits(engine: str) -> None:
    some = [an_item(n, event_type=TYPES[n % 2], status=("failed", "delivered")[n % 3 == 0]) for n in range(60)]
    async with stored(engine, some) as (ours, _):
        for selection, index in FILTERS:
            watched = WatchedDatabase(ours.database)
            page = await Inbox(watched).page(ANNA, selection, PageRequest(Paging(5)))
            assert len(page.records) == 5
            values = {EVENT_TYPE_INDEX: selection.types, STATUS_INDEX: selection.statuses}.get(index) or ("all",)
            expected = [("query", index.name)] * len(values)
            assert [(call.method, call.index) for call in watched.calls] == expected, selection


@pytest.mark.parametrize("status", [RECEIVED, DELIVERED])
async def test_a_type_with_a_status_that_few_of_many_events_have_costs_what_it_reads(
    status: TriggerEventStatus,
) -> None:
    """A status other than delivered is read by its index, and delivered events by their type."""
    rare = an_item(0, TIMES[0], event_type="user", status=status.value)
    many = {"event_type": "user.created", "status": "received"}
    if status is TriggerEventStatus.DELIVERED:
        many = {"event_type": "user", "status": "received"}
    some = [an_item(0, timestamp_at(1000 * NOON + n), **many) for n in range(1, 1001)]
    async with stored("sqlite", [rare, *some]) as (ours, _):
        selection = EventSelection(("user",), (status,))
        with an_account(most=130) as account:
            assert await ours.page(selection, size=5) == [0]
        assert account.spent == 120  # 1,001 events, of which 200 at a time are read and 10 cost a point
        with an_account(most=100), pytest.raises(QueryTooComplex):
            await ours.page(selection, size=5)
        with an_account(most=20):
            assert await ours.page(EventSelection(("user",), (status,), last=TIMES[1]), size=5) == [0]


async def test_a_page_of_several_types_is_charged_for_a_page_of_each() -> None:
    some = [an_item(n, timestamp_at(1000 * NOON + n), TYPES[n % 3]) for n in range(90)]
    async with stored("sqlite", some) as (ours, _):
        with an_account(most=5) as account:
            assert await ours.page(EventSelection(TYPES[:3]), size=24) == list(range(89, 65, -1))
        assert account.spent == 5  # two further pages of 25 events, of which 10 cost a point
        with an_account(most=4), pytest.raises(QueryTooComplex):
            await ours.page(EventSelection(TYPES[:3]), size=24)


async def test_acknowledging_finds_only_what_the_user_has(engine: str) -> None:
    of_ben = an_item(1, user_id=BEN)
    garbage = ["", "#", "x", f"{TIMES[0]}#", f"#{'x' * 36}", f"{TIMES[0]}#{'x' * 35}\ud800", f"{'9' * 27}#{'x' * 36}"]
    async with stored(engine, [an_item(0), of_ben]) as (ours, _):
        mine, theirs = (key_of(TriggerEvent(item)) for item in (an_item(0), of_ben))
        assert await ours.inbox.acknowledge(ANNA, [mine, theirs, *garbage]) == {mine: False}
        assert await ours.inbox.acknowledge(ANNA, [mine]) == {mine: True}
        assert [event.status for event in await ours.events(BEN)] == [TriggerEventStatus.RECEIVED]


ALL = EventSelection()


@asynccontextmanager
async def broadcasting(ours: Triggers) -> AsyncIterator[TriggerEventBroadcast]:
    """A broadcast of what is stored, whose subscriptions all end before it does."""
    async with TriggerEventBroadcast(ours.database, ours.outbox.sequence) as broadcast:
        yield broadcast
        assert broadcast.subscriptions == 0


async def numbers(notices: AsyncIterator[SubscriberMessage[TriggerEvent]], count: int) -> list[int]:
    """The numbers of the next events, so many, of which none was dropped."""
    return [event.payload["n"] for event in records(await some(notices, count))]


async def create(ours: Triggers, *numbers: int, user_id: str = ANNA, event_type: str = "a") -> list[TriggerEvent]:
    return await ours.create(*[a_new_event(event_type, {"n": n}, user_id) for n in numbers])


async def test_only_ones_own_selected_events_are_sent_in_the_order_of_storing(engine: str) -> None:
    async with triggers(engine, stream=True) as ours:
        await create(ours, 0)
        async with (
            broadcasting(ours) as broadcast,
            aclosing(await broadcast.events(ANNA, EventSelection(("a",)))) as notices,
            aclosing(await broadcast.events(BEN, ALL)) as bens,
        ):
            first = asyncio.ensure_future(numbers(notices, 3))
            second = asyncio.ensure_future(numbers(bens, 2))
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
                begun = await numbers(notices, 2)
                await create(ours, at + 10)
                await create(ours, 42, user_id=BEN)
                rest = [*range(at + 2, 10, 2), *range(10, at + 11, 4)]
                assert begun + await numbers(notices, len(rest) - 2) == rest


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
