"""The statuses of an event: the document's transitions and no others.

The stored status is always that of the model, whatever is stored at the same time.
"""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from graph.domains.triggers.deliveries import DeliverySelection
from graph.domains.triggers.entities import QUEUE
from graph.domains.triggers.inbox import EventSelection, advance
from graph.domains.triggers.model import Delivery, DeliveryState, Endpoint
from graph.domains.triggers.outbox import Created
from graph.domains.triggers.sending.answers import SendResult
from graph.domains.triggers.statuses import EventProgress, TriggerEventStatus
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.triggers.in_store import (
    ANNA,
    ATTEMPTS,
    ERROR,
    GONE,
    OK,
    Triggers,
    a_new_event,
    key_of,
    sequences,
    triggers,
)
from tests.effort import rounds

RECEIVED, DELIVERED, FAILED, RETRYING = (
    TriggerEventStatus.RECEIVED,
    TriggerEventStatus.DELIVERED,
    TriggerEventStatus.FAILED,
    TriggerEventStatus.RETRYING,
)

# Document 004, "Status Transitions".
DOCUMENTED = {(RECEIVED, DELIVERED), (RECEIVED, FAILED), (FAILED, RETRYING), (RETRYING, DELIVERED), (RETRYING, FAILED)}


def led_to(begin: TriggerEventStatus) -> set[TriggerEventStatus]:
    """The statuses that documented transitions lead to from one, and itself."""
    found = {begin}
    for _ in DOCUMENTED:
        found |= {to for status, to in DOCUMENTED if status in found}
    return found


@dataclass
class ModelEvent:
    """An event and its deliveries, each of which is waiting, delivered or failed."""

    deliveries: list[str]
    ever_failed: bool = False  # whether any attempt did, or any delivery was given up
    is_retrying: bool = False  # whether no attempt has ended since a repeated one began
    is_done: bool = False  # whether it was ever delivered to all, or acknowledged
    retries: int = 0
    attempts: list[int] = field(init=False)  # of each delivery

    def __post_init__(self) -> None:
        self.attempts = [0] * len(self.deliveries)

    @property
    def status(self) -> TriggerEventStatus:
        if self.is_done:
            return DELIVERED
        if self.is_retrying:
            return RETRYING
        return FAILED if self.ever_failed else RECEIVED

    @property
    def progress(self) -> EventProgress:
        of = self.deliveries.count
        return EventProgress(self.status, of("waiting"), of("failed"), self.retries)

    def at(self, state: str) -> list[int]:
        """The deliveries in a state."""
        return [at for at, each in enumerate(self.deliveries) if each == state]

    def begin(self, at: int) -> None:
        self.is_retrying |= self.attempts[at] > 0 and self.ever_failed

    def attempt(self, at: int) -> None:
        self.retries += self.attempts[at] > 0
        self.attempts[at] += 1
        self.is_retrying = False

    def postpone(self) -> None:
        self.ever_failed = True

    def end(self, at: int, state: str) -> None:
        self.deliveries[at] = state
        self.is_retrying = False
        self.ever_failed |= state == "failed"
        self.is_done |= set(self.deliveries) == {"delivered"}

    def replay(self, at: int) -> None:
        self.deliveries[at] = "waiting"

    def acknowledge(self) -> None:
        self.is_done = True


def steps(model: ModelEvent, progress: EventProgress) -> Iterator[tuple[ModelEvent, EventProgress]]:
    """All that may happen next."""
    for at, state in enumerate(model.deliveries):
        if state != "waiting":
            then = deepcopy(model)
            then.replay(at)
            yield then, progress.replayed(was_given_up=state == "failed")
            continue
        if model.attempts[at]:
            then = deepcopy(model)
            then.begin(at)
            yield then, progress.retrying()
        for attempted, ends in ((True, "delivered"), (True, ""), (True, "failed"), (False, "failed")):
            then, behind = deepcopy(model), progress
            if attempted:
                behind = progress.retried() if model.attempts[at] else progress
                then.attempt(at)
            if ends:
                then.end(at, ends)
                behind = behind.delivered() if ends == "delivered" else behind.given_up()
            else:
                then.postpone()
                behind = behind.postponed()
            yield then, behind
    then = deepcopy(model)
    then.acknowledge()
    yield then, progress.acknowledged()


def test_an_event_follows_the_documented_table_in_whatever_order_its_deliveries_end() -> None:
    for number in range(4):
        reached = [(ModelEvent(["waiting"] * number), EventProgress(RECEIVED, number, 0, 0))]
        for _ in range(5):
            further = {}
            for before in reached:
                for model, progress in steps(*before):
                    assert progress == model.progress
                    assert progress.status in led_to(before[1].status)
                    further[repr(model)] = model, progress
            reached = list(further.values())


