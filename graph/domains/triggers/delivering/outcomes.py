"""What follows from an attempt: for the delivery, its event and the endpoint. No I/O."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from graph.domains.triggers.delivering.retry_policy import DeliveryRetryPolicy, is_delivered
from graph.domains.triggers.model import Delivery, DeliveryState, TriggerEvent
from graph.domains.triggers.sending.answers import SendResult
from graph.domains.triggers.statuses import EventProgress
from graph.store.entity import Item

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
