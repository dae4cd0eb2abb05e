"""The breaker of an endpoint, and when an endpoint is hopeless."""

from hypothesis import given
from hypothesis import strategies as st

from graph.domains.triggers.delivering.health import DISABLED_AFTER_MS, FAILURES_TO_OPEN, LONGEST_OPEN_MS, Health

NOW = 1_691_031_133_000
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
