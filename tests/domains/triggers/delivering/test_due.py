"""Which deliveries are read, in which order, and what an index that lags behind changes: when, and not whether."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.domains.triggers.delivering.due import AT_ONCE, LAG_MS, LONG_LAG_MS, DueDeliveries
from graph.domains.triggers.delivering.recent import LAG_MS as LONGEST_LAG_MS
from graph.domains.triggers.delivering.recent import RecentRetries
from graph.domains.triggers.entities import DELIVERY, ENTITIES
from graph.domains.triggers.model import Delivery, Endpoint
from graph.domains.triggers.queues import IDLE, new_queue
from graph.store.contract import Database, Put
from graph.store.entity import Item, Key
from tests.domains.earthquakes.watched_database import LaggingDatabase
from tests.domains.triggers.delivering.workshop import SECOND, Workshop, a_workshop, a_workshop_on
from tests.domains.triggers.sending.receivers import OK, status
from tests.domains.watches.cuts import Meanwhile
from tests.store.engines import empty_database

NOW = 4_000_000_000_000
ENDPOINT = "01930c5f-7a3e-7cc4-98a5-3f0d6d1c2b7e"
ENDED, FRESH = "ended", "fresh"

deliveries = st.lists(st.sampled_from([ENDED, FRESH]) | st.integers(NOW - 3, NOW + 3), max_size=2 * AT_ONCE + 10)
"""The state of each, by its sequence number: ended, never attempted, or when it is attempted again."""


def an_item(sequence: int, state: str | int) -> Item:
    """A delivery of the endpoint."""
    return {
        "endpoint_id": ENDPOINT,
        "user_id": "ada",
        "sequence": sequence,
        "event_id": str(uuid4()),
        "event_timestamp": "2100-03-02T12:00:00.000000Z",
        "event_type": "quake.felt",
        "state": "delivered" if state == ENDED else "waiting",
        "attempts": 0 if state == FRESH else 1,
        "first_attempt": 1,
        "created_at": NOW,
        "ttl": NOW // 1000 + 86_400,
        **({"due": state} if isinstance(state, int) else {}),
    }


@asynccontextmanager
async def stored(states: Sequence[str | int]) -> AsyncIterator[tuple[Database, DueDeliveries, int]]:
    """A store with such deliveries, what reads them, and how many of them wait."""
    async with empty_database("sqlite", ENTITIES, clock=lambda: NOW) as database:
        await database.put_many([Put(DELIVERY, an_item(n, state)) for n, state in enumerate(states, 1)])
        yield database, due_in(database), sum(state != ENDED for state in states)


def due_in(database: Database) -> DueDeliveries:
    """What reads the endpoint's deliveries, and has read none yet."""
    due = DueDeliveries(database, RecentRetries(), ENDPOINT)
    due.follow({**new_queue(ENDPOINT, "ada"), "head": 1})
    return due


async def read_all(due: DueDeliveries, *, whenever: bool = False) -> list[Delivery]:
    """All that is due, reading after reading."""
    found: list[Delivery] = []
    more = True
    while more:
        reading = await due.read(NOW, ordered=False, whenever=whenever)
        found += reading.deliveries
        more = reading.more
    return found


@given(deliveries)
async def test_each_delivery_that_is_due_is_read_once_and_fresh_ones_in_order(states: list[str | int]) -> None:
    times = [state for state in states if isinstance(state, int)]
    async with stored(states) as (database, due, waiting):
        found = [each.sequence for each in await read_all(due)]

        of_due = [n for n, state in enumerate(states, 1) if isinstance(state, int) and state <= NOW]
        fresh = [n for n, state in enumerate(states, 1) if state == FRESH]
        assert sorted(found) == sorted(of_due + fresh)
        assert [n for n in found if n in fresh] == fresh
        assert due.head == (fresh[0] if fresh else len(states) + 1 if states else 1)

        earliest = max(min(times), NOW + LAG_MS) if times else IDLE if not waiting else NOW + LAG_MS
        assert await due_in(database).next(NOW, waiting=waiting) == earliest
        of_a_deleted_endpoint = await read_all(due_in(database), whenever=True)
        assert len({each.sequence for each in of_a_deleted_endpoint}) == waiting


