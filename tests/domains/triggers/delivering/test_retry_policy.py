"""When a delivery is attempted again, the breaker of an endpoint, and when an endpoint is hopeless."""

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graph.domains.triggers.delivering.health import DISABLED_AFTER_MS, FAILURES_TO_OPEN, LONGEST_OPEN_MS, Health
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


LEAST_MS = 5000

steps = st.lists(
    st.tuples(
        st.integers(0, 4 * 3_600_000),  # milliseconds since the step before
        st.booleans(),  # whether the attempt succeeds
        st.sampled_from([0, 0, 1, 60_000, 3_600_000]),  # what the endpoint asks for
    ),
    max_size=60,
)


def failed(health: Health, now: int, retry_after_ms: int = 0) -> Health:
    return health.after_failure(now, least_ms=LEAST_MS, retry_after_ms=retry_after_ms)


def after_failures(number: int, now: int = NOW) -> Health:
    health = Health()
    for _ in range(number):
        health = failed(health, now)
    return health


def test_the_breaker_opens_after_five_failures_in_a_row_and_one_delivery_is_tried_after_that() -> None:
    closed, opened = after_failures(FAILURES_TO_OPEN - 1), after_failures(FAILURES_TO_OPEN)

    assert (closed.open_until, closed.is_open(NOW)) == (0, False)
    assert (opened.open_until, opened.is_open(NOW + LEAST_MS - 1)) == (NOW + LEAST_MS, True)
    assert not opened.is_open(NOW + LEAST_MS)
    assert (closed.is_tried, opened.is_tried) == (False, True)
    assert failed(opened, NOW + 10).open_until == opened.open_until  # of a request that was on its way


def test_an_endpoint_is_hopeless_after_five_days_and_ten_failures() -> None:
    end = NOW + DISABLED_AFTER_MS

    assert after_failures(10).is_hopeless(end)
    assert not after_failures(10).is_hopeless(end - 1)
    assert not after_failures(9).is_hopeless(end)
    assert not Health().is_hopeless(end)


@given(steps)
def test_a_breaker_opens_for_as_long_as_the_endpoint_has_failed_or_asks_for_within_a_bound_and_is_kept_in_its_queue(
    steps: list[tuple[int, bool, int]],
) -> None:
    health, now, in_a_row, since, until = Health(), NOW, 0, 0, 0
    for wait, succeeds, retry_after in steps:
        now += wait
        if succeeds:
            health, in_a_row, since, until = Health(), 0, 0, 0
        else:
            health, in_a_row, since = failed(health, now, retry_after), in_a_row + 1, since or now
            asked = now + retry_after if retry_after else 0  # from the first failure on
            opens = in_a_row >= FAILURES_TO_OPEN and until <= now
            until = max(until, asked, now + min(max(now - since, LEAST_MS), LONGEST_OPEN_MS) if opens else 0)
        assert Health.of({**health._asdict(), "waiting": 3}) == health == Health(in_a_row, since, until)
        assert health.is_tried == (in_a_row >= FAILURES_TO_OPEN)
        assert health.is_hopeless(now) == (in_a_row >= 10 and now - since >= DISABLED_AFTER_MS)
