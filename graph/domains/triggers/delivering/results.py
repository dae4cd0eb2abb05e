"""Stores what became of attempts: the delivery, the attempt, the event's status and the queue, in one transaction.

Attempts that end at the same time are stored together.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from graph.domains.triggers.deliveries import key_of_its_event, unchanged
from graph.domains.triggers.delivering.retry_policy import DeliveryRetryPolicy, is_delivered
from graph.domains.triggers.entities import ATTEMPT, DELIVERY, QUEUE
from graph.domains.triggers.inbox import progressed
from graph.domains.triggers.model import PROGRESS, Delivery, DeliveryState, TriggerEvent
from graph.domains.triggers.queues import EXISTS
from graph.domains.triggers.sending.answers import SendResult
from graph.domains.triggers.statuses import EventProgress
from graph.observability.logs import get_logger
from graph.store.contract import Action, Database, Put, Update
from graph.store.entity import Item, Key
from graph.store.rounds import until_applied
from graph.work.together import WrittenTogether

DELIVERED, RETRIED, FAILED = "delivered", "retried", "failed"

Advance = Callable[[EventProgress], EventProgress]


@dataclass(frozen=True, slots=True, eq=False)
class DeliveryOutcome:
    """What became of a delivery."""

    name: str  # delivered, retried or failed
    before: Delivery
    after: Item
    attempt: Item | None  # None if it was given up without one
    advance: Advance  # of its event

    @property
    def due(self) -> int | None:
        """When it is attempted again, epoch milliseconds; None if it has ended."""
        return self.after.get("due")


def body_of(event: TriggerEvent, sequence: int) -> str:
    """The body of a webhook, which is the same for every attempt."""
    said = {"type": event.event_type, "timestamp": event.timestamp, "data": event.payload, "sequence": sequence}
    return orjson.dumps(said).decode()


def given_up(delivery: Delivery, now: int) -> DeliveryOutcome:
    """The outcome for a delivery whose endpoint or event is gone."""
    return DeliveryOutcome(FAILED, delivery, _ended(delivery, DeliveryState.FAILED, now), None, EventProgress.given_up)


def outcome_of(
    delivery: Delivery, answer: SendResult, policy: DeliveryRetryPolicy, began: int, now: int
) -> DeliveryOutcome:
    """The outcome of an attempt.

    Args:
        began: when the attempt did, epoch milliseconds.
        now: when it ended.
    """
    attempt = _attempt(delivery, answer, began)
    advance: Advance
    if is_delivered(answer):
        name, after, advance = DELIVERED, _ended(delivery, DeliveryState.DELIVERED, now), EventProgress.delivered
    elif due := policy.next_attempt(delivery, answer, now):
        name, after, advance = RETRIED, {**delivery.item, "due": due}, EventProgress.postponed
    else:
        name, after, advance = FAILED, _ended(delivery, DeliveryState.FAILED, now), EventProgress.given_up
    after["attempts"] = delivery.attempt_count + 1
    if delivery.attempt_count:
        return DeliveryOutcome(name, delivery, after, attempt, lambda progress: advance(progress.retried()))
    return DeliveryOutcome(name, delivery, after, attempt, advance)


def _ended(delivery: Delivery, state: DeliveryState, now: int) -> Item:
    ended = {**delivery.item, "state": state.value, "ended_at": now}
    ended.pop("due", None)
    return ended


def _attempt(delivery: Delivery, answer: SendResult, began: int) -> Item:
    item: dict[str, Any] = {
        "endpoint_id": delivery.endpoint_id,
        "user_id": delivery.user_id,
        "sequence": delivery.sequence,
        "number": delivery.attempt_count + 1,
        "time": began,
        "status": answer.status,
        "error": answer.error.name if answer.error else None,
        "latency_ms": answer.latency_ms,
        "answer": answer.excerpt or None,
        "ttl": delivery.item["ttl"],
    }
    return {name: value for name, value in item.items() if value is not None}


ACTIONS_OF_ONE = 4  # a delivery, an attempt, an event, a queue
MOST_AT_ONCE = 200  # results of a transaction, so that it does not hold the writer for long

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What is stored of an outcome."""

    outcome: DeliveryOutcome
    queue: Callable[[], Item]  # its attributes that a worker knows, when the result is stored

    @property
    def event_key(self) -> Key:
        """The primary key of the delivery's event."""
        return key_of_its_event(self.outcome.before)

    @property
    def queue_key(self) -> Key:
        """The primary key of the endpoint's queue."""
        return QUEUE.key_for(self.outcome.before.endpoint_id)


class Results:
    """Writes results."""

    def __init__(self, database: Database) -> None:
        self._database = database
        most = min(database.transaction_limit // ACTIONS_OF_ONE, MOST_AT_ONCE)
        self._together = WrittenTogether(self._write, most=most)

    async def write(self, result: Result) -> None:
        """Store a result, unless the delivery has changed since it was read.

        Raises:
            DatabaseUnavailable: It may be stored or not.
        """
        await self._together.write(result)

    @until_applied("other changes of the same events kept coming first")
    async def _write(self, results: Sequence[Result]) -> Collection[Result] | None:
        refused = await self._database.transact(await self._actions(results))
        if not refused:
            return results
        if changed := [results[at] for at in refused if at < len(results)]:
            logger.warning("Deliveries were changed by another process", number=len(changed))
        return changed or None

    async def _actions(self, results: Sequence[Result]) -> list[Action]:
        """The deliveries first, then all that follows from them."""
        queues = {result.queue_key: result.queue() for result in results}
        outcomes = [result.outcome for result in results]
        events = await self._database.get_many({result.event_key for result in results}, attributes=PROGRESS)
        existing = await self._database.get_many(queues.keys(), attributes=())
        return [
            *(Put(DELIVERY, each.after, condition=unchanged(each.before)) for each in outcomes),
            *(Put(ATTEMPT, each.attempt) for each in outcomes if each.attempt),
            *_progress_of_events(results, events),
            *(_queue_of(key, state, results) for key, state in queues.items() if key in existing),
        ]


def _progress_of_events(results: Sequence[Result], events: Mapping[Key, Item]) -> Iterator[Update]:
    """The changes of the existing events, each with all of its results."""
    of_events: dict[Key, list[Result]] = {}
    for result in results:
        of_events.setdefault(result.event_key, []).append(result)
    for key, some in of_events.items():
        if key in events:
            before = after = TriggerEvent(events[key]).progress
            for result in some:
                after = result.outcome.advance(after)
            if after != before:
                yield progressed(key, before, after)


def _queue_of(key: Key, state: Item, results: Sequence[Result]) -> Update:
    """The change of an endpoint's queue."""
    ended = sum(result.outcome.due is None for result in results if result.queue_key == key)
    return Update(key, set=state, add={"waiting": -ended}, condition=EXISTS)
