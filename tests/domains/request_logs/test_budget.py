"""The budget of request logs: a flood writes no more than it allows, is seen until its end, and the loss is said."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import DAY_MS, day_bucket
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.budget import MINUTE_MS, Amount, LogBudget
from graph.domains.request_logs.buffer import LogBuffer
from graph.domains.request_logs.model import RETENTION_DAYS
from tests.domains.entities import ENTITIES
from tests.domains.request_logs.builders import MIDNIGHT, a_log, limits, now
from tests.store.engines import empty_database

LAST_MINUTE = MIDNIGHT + DAY_MS - MINUTE_MS  # in which a day's whole rest may be used


def kept(budget: LogBudget, timestamp: int, number: int, size: int = 100) -> list[int]:
    """Which of so many logs the budget takes."""
    return [each for each in range(number) if budget.takes(timestamp, size)]


def a_minute(rows: int = 10**9, size: int = 10**12) -> LogBudget:
    """A budget that bounds the minute alone."""
    return LogBudget(limits(a_minute=Amount(rows, size)))


def test_all_logs_are_kept_until_half_of_a_minutes_rows_are_used_and_a_flood_is_sampled_until_its_end() -> None:
    budget = a_minute(rows=100)
    taken = kept(budget, LAST_MINUTE - MINUTE_MS, 5000)
    assert taken[:50] == list(range(50))
    assert len(taken) <= 100
    assert taken[-1] > 1000, "what comes late is seen too"
    assert budget.left_out == 5000 - len(taken)
    assert kept(budget, LAST_MINUTE, 50) == list(range(50)), "the next minute begins anew"


@given(
    st.lists(st.tuples(st.integers(50, 5000), st.booleans()), max_size=400),
    st.integers(1, 50),
    st.integers(1000, 100_000),
)
def test_no_sequence_of_logs_takes_more_than_the_minute_allows(
    logs: list[tuple[int, bool]], rows: int, size: int
) -> None:
    budget = a_minute(rows, size)
    taken = [each for each in logs if budget.takes(LAST_MINUTE, each[0], is_refusal=each[1])]

    assert len(taken) <= rows
    assert sum([is_refusal for _, is_refusal in taken]) <= -(-rows // 10)
    assert sum([each for each, _ in taken[:-1]]) <= size, "only the last one may pass the bound of bytes"


def test_a_day_has_an_equal_share_of_all_and_leaves_room_for_its_evening() -> None:
    share = 10_000
    budget = LogBudget(limits(in_all=Amount(share * (RETENTION_DAYS + 1), 10**12)))
    taken = 0
    hours = []
    for minute in range(24 * 60):
        before = taken
        taken += len(kept(budget, MIDNIGHT + minute * MINUTE_MS, 200))
        hours.append(taken - before)

    assert share * 0.8 <= taken <= share
    assert sum(hours[-60:]) > 0, "a flood of all day leaves logs of its last hour"


def test_stored_logs_count_towards_the_budget_and_no_rows_or_no_bytes_mean_no_logs() -> None:
    budget = LogBudget(limits(in_all=Amount(800, 10**9)))
    budget.learn({day_bucket(LAST_MINUTE): Amount(100, 0)})
    for none in (budget, a_minute(rows=0), a_minute(size=0)):
        assert kept(none, LAST_MINUTE, 100) == []
        assert none.left_out == 100
    assert not any(a_minute(rows=0).takes(LAST_MINUTE, 100, is_refusal=True) for _ in range(10))


def test_refused_requests_take_at_most_a_tenth_of_a_minute_and_are_sampled_until_their_end() -> None:
    budget = a_minute(rows=100)
    refused = [each for each in range(5000) if budget.takes(LAST_MINUTE, 100, is_refusal=True)]

    assert refused[:5] == [0, 1, 2, 3, 4]
    assert 5 < len(refused) <= 10
    assert refused[-1] > 100, "what comes late is seen too"
    assert budget.left_out == 5000 - len(refused)
    assert kept(budget, LAST_MINUTE, 40) == list(range(40)), "the others are kept as if there was no flood"


async def test_logs_are_counted_as_they_are_written_and_the_counts_are_learned(engine: str) -> None:
    async with empty_database(engine, ENTITIES, clock=now) as database:
        logs = RequestLogs(database, now)
        some = [a_log(MIDNIGHT + number, number) for number in range(30)]
        await logs.insert_many(some[:20])
        await logs.insert_many(some[20:29])
        await logs.insert(some[29])

        assert await logs.counts() == {"20240302": Amount(30, sum(log.size for log in some))}


async def test_logs_beyond_the_budget_are_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    async with empty_database("sqlite", ENTITIES, clock=now) as database:
        budget = LogBudget(limits(a_minute=Amount(4, 10**9)))
        buffer = LogBuffer(RequestLogs(database, now), budget)
        for number in range(10):
            buffer.add(a_log(LAST_MINUTE + number, number))
        with caplog.at_level(logging.WARNING):
            await buffer.check_store()
            await buffer.check_store()

        assert [record.getMessage() for record in caplog.records] == ["Request logs went beyond their budget"]
        assert buffer.left_out == 10 - buffer.waiting > 0
