"""Deliveries: their pages, their attempts, and their replay."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.core.errors import BadUserInput, InvalidCursor, NotThere, QueryTooComplex
from graph.core.paging import Page, Paging
from graph.domains.triggers import deliveries
from graph.domains.triggers.deliveries import ATTEMPTS_SHOWN, DeliverySelection
from graph.domains.triggers.entities import ATTEMPT, DELIVERY, OF_ENDPOINT, QUEUE
from graph.domains.triggers.model import Delivery, DeliveryState, Endpoint, delivery_key
from graph.domains.triggers.sending.answers import Failure, SendResult
from graph.store.contract import Delete, Put
from graph.store.ordering import PageRequest
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.triggers.in_store import (
    ANNA,
    BEN,
    DAY_MS,
    GONE,
    NOON,
    OK,
    Triggers,
    a_new_event,
    held_clock,
    sequences,
    triggers,
)
from tests.effort import rounds
from tests.store.samples import HeldClock
from tests.work.accounts import an_account

WAITING, DELIVERED, FAILED = DeliveryState.WAITING, DeliveryState.DELIVERED, DeliveryState.FAILED
ALL = DeliverySelection()
NO_ID = "x" * 36


@dataclass(frozen=True)
class Ended:
    """An endpoint, whose deliveries have ended in turn as delivered, failed, or not at all, a second apart."""

    ours: Triggers
    clock: HeldClock
    endpoint: Endpoint

    async def page(self, selection: DeliverySelection, paging: Paging) -> Page[Delivery]:
        return await self.ours.deliveries.page(ANNA, self.endpoint.endpoint_id, selection, PageRequest(paging))

    async def replay(self, *states: DeliveryState, **others: Any) -> tuple[list[int], bool]:
        """The sequence numbers of what was begun again, and whether more are left."""
        chosen = DeliverySelection(states, **others)
        keys, more = await self.ours.deliveries.replay(ANNA, self.endpoint.endpoint_id, chosen)
        return [int(key.removeprefix(f"{self.endpoint.endpoint_id}#")) for key in keys], more

    async def waiting(self) -> list[int]:
        waiting = [each for each in await self.ours.of_endpoint(self.endpoint) if each.state is WAITING]
        assert (await self.ours.queue(self.endpoint))["waiting"] == len(waiting)
        return sequences(waiting)


NUMBER = 12
STATES = (DELIVERED, FAILED, WAITING)


@pytest.fixture
async def ended(engine: str) -> AsyncIterator[Ended]:
    clock = held_clock()
    async with triggers(engine, clock) as ours:
        endpoint = await ours.endpoint()
        await ours.endpoint(BEN)
        for _ in range(NUMBER):
            await ours.create(a_new_event(), a_new_event(user_id=BEN))
            clock.now += 1000
        for delivery in await ours.of_endpoint(endpoint):
            state = STATES[delivery.sequence % 3 - 1]
            if state is not WAITING:
                await ours.attempt(delivery, OK if state is DELIVERED else GONE)
        yield Ended(ours, clock, endpoint)


def state_of(sequence: int) -> DeliveryState:
    return STATES[sequence % 3 - 1]


numbers = st.none() | st.integers(0, NUMBER + 2)
milliseconds = st.none() | st.integers(-1, NUMBER + 1).map(lambda second: NOON + 1000 * second)


@settings(A_FEW, max_examples=rounds(60))
@given(
    states=st.none() | st.lists(st.sampled_from(STATES), max_size=3).map(tuple),
    times=st.tuples(milliseconds, milliseconds),
    size=st.integers(0, 5),
    backward=st.booleans(),
    after=numbers,
    before=numbers,
)
async def test_a_page_has_the_deliveries_of_any_filter_between_any_numbers(
    ended: Ended,
    states: tuple[DeliveryState, ...] | None,
    times: tuple[int | None, int | None],
    size: int,
    backward: bool,
    after: int | None,
    before: int | None,
) -> None:
    first, last = times
    if first is not None and last is not None and first > last:
        first, last = last, first
    selected = [
        number
        for number in range(1, NUMBER + 1)
        if (states is None or state_of(number) in states)
        and (first is None or NOON + 1000 * (number - 1) >= first)
        and (last is None or NOON + 1000 * (number - 1) <= last)
    ]
    window = [n for n in selected if (after is None or n > after) and (before is None or n < before)]

    positions = (None if number is None else {"sequence": number} for number in (after, before))
    page = await ended.page(DeliverySelection(states, first, last), Paging(size, backward, *positions))

    assert sequences(page.records) == (window[max(len(window) - size, 0) :] if backward else window[:size])


def test_a_number_that_no_delivery_can_have_is_no_cursor_and_a_range_does_not_end_before_it_begins() -> None:
    for number in (-1, 10**12):
        with pytest.raises(InvalidCursor):
            OF_ENDPOINT.place_of(OF_ENDPOINT.cursor_of({"sequence": number}), "after")
    with pytest.raises(BadUserInput):
        DeliverySelection(first_ms=1, last_ms=0)


async def test_deliveries_are_found_by_what_identifies_them_for_their_user_alone(ended: Ended) -> None:
    endpoint_id = ended.endpoint.endpoint_id
    good = delivery_key(endpoint_id, 3)
    bad = ["", "#", f"{endpoint_id}#", f"{endpoint_id}#0", f"{endpoint_id}#03", f"{endpoint_id}#٣", f"{endpoint_id}#-3"]
    more = [f"{endpoint_id}#{NUMBER + 1}", f"{endpoint_id}#{'9' * 13}", f"{NO_ID}#3", f"{endpoint_id}#3#{ANNA}", "x#3"]
    find = ended.ours.deliveries.by_key
    assert sequences(list((await find(ANNA, [good, *bad, *more])).values())) == [3]
    assert await find(BEN, [good, f"{good}#{ANNA}", f"{endpoint_id}#{ANNA}#3"]) == {}


async def test_reading_deliveries_costs_the_more_the_fewer_fit(ended: Ended) -> None:
    with an_account(most=20) as account:
        await ended.page(DeliverySelection((FAILED,)), Paging(5))
        assert account.spent == 20
    with an_account(most=19), pytest.raises(QueryTooComplex):
        await ended.page(DeliverySelection((FAILED,)), Paging(5))


async def test_a_cursor_of_another_events_deliveries_is_refused() -> None:
    async with triggers("sqlite") as ours:
        await ours.endpoint()
        (event,) = await ours.create(a_new_event())
        other = {"endpoint_id": NO_ID, "sequence": 1}
        for paging in (Paging(2, after=other), Paging(2, True, before=other)):
            with pytest.raises(InvalidCursor):
                await ours.deliveries.of_event(event, PageRequest(paging))


# Attempts


async def test_attempts_tell_what_was_answered_the_last_one_first(engine: str) -> None:
    clock = held_clock()
    async with triggers(engine, clock) as ours:
        endpoint = await ours.endpoint()
        await ours.numbered(2)
        other, delivery = await ours.of_endpoint(endpoint)
        await ours.attempt(other, OK)
        await ours.attempt(delivery, SendResult(latency_ms=15_000, error=Failure.TIMED_OUT))
        clock.now += 60_000
        (_, again) = await ours.of_endpoint(endpoint)
        assert again.next_attempt_at is not None
        await ours.attempt(again, SendResult(latency_ms=7, status=200, excerpt="thanks ü"))

        (_, done) = await ours.of_endpoint(endpoint)
        assert (done.state, done.attempt_count, done.next_attempt_at) == (DELIVERED, 2, None)
        second, first = await ours.deliveries.attempts(done)
        assert (first.number, first.status, first.failure, first.latency_ms, first.answer) == (
            *(1, None, Failure.TIMED_OUT),
            *(15_000, None),
        )
        assert (second.number, second.status, second.failure, second.answer) == (2, 200, None, "thanks ü")
        assert (second.started_at - first.started_at).total_seconds() == 60
        assert len(await ours.deliveries.attempts(other)) == 1
        many = [Put(ATTEMPT, {**second.item, "number": number}) for number in range(1, ATTEMPTS_SHOWN + 6)]
        await ours.database.put_many(many)
        shown = [attempt.number for attempt in await ours.deliveries.attempts(done)]
        assert shown == list(range(ATTEMPTS_SHOWN + 5, 5, -1))


# Replay


async def test_a_replay_begins_what_has_ended_in_these_states_again(ended: Ended) -> None:
    failed = [n for n in range(1, NUMBER + 1) if state_of(n) is FAILED]
    waiting = [n for n in range(1, NUMBER + 1) if state_of(n) is WAITING]
    before = await ended.ours.of_endpoint(ended.endpoint)

    assert await ended.replay(FAILED, WAITING) == (failed, False)

    assert await ended.waiting() == sorted(failed + waiting)
    again = {each.sequence: each for each in await ended.ours.of_endpoint(ended.endpoint)}
    for delivery in before:
        now = again[delivery.sequence]
        assert (now.webhook_id, now.attempt_count) == (delivery.webhook_id, delivery.attempt_count)
        if delivery.sequence in failed:
            assert (now.item["due"], now.item["first_attempt"], now.ended_at) == (ended.clock.now, 2, None)
        else:
            assert now == delivery
    assert (await ended.ours.queue(ended.endpoint))["due"] == ended.clock.now
    assert await ended.replay(FAILED) == ([], False)


async def test_a_replay_takes_those_created_in_a_range(ended: Ended) -> None:
    first, last = NOON + 1000 * 3, NOON + 1000 * 7  # of the numbers 4 to 8, of which 6 waits
    assert await ended.replay(DELIVERED, FAILED, first_ms=first, last_ms=last) == ([4, 5, 7, 8], False)
    assert await ended.waiting() == [3, 4, 5, 6, 7, 8, 9, 12]


async def test_a_replay_takes_at_most_a_thousand_the_newest_first_and_tells_of_the_rest(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert deliveries.MOST_REPLAYED == 1000
    monkeypatch.setattr(deliveries, "MOST_REPLAYED", most := 60)
    async with triggers(engine) as ours:
        endpoint = await ours.endpoint()
        await ours.numbered(1)
        (delivery,) = await ours.of_endpoint(endpoint)
        await ours.give_up(delivery)
        item = {**(await ours.of_endpoint(endpoint))[0].item, "event_id": NO_ID}  # its event has expired
        states = {n: FAILED if n % 7 else DELIVERED for n in range(2, most + 30)}
        await ours.database.put_many(
            [Put(DELIVERY, {**item, "sequence": n, "state": state.value}) for n, state in states.items()]
        )
        failed = [n for n, state in states.items() if state is FAILED]

        async def replay() -> tuple[int, bool]:
            keys, more = await ours.deliveries.replay(ANNA, endpoint.endpoint_id, DeliverySelection((FAILED,)))
            return len(keys), more

        assert await replay() == (most, True)
        waiting = [each for each in await ours.of_endpoint(endpoint) if each.state is WAITING]
        assert sequences(waiting) == failed[-most:]
        assert await replay() == (len(failed) - most + 1, False)
        assert await replay() == (0, False)


async def test_replays_at_the_same_time_begin_each_delivery_once_and_none_that_has_expired(ended: Ended) -> None:
    answers = await asyncio.gather(*[ended.replay(DELIVERED, FAILED, last_ms=NOON + 8500) for _ in range(4)])
    assert sum(len(replayed) for replayed, _ in answers) == 6
    assert await ended.waiting() == [*range(1, 10), 12]

    ended.clock.now = NOON + 30 * DAY_MS + 10_000  # all but the last one have expired
    assert sequences((await ended.page(ALL, Paging(3))).records) == [12]
    assert await ended.replay(DELIVERED, FAILED) == ([], False)


async def test_a_replay_for_an_endpoint_that_is_gone_finds_none(ended: Ended) -> None:
    await ended.ours.endpoints.delete(ANNA, ended.endpoint.endpoint_id)
    await ended.ours.database.delete(Delete(QUEUE.key_for(ended.endpoint.endpoint_id)))  # as a deliverer does
    before = await ended.ours.of_endpoint(ended.endpoint)
    with pytest.raises(NotThere):
        await ended.replay(FAILED)
    assert await ended.ours.of_endpoint(ended.endpoint) == before
    assert await ended.ours.database.get(QUEUE.key_for(ended.endpoint.endpoint_id)) is None
