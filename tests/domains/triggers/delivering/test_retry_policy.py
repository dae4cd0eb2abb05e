"""When a delivery is attempted again."""

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graph.domains.triggers.delivering.retry_policy import (
    LONGEST_RETRY_AFTER_S,
    DeliveryRetryPolicy,
    is_delivered,
    is_gone,
    retry_after_ms,
)
from graph.domains.triggers.model import Delivery
from graph.domains.triggers.sending.answers import Failure, SendResult
from graph.domains.triggers.settings import TriggerSettings

NOW = 1_691_031_133_000
WAITS_S: tuple[float, ...] = TriggerSettings().webhook_retries
ERROR = SendResult(12, 500)


def greatest(_: float, high: float) -> float:
    return high


def least(low: float, _: float) -> float:
    return low


def a_delivery(attempts: int = 0, first_attempt: int = 1, **others: Any) -> Delivery:
    """A delivery that was attempted so often."""
    return Delivery({"attempts": attempts, "first_attempt": first_attempt, "event_type": "quake.felt", **others})


def test_the_schedule_is_the_one_of_standard_webhooks_which_a_replay_begins_again_and_a_test_does_not_follow() -> None:
    policy = DeliveryRetryPolicy(WAITS_S, greatest)
    waits = [policy.next_attempt(a_delivery(attempts), ERROR, NOW) for attempts in range(10)]

    minute, hour = 60_000, 3_600_000
    of_the_standard = [5000, 5 * minute, 30 * minute, *[n * hour for n in (2, 5, 10, 14, 20, 24)]]
    assert waits == [*[NOW + wait for wait in of_the_standard], None]
    replayed = [policy.next_attempt(a_delivery(attempts, first_attempt=5), ERROR, NOW) for attempts in (4, 12, 13)]
    assert replayed == [waits[0], waits[8], None]
    assert policy.next_attempt(a_delivery(event_type="endpoint.test"), ERROR, NOW) is None


def next_attempt(answer: SendResult, **others: Any) -> int | None:
    return DeliveryRetryPolicy(WAITS_S, greatest).next_attempt(a_delivery(**others), answer, NOW)


def test_every_2xx_is_a_success_410_is_the_end_and_anything_else_is_repeated() -> None:
    for code in (200, 201, 202, 204, 299):
        assert is_delivered(SendResult(12, code))
    repeated = [SendResult(12, code) for code in (199, *range(300, 410), *range(411, 600), 600)]
    for answer in (*repeated, *(SendResult(12, error=failure) for failure in Failure)):
        assert (is_delivered(answer), is_gone(answer)) == (False, False)
        assert next_attempt(answer) == NOW + 5000
    gone = SendResult(12, 410, retry_after_s=10)
    assert is_gone(gone)
    assert next_attempt(gone) is None


@given(
    attempts=st.integers(0, len(WAITS_S) - 1),
    seed=st.integers(0, 2**32),
    retry_after=st.none() | st.floats(0, 1e12),
    code=st.sampled_from([429, 500, 503]),
)
def test_a_wait_lies_between_nothing_and_its_greatest_length_or_is_what_the_endpoint_asks_for(
    attempts: int, seed: int, retry_after: float | None, code: int
) -> None:
    policy = DeliveryRetryPolicy(WAITS_S, random.Random(seed).uniform)
    answer = SendResult(12, code, retry_after_s=retry_after)

    due = policy.next_attempt(a_delivery(attempts), answer, NOW)

    assert due is not None
    asked = retry_after_ms(answer)
    assert asked == round(1000 * min(retry_after or 0, LONGEST_RETRY_AFTER_S))
    assert max(asked, 1) <= due - NOW <= max(round(1000 * WAITS_S[attempts]), asked, 1)


def test_the_jitter_is_full() -> None:
    chosen = random.Random(20260803)
    policy = DeliveryRetryPolicy((100.0,), chosen.uniform)
    waits = [(policy.next_attempt(a_delivery(), ERROR, NOW) or 0) - NOW for _ in range(2000)]

    assert min(waits) < 1000
    assert max(waits) > 99_000
    assert abs(sum(waits) / len(waits) - 50_000) < 2500
    assert DeliveryRetryPolicy((100.0,), least).next_attempt(a_delivery(), ERROR, NOW) == NOW + 1