TYPES = (None, ("order.completed",), ("order.completed", "order.refunded"))  # of three endpoints
WANTING = {"order.completed": (0, 1, 2), "order.refunded": (0, 2), "user.created": (0,)}
ANSWERS = (OK, ERROR, ERROR, GONE, None)  # None: it is given up without an attempt

chosen = st.lists(st.tuples(st.integers(0, 30), st.sampled_from(ANSWERS)), min_size=1, max_size=5)


class StoredEvents(RuleBasedStateMachine):
    """Events of one user with three endpoints, and all that changes their status."""

    engine: str

    def __init__(self) -> None:
        super().__init__()
        self.stack = AsyncExitStack()
        self.loop = asyncio.Runner()
        self.models: dict[str, ModelEvent] = {}  # by what identifies each event
        self.tries: dict[tuple[str, int], int] = {}  # of a delivery, since it was created or replayed

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run(work)

    @initialize()
    def begin(self) -> None:
        self.ours: Triggers = self.run(self.stack.enter_async_context(triggers(self.engine)))
        self.endpoints: list[Endpoint] = [self.run(self.ours.endpoint(types=types)) for types in TYPES]
        self.create(["order.completed"])

    @rule(types=st.lists(st.sampled_from(sorted(WANTING)), min_size=1, max_size=3))
    def create(self, types: list[str]) -> None:
        async def create() -> list[Created]:
            return await asyncio.gather(*[self.ours.outbox.create(a_new_event(each)) for each in types])

        for event_type, created in zip(types, self.run(create()), strict=True):
            self.models[key_of(created.trigger_event)] = ModelEvent(["waiting"] * len(WANTING[event_type]))

    def deliveries(self, state: str) -> list[tuple[str, int]]:
        """All deliveries in a state: their events, and their places in them."""
        return [(key, at) for key, model in self.models.items() for at in model.at(state)]

    async def stored(self, key: str, at: int) -> Delivery:
        (event,) = (await self.ours.inbox.by_key(ANNA, [key])).values()
        named = event.delivery_keys[at]
        return (await self.ours.deliveries.by_key(ANNA, [named]))[named]

    @rule(some=chosen, acknowledge=st.booleans())
    def attempt(self, some: list[tuple[int, SendResult | None]], acknowledge: bool) -> None:
        """Attempt some deliveries, and store what comes of it at the same time, perhaps with an acknowledgement."""
        if not (waiting := self.deliveries("waiting")):
            return
        attempted = {waiting[number % len(waiting)]: answer for number, answer in some}

        async def store() -> None:
            works = list[Coroutine[Any, Any, object]]()
            for (key, at), answer in attempted.items():
                delivery = await self.stored(key, at)
                works.append(self.ours.attempt(delivery, answer) if answer else self.ours.give_up(delivery))
            if acknowledge:
                works.append(self.ours.inbox.acknowledge(ANNA, list({key for key, _ in attempted})))
            await asyncio.gather(*works)

        self.run(store())
        for (key, at), answer in attempted.items():
            self.note(key, at, answer)
        if acknowledge:
            for key, _ in attempted:
                self.models[key].acknowledge()

    def note(self, key: str, at: int, answer: SendResult | None) -> None:
        """Note in the model what came of an attempt."""
        model = self.models[key]
        if answer is None:
            model.end(at, "failed")
            return
        self.tries[key, at] = self.tries.get((key, at), 0) + 1
        model.attempt(at)
        if answer is OK:
            model.end(at, "delivered")
        elif answer is GONE or self.tries[key, at] == ATTEMPTS:
            model.end(at, "failed")
        else:
            model.postpone()

    @rule(number=st.integers(0, 30), acknowledge=st.booleans())
    def begin_again(self, number: int, acknowledge: bool) -> None:
        """Begin another attempt, whose result is not stored yet, perhaps with an acknowledgement at the same time."""
        if not (waiting := [(key, at) for key, at in self.deliveries("waiting") if self.models[key].attempts[at]]):
            return
        key, at = waiting[number % len(waiting)]
        event = self.run(self.ours.inbox.by_key(ANNA, [key]))[key]

        async def store() -> None:
            works: list[Coroutine[Any, Any, object]] = [advance(self.ours.database, event, EventProgress.retrying)]
            if acknowledge:
                works.append(self.ours.inbox.acknowledge(ANNA, [key]))
            await asyncio.gather(*works)

        self.run(store())
        self.models[key].begin(at)
        if acknowledge:
            self.models[key].acknowledge()

    @rule(numbers=st.lists(st.integers(0, 30), min_size=1, max_size=3))
    def acknowledge(self, numbers: list[int]) -> None:
        keys = list({list(self.models)[number % len(self.models)] for number in numbers})
        done = {key: self.models[key].is_done for key in keys}
        assert self.run(self.ours.inbox.acknowledge(ANNA, keys)) == done
        for key in keys:
            self.models[key].acknowledge()

    @rule(at=st.integers(0, 2), states=st.sets(st.sampled_from(["delivered", "failed"])))
    def replay(self, at: int, states: set[str]) -> None:
        endpoint = self.endpoints[at]
        mine = [
            (key, place)
            for state in states
            for key, place in self.deliveries(state)
            if self.run(self.stored(key, place)).endpoint_id == endpoint.endpoint_id
        ]
        chosen = DeliverySelection(tuple(map(DeliveryState, sorted(states))))
        keys, more = self.run(self.ours.deliveries.replay(ANNA, endpoint.endpoint_id, chosen))
        assert (len(keys), more) == (len(mine), False)
        for key, place in mine:
            self.models[key].replay(place)
            self.tries[key, place] = 0

    @invariant()
    def every_event_is_as_the_model_says(self) -> None:
        if not self.models:
            return
        events = {key_of(event): event.progress for event in self.run(self.ours.events())}
        assert events == {key: model.progress for key, model in self.models.items()}
        for status in TriggerEventStatus:
            found = self.run(self.ours.page(EventSelection(statuses=(status,)), size=500))
            assert len(found) == sum(progress.status is status for progress in events.values())

    @invariant()
    def every_delivery_and_queue_is_as_the_model_says(self) -> None:
        if not self.models:
            return
        waiting = 0
        for endpoint in self.endpoints:
            deliveries = self.run(self.ours.of_endpoint(endpoint))
            assert sequences(deliveries) == list(range(1, len(deliveries) + 1))
            queue = self.run(self.ours.database.get(QUEUE.key_for(endpoint.endpoint_id)))
            of_endpoint = sum(each.state is DeliveryState.WAITING for each in deliveries)
            assert (queue["sequence"], queue["waiting"]) == (len(deliveries), of_endpoint)
            waiting += of_endpoint
        assert waiting == len(self.deliveries("waiting"))

    def teardown(self) -> None:
        self.run(self.stack.aclose())
        self.loop.close()


