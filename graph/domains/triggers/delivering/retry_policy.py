"""When a delivery is attempted again, and when it is given up. No I/O.

The waits are those that Standard Webhooks recommends, with full jitter: each is chosen at random between nothing and
its greatest length, so that the deliveries of an outage do not all come back at once.

Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from graph.domains.triggers.event_types import TEST
from graph.domains.triggers.model import Delivery
from graph.domains.triggers.sending.answers import SendResult

LONGEST_RETRY_AFTER_S = 3600.0  # a longer one is taken for this


def is_delivered(answer: SendResult) -> bool:
    """Whether an endpoint has taken a delivery. A redirect is no success, and is not followed."""
    return answer.status is not None and 200 <= answer.status < 300


def is_gone(answer: SendResult) -> bool:
    """Whether an endpoint wants no further deliveries. 404 is temporary: some programs answer it while they restart."""
    return answer.status == HTTPStatus.GONE


def retry_after_ms(answer: SendResult) -> int:
    """How long an endpoint wants to be left alone, within a bound; 0 if it did not say."""
    return round(1000 * min(answer.retry_after_s or 0, LONGEST_RETRY_AFTER_S))


@dataclass(frozen=True, slots=True)
class DeliveryRetryPolicy:
    """The waits between the attempts of a delivery."""

    waits_s: Sequence[float]  # the greatest wait before each attempt after the first, seconds
    between: Callable[[float, float], float]  # chooses a number between two others at random

    def next_attempt(self, delivery: Delivery, answer: SendResult, now: int) -> int | None:
        """When a delivery is attempted again, epoch milliseconds; None if it is given up.

        Args:
            delivery: before the failed attempt.
        """
        attempts = delivery.attempt_count + 2 - delivery.item["first_attempt"]  # since it was created or replayed
        if is_gone(answer) or delivery.event_type == TEST or attempts > len(self.waits_s):
            return None
        wait_ms = round(1000 * self.between(0, self.waits_s[attempts - 1]))
        return now + max(wait_ms, retry_after_ms(answer), 1)