@given(deliveries)
async def test_an_ordered_endpoint_has_the_first_that_waits_or_none(states: list[str | int]) -> None:
    async with stored(states) as (_, due, waiting):
        reading = await due.read(NOW, ordered=True)

        first = next((n for n, state in enumerate(states, 1) if state != ENDED), None)
        state = FRESH if first is None else states[first - 1]
        is_due = first is not None and (state == FRESH or int(state) <= NOW)
        assert [each.sequence for each in reading.deliveries] == ([first] if is_due else [])
        if not is_due and waiting:
            assert await due.next(NOW, waiting=waiting) == state


@given(deliveries, st.data())
async def test_what_was_not_attempted_is_behind_the_head_and_what_is_in_progress_is_not_read_twice(
    states: list[str | int], data: st.DataObject
) -> None:
    async with stored(states) as (database, due, _waiting):
        found = await read_all(due)
        fresh = {n for n, state in enumerate(states, 1) if state == FRESH}
        given_back = list[int]()
        while found:
            delivery = found.pop(data.draw(st.integers(0, len(found) - 1)))
            match data.draw(st.sampled_from(["end", "postpone", "give back", "in progress"])):
                case "end":
                    await database.put(Put(DELIVERY, an_item(delivery.sequence, ENDED)))
                    due.end(delivery)
                    fresh.discard(delivery.sequence)
                case "postpone":
                    await database.put(Put(DELIVERY, an_item(delivery.sequence, NOW + 9)))
                    due.postpone(delivery, NOW + 9, NOW)
                    fresh.discard(delivery.sequence)
                case "give back":
                    due.give_back([delivery])
                    given_back.append(delivery.sequence)
            assert due.head <= min(fresh, default=len(states) + 1)
        assert sorted(each.sequence for each in await read_all(due)) == sorted(given_back)


async def test_what_is_given_back_while_the_next_ones_are_read_is_read_again() -> None:
    async def give_back() -> None:
        due.give_back(second)

    def is_in_order(method: str, query: Any) -> bool:
        return method == "query" and query.index is None and bool(second)

    second: list[Delivery] = []
    async with stored([FRESH] * 2) as (database, _, _waiting):
        due = due_in(Meanwhile(database, give_back, is_in_order, after=True))
        first, *second = await read_all(due)
        due.give_back([first])
        assert [each.sequence for each in await read_all(due)] == [1]
        assert [each.sequence for each in await read_all(due)] == [2]


@asynccontextmanager
async def lagging_workshop() -> AsyncIterator[tuple[Workshop, LaggingDatabase]]:
    """A workshop whose index does not show what a test hides."""
    async with a_workshop(wrap=lambda real: LaggingDatabase(real, [])) as shop:
        assert isinstance(shop.database, LaggingDatabase)
        yield shop, shop.database


def key_of(endpoint: Endpoint, sequence: int = 1) -> Key:
    """What identifies a delivery."""
    return DELIVERY.key_for(endpoint.endpoint_id, endpoint.user_id, sequence)


Lagging = tuple[Workshop, LaggingDatabase, Endpoint]


@pytest.fixture
async def lagging() -> AsyncIterator[Lagging]:
    """Such a workshop, and an endpoint of which one delivery has failed, which the index does not show."""
    async with lagging_workshop() as (shop, database):
        endpoint = await shop.endpoint()
        await shop.event()
        shop.hook.answer(status(500))
        await shop.deliver()
        shop.hook.answer(OK)
        database.hidden = {key_of(endpoint)}
        yield shop, database, endpoint


async def test_a_retry_that_the_index_does_not_show_is_looked_for_when_it_is_due(lagging: Lagging) -> None:
    shop, database, endpoint = lagging
    await shop.event()  # so that a worker looks for what is next
    await shop.deliver()
    assert await shop.due_in(endpoint) == 5 * SECOND

    await shop.deliver_after(5 * SECOND)
    assert await shop.due_in(endpoint) == LAG_MS
    database.hidden.clear()
    await shop.deliver_after(LAG_MS)

    assert shop.hook.sequences == [1, 2, 1]
    assert await shop.is_at_rest(endpoint)


