"""Delivers the queue of one endpoint, until nothing of it is due.

    queue → deliveries that are due → requests, several at a time → results

Each lane of a worker attempts one delivery after the other. So a request that hangs holds up one lane, until its time
limit. A worker begins with few lanes, and opens more as requests succeed. An endpoint that fails is left alone for a
while. One that wants no deliveries is disabled. What waits for an endpoint that was deleted is given up. The endpoint
is read again for each attempt, so whatever its user changes takes effect at once.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from graph.core.clock import Clock
from graph.domains.triggers.deliveries import key_of_its_event
from graph.domains.triggers.delivering.due import DueDeliveries
from graph.domains.triggers.delivering.health import Health
from graph.domains.triggers.delivering.outcomes import DeliveryOutcome, body_of, given_up, outcome_of
from graph.domains.triggers.delivering.results import Result, Results
from graph.domains.triggers.delivering.retry_policy import DeliveryRetryPolicy, is_delivered, is_gone, retry_after_ms
from graph.domains.triggers.entities import ENDPOINT, QUEUE
from graph.domains.triggers.inbox import advance
from graph.domains.triggers.model import Delivery, Endpoint, EndpointDisabledReason, EndpointState, TriggerEvent
from graph.domains.triggers.queues import IDLE, PARKED, due_at
from graph.domains.triggers.sending.answers import SendResult
from graph.domains.triggers.sending.messages import Message
from graph.domains.triggers.sending.sender import MessageSender
from graph.domains.triggers.statuses import EventProgress
from graph.store.conditions import unchanged
from graph.store.contract import Database, Delete, Update
from graph.store.entity import Item
from graph.work.slots import Slots

AT_ONCE = 20  # requests to an endpoint that does well
FEW_AT_ONCE = 4  # to begin with, and after a failure: endpoints that hang should not take many slots of their user


@dataclass(frozen=True, slots=True)
class Delivering:
    """What the workers of a process share."""

    database: Database
    sender: MessageSender
    results: Results
    disable: Callable[[Endpoint, EndpointDisabledReason], Awaitable[object]]  # with the reason
    policy: DeliveryRetryPolicy
    clock: Clock
    slots: Slots  # requests to all endpoints, by user
    count: Callable[[str], None]  # counts an attempt by its outcome: `delivered`, `retried` or `failed`
    look_every_s: float = 1.0  # for attempts that became due, while others hang


class EndpointWorker:
    """Delivers to one endpoint."""

    def __init__(self, shared: Delivering, due: DueDeliveries) -> None:
        self.woken = asyncio.Event()  # set when there may be more to do
        self._shared = shared
        self._due = due
        self._queue: Item = {}  # as it was read last
        self._endpoint: Endpoint | None = None  # likewise; None if it was deleted
        self._health = Health()
        self._ready: deque[Delivery] = deque()
        self._in_progress = 0  # attempts
        self._room = FEW_AT_ONCE  # for attempts
        self._has_failed = False  # whether no further attempt begins
        self._is_drained = False  # whether the last reading found all that was due
        self._taking = asyncio.Lock()

    @property
    def calls(self) -> int:
        """How many of the queue's calls it has seen."""
        return int(self._queue.get("calls", 0))

    async def run(self) -> None:
        """Deliver until nothing is due, and note in the queue when something will be.

        Raises:
            DatabaseUnavailable: The queue stays due.
        """
        while await self._look():
            if (until := self._rests_until()) is None:
                if await self._deliver():
                    continue
                until = await self._due.next(self._shared.clock(), waiting=self._queue["waiting"])
            if await self._rest(until):
                return

    async def _look(self) -> bool:
        """Read the queue and the endpoint. False if there is no queue any more."""
        database = self._shared.database
        queue = await database.get(QUEUE.key_for(self._due.endpoint_id))
        if queue is None:
            return False
        self._queue = queue
        self._due.follow(queue)
        self._read_endpoint(await database.get(ENDPOINT.key_for(queue["user_id"], queue["endpoint_id"])))
        if not self._in_progress:
            self._health = Health.of(queue)
        return True

    def _read_endpoint(self, item: Item | None) -> Endpoint | None:
        """Note the endpoint as it was read."""
        self._endpoint = Endpoint(item) if item else None
        return self._endpoint

    def _rests_until(self) -> int | None:
        """When the endpoint may be sent to again, epoch milliseconds; None for now."""
        if self._endpoint is None:
            return None
        if self._endpoint.state is not EndpointState.ENABLED:
            return PARKED if self._queue["waiting"] else IDLE
        return self._health.open_until if self._health.is_open(self._shared.clock()) else None

    @property
    def _at_once(self) -> int:
        """The most attempts at a time."""
        is_ordered = self._endpoint is not None and self._endpoint.ordered
        return 1 if is_ordered or self._health.is_tried else self._room

    async def _deliver(self) -> bool:
        """Deliver what is due. False if nothing was."""
        lanes, attempts = set[asyncio.Task[int]](), 0
        self.woken.set()
        try:
            while lanes or self.woken.is_set():
                if self.woken.is_set():
                    self.woken.clear()
                    self._is_drained = False
                    lanes |= {asyncio.create_task(self._lane()) for _ in range(self._at_once - len(lanes))}
                ended = await self._first_of(lanes)
                lanes -= ended
                attempts += sum(await asyncio.gather(*ended))
        except Exception:
            self._has_failed = True
            await asyncio.gather(*lanes, return_exceptions=True)  # what was sent already should be stored, too
            raise
        finally:
            for lane in lanes:
                lane.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)
            self._due.give_back(self._ready)
            self._ready.clear()
        return attempts > 0

    async def _first_of(self, lanes: Collection[asyncio.Task[int]]) -> set[asyncio.Task[int]]:
        """Wait until a lane ends or there may be more to do. Returns the lanes that have ended."""
        waking = asyncio.create_task(self.woken.wait())
        try:
            await asyncio.wait((*lanes, waking), timeout=self._shared.look_every_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waking.cancel()
        ended = {lane for lane in lanes if lane.done()}
        if not ended:
            self.woken.set()
        return ended

    async def _lane(self) -> int:
        """Attempt one delivery after the other. Returns how many."""
        attempts = 0
        while delivery := await self._next():
            try:
                async with self._shared.slots.held(delivery.user_id):
                    outcome = await self._attempt(delivery)
                if outcome:
                    await self._store(outcome)
                    attempts += 1
                else:
                    self._due.give_back([delivery])
            finally:
                self._in_progress -= 1
        return attempts

    async def _next(self) -> Delivery | None:
        """The next delivery that is due, if one more may be attempted now."""
        async with self._taking:
            if self._has_failed or self._in_progress >= self._at_once or self._rests_until() is not None:
                return None
            if not self._ready and not self._is_drained:
                await self._read()
            if not self._ready:
                return None
            self._in_progress += 1
            return self._ready.popleft()

    async def _read(self) -> None:
        """Read what is due, if the endpoint may still be sent to."""
        self._is_drained = True
        if await self._look() and self._rests_until() is None:
            is_ordered = self._endpoint is not None and self._endpoint.ordered
            now, whenever = self._shared.clock(), self._endpoint is None
            reading = await self._due.read(now, ordered=is_ordered, whenever=whenever)
            self._ready.extend(reading.deliveries)
            self._is_drained = not reading.more

    async def _attempt(self, delivery: Delivery) -> DeliveryOutcome | None:
        """Send a delivery once, unless its endpoint was deleted or its event has expired. None while it has to wait."""
        shared, event_key = self._shared, key_of_its_event(delivery)
        endpoint_key = ENDPOINT.key_for(delivery.user_id, delivery.endpoint_id)
        found = await shared.database.get_many([event_key, endpoint_key])
        event, endpoint = found.get(event_key), self._read_endpoint(found.get(endpoint_key))
        began = shared.clock()
        if endpoint is None or event is None:
            return given_up(delivery, began)
        if endpoint.state is not EndpointState.ENABLED:
            return None
        if delivery.attempt_count:
            await advance(shared.database, TriggerEvent(event), EventProgress.retrying)
        body = body_of(TriggerEvent(event), delivery.sequence)
        answer = await shared.sender.send(Message(endpoint.url, delivery.webhook_id, body, endpoint.secrets(began)))
        now = shared.clock()
        self._note(answer, now)
        if is_gone(answer):
            await shared.disable(endpoint, EndpointDisabledReason.GONE)
        elif self._health.is_hopeless(now):
            await shared.disable(endpoint, EndpointDisabledReason.FAILING)
        return outcome_of(delivery, answer, shared.policy, began, now)

    def _note(self, answer: SendResult, now: int) -> None:
        """Note how the endpoint does."""
        if is_delivered(answer):
            if self._at_once < AT_ONCE and (self._ready or not self._is_drained):
                self.woken.set()  # so that more lanes begin
            self._room = min(2 * self._room, AT_ONCE)
            self._health = Health()
        else:
            self._room = FEW_AT_ONCE
            least_ms = round(1000 * self._shared.policy.waits_s[0])
            wait_ms = retry_after_ms(answer)
            self._health = self._health.after_failure(now, least_ms=least_ms, retry_after_ms=wait_ms)

    async def _store(self, outcome: DeliveryOutcome) -> None:
        """Store an outcome. Only then may the queue's head pass its delivery."""
        await self._shared.results.write(Result(outcome, self._state))
        self._shared.count(outcome.name)
        if outcome.due is None:
            self._due.end(outcome.before)
        else:
            self._due.postpone(outcome.before, outcome.due, self._shared.clock())

    def _state(self) -> Item:
        """What the queue is to say of the deliveries and of the endpoint."""
        return {"head": self._due.head, **self._health._asdict()}

    async def _rest(self, until: int) -> bool:
        """Note when there will be something to do. False if the queue has changed since it was read."""
        queue = self._queue
        key = QUEUE.key_of(queue)
        as_read = unchanged(queue, "calls", "waiting")
        if self._endpoint is None and until == IDLE:
            return await self._shared.database.delete(Delete(key, condition=as_read))
        state = {**self._state(), **due_at(self._due.endpoint_id, until)}
        if until == IDLE:
            state["waiting"] = 0  # less than before, if something expired
        return await self._shared.database.update(Update(key, set=state, condition=as_read))