@pytest.mark.repeated
def test_a_stored_event_always_has_the_status_of_the_model(engine: str) -> None:
    machine = type("StoredEvents", (StoredEvents,), {"engine": engine})
    examples = settings(A_FEW, max_examples=rounds(8 if engine == "dynamodb" else 40), stateful_step_count=12)
    run_state_machine_as_test(machine, settings=examples)


async def test_changes_of_one_event_at_the_same_time_are_all_stored(engine: str) -> None:
    async with triggers(engine) as ours:
        endpoints = [await ours.endpoint() for _ in range(12)]
        (event,) = await ours.create(a_new_event())
        deliveries = [(await ours.of_endpoint(endpoint))[0] for endpoint in endpoints]

        acknowledging = ours.inbox.acknowledge(ANNA, [key_of(event)])
        await asyncio.gather(acknowledging, *[ours.attempt(each, OK) for each in deliveries])

        progress = (await ours.again(event)).progress
        assert (progress.status, progress.open) == (TriggerEventStatus.DELIVERED, 0)
        (event,) = await ours.create(a_new_event())
        answers = await asyncio.gather(*[ours.inbox.acknowledge(ANNA, [key_of(event)]) for _ in range(8)])
        assert sorted(already for answer in answers for already in answer.values()) == [False] + [True] * 7


async def test_a_result_of_a_delivery_that_has_changed_is_not_stored_and_its_neighbours_are(engine: str) -> None:
    async with triggers(engine) as ours:
        endpoint = await ours.endpoint()
        for number, answer in enumerate((OK, GONE, ERROR)):
            stale, fresh = await ours.numbered(2)
            of_stale, of_fresh = (await ours.of_endpoint(endpoint))[2 * number :]
            await ours.attempt(of_stale, OK)
            before = await ours.again(stale), (await ours.of_endpoint(endpoint))[2 * number]

            await asyncio.gather(ours.attempt(of_stale, answer), ours.attempt(of_fresh, OK))

            assert (await ours.again(stale), (await ours.of_endpoint(endpoint))[2 * number]) == before
            assert (await ours.again(fresh)).status is TriggerEventStatus.DELIVERED
        assert (await ours.queue(endpoint))["waiting"] == 0