async def test_a_retry_of_another_process_or_a_replay_that_the_index_does_not_show_is_looked_for_until_it_is_found(
    lagging: Lagging,
) -> None:
    before, database, endpoint = lagging
    async with a_workshop_on(database, before.clock, before.hook) as shop:
        await shop.deliver_after(5 * SECOND)
        assert await shop.due_in(endpoint) == LAG_MS
        await shop.deliver_after(LONGEST_LAG_MS)
        assert await shop.due_in(endpoint) == LONG_LAG_MS
        database.hidden.clear()
        await shop.deliver_after(LONG_LAG_MS)
        assert shop.hook.sequences == [1, 1]
        assert await shop.is_at_rest(endpoint)

        await shop.replay(endpoint)
        database.hidden.add(key_of(endpoint))
        await shop.deliver()
        assert await shop.due_in(endpoint) == LAG_MS
        database.hidden.clear()
        await shop.deliver_after(LAG_MS)
        assert shop.hook.sequences == [1, 1, 1]
        assert await shop.is_at_rest(endpoint)


async def test_a_deleted_endpoint_keeps_its_queue_until_all_that_waited_is_found(lagging: Lagging) -> None:
    before, database, endpoint = lagging
    async with a_workshop_on(database, before.clock, before.hook) as shop:
        await shop.endpoints.delete(endpoint.user_id, endpoint.endpoint_id)
        await shop.deliver()
        assert await shop.has_queue(endpoint)
        database.hidden.clear()
        await shop.deliver_after(LAG_MS)

        assert not await shop.has_queue(endpoint)
        assert await shop.states(endpoint) == ["failed"]


async def test_an_ordered_endpoint_waits_for_a_retry_that_the_index_does_not_show() -> None:
    async with lagging_workshop() as (shop, database):
        hook = shop.hook
        endpoint = await shop.endpoint(ordered=True)
        await shop.some_events(3)
        database.hidden = {key_of(endpoint, number) for number in (1, 2, 3)}
        hook.choose = lambda _: status(500) if hook.sequences.count(2) == 1 else OK
        await shop.deliver()
        assert hook.sequences == [1, 2]
        async with a_workshop_on(database, shop.clock, hook) as other:  # after a crash
            await other.event()
            await other.deliver()
            assert hook.sequences == [1, 2]
            await other.deliver_after(5 * SECOND)

        assert hook.sequences == [1, 2, 2, 3, 4]
        assert await shop.is_at_rest(endpoint)


ONE, OTHER = "one", "other"


def test_the_earliest_retry_of_an_endpoint_is_known_until_any_index_shows_it() -> None:
    recent = RecentRetries()
    recent.add(ONE, 7, NOW + 900, NOW)
    recent.add(ONE, 8, NOW + 300, NOW + 10)
    recent.add(OTHER, 1, NOW + 1, NOW)

    assert [recent.earliest(each, NOW + 10) for each in (ONE, OTHER, "third")] == [NOW + 300, NOW + 1, None]
    assert recent.earliest(ONE, NOW + LONGEST_LAG_MS + 10) == NOW + 300
    assert recent.earliest(ONE, NOW + LONGEST_LAG_MS + 11) is None


def test_an_endpoint_that_is_never_asked_for_keeps_no_more_than_what_is_recent() -> None:
    recent = RecentRetries()
    for number in range(1000):
        recent.add(ONE, number, NOW + 3_600_000, NOW + number * LONGEST_LAG_MS // 10)

    assert len(recent._of_endpoints[ONE]) == 11


def test_what_is_not_found_may_be_due_to_an_index_for_a_while() -> None:
    recent = RecentRetries()

    assert recent.may_lag(ONE, NOW)
    assert recent.may_lag(ONE, NOW + LONGEST_LAG_MS - 1)
    assert recent.may_lag(OTHER, NOW + LONGEST_LAG_MS)
    assert not recent.may_lag(ONE, NOW + LONGEST_LAG_MS)
    recent.found(ONE)
    assert recent.may_lag(ONE, NOW + LONGEST_LAG_MS)
