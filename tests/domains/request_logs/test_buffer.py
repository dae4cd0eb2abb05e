"""Logs that wait to be written: requests never wait with them, and none is lost unless it is said.

A flood writes no more than a budget allows, and is seen until its end.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from math import ceil
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import DAY_MS, day_bucket
from graph.domains.request_logs.access_patterns import RequestLogs, sum_of
from graph.domains.request_logs.budget import MINUTE_MS, Amount, DayCount, LogBudget
from graph.domains.request_logs.buffer import LogBuffer
from graph.domains.request_logs.entities import LOG
from graph.domains.request_logs.model import RequestLog
from graph.domains.request_logs.settings import RequestLogSettings
from graph.store.contract import Database
from graph.store.query import Query
from graph.work.write_buffer import CAPACITY, FLUSH_EVERY_S, VALUES_PER_WRITE
from tests.domains.entities import ENTITIES
from tests.domains.request_logs.builders import MIDNIGHT, NOW, a_log, limits, now, uuid, uuids
from tests.domains.request_logs.held import HeldDatabase, held_database, held_graph
from tests.domains.request_logs.recorder import log_buffer
from tests.store.engines import empty_database

UNLIMITED = limits()


@pytest.fixture
async def database() -> AsyncIterator[HeldDatabase]:
    async with held_database() as database:
        yield database


@pytest.fixture
def logs(database: HeldDatabase) -> RequestLogs:
    return RequestLogs(database, now)


def some_logs(count: int) -> list[RequestLog]:
    return [a_log(MIDNIGHT + number, number) for number in range(count)]


def filled(logs: RequestLogs, waiting: Sequence[RequestLog], capacity: int = CAPACITY) -> LogBuffer:
    buffer = LogBuffer(logs, LogBudget(UNLIMITED), capacity)
    for log in waiting:
        buffer.add(log)
    return buffer


async def stored(database: Database) -> list[RequestLog]:
    """The logs of today, oldest first."""
    return [RequestLog(item) for item in (await database.query(Query(entity=LOG, partitions=[("20240302",)]))).items]


def logged_values(record: logging.LogRecord, *keywords: str) -> tuple[object, ...]:
    """What a line says, and what it was about."""
    return record.getMessage(), *(vars(record)["keywords"][keyword] for keyword in keywords)


async def test_all_that_wait_are_written_in_order_a_thousand_at_a_time(
    database: HeldDatabase, logs: RequestLogs
) -> None:
    waiting = some_logs(VALUES_PER_WRITE * 2 + 1)

    await filled(logs, waiting).flush()

    assert [len(some) for some in database.written] == [1000, 1000, 1]
    assert [log for some in database.written for log in some] == await stored(database) == waiting


async def test_logs_that_come_during_a_write_wait_for_the_next_flush_which_writes_nothing_without_any(
    database: HeldDatabase, logs: RequestLogs
) -> None:
    """Otherwise, steady traffic would cause one commit after the other."""
    buffer = filled(logs, [a_log(NOW, 1)])
    database.writes.close()
    flushing = asyncio.create_task(buffer.flush())
    await database.writes.reached()
    buffer.add(a_log(NOW, 2))
    database.writes.open()
    await flushing

    assert await stored(database) == [a_log(NOW, 1)]
    await buffer.flush()
    await buffer.flush()
    assert database.written == [[a_log(NOW, 1)], [a_log(NOW, 2)]]


async def test_logs_are_stored_in_order_after_an_outage_of_the_store(
    database: HeldDatabase, logs: RequestLogs, caplog: pytest.LogCaptureFixture
) -> None:
    *before, after = some_logs(4)
    buffer = filled(logs, before)
    database.away = True
    await buffer.flush()
    await buffer.flush()
    buffer.add(after)
    assert await stored(database) == []

    database.away = False
    await buffer.flush()

    assert database.written == [[*before, after]]
    assert buffer.lost == 0
    assert {record.levelno for record in caplog.records} == {logging.WARNING}
    assert [logged_values(record, "waiting") for record in caplog.records] == [
        ("Request logs wait for the store", 3)
    ] * 2


async def test_a_full_buffer_drops_the_newest_and_says_how_many(
    database: HeldDatabase, logs: RequestLogs, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = some_logs(5)
    buffer = filled(logs, waiting, capacity=3)
    await buffer.flush()
    await buffer.flush()
    for log in some_logs(4):
        buffer.add(log)
    await buffer.flush()

    assert await stored(database) == waiting[:3]
    assert buffer.lost == 3
    assert [logged_values(record, "lost", "since_start") for record in caplog.records] == [
        ("Request logs were lost", 2, 2),
        ("Request logs were lost", 1, 3),
    ]


async def test_a_log_that_cannot_be_written_does_not_block_later_ones_and_what_is_lost_at_the_end_is_said(
    database: HeldDatabase, logs: RequestLogs, caplog: pytest.LogCaptureFixture
) -> None:
    buffer = filled(logs, [a_log(MIDNIGHT, route="\udfff")])  # half a surrogate pair, which no store takes
    await buffer.flush()
    buffer.add(a_log(NOW))
    await buffer.flush()
    assert await stored(database) == [a_log(NOW)]
    assert logged_values(caplog.records[-1], "lost", "since_start") == ("Request logs were lost", 1, 1)

    database.away = True
    for log in some_logs(3):
        buffer.add(log)
    await buffer.close()
    assert logged_values(caplog.records[-1], "lost", "since_start") == ("Request logs were lost", 3, 4)
    assert caplog.records[-1].levelno == logging.ERROR


async def test_a_log_is_written_once_within_a_second_or_at_the_end_also_amid_a_write(
    database: HeldDatabase, logs: RequestLogs
) -> None:
    assert FLUSH_EVERY_S <= 0.5  # which leaves as much for the writing
    async with log_buffer(logs, UNLIMITED) as buffer:
        buffer.add(a_log(NOW, 1))
        await database.writes.reached()
        database.writes.close()
        buffer.add(a_log(NOW, 2))
        await database.writes.reached()
        buffer.add(a_log(NOW, 3))
        database.writes.open()
    assert buffer.lost == 0
    assert await stored(database) == [a_log(NOW, number) for number in (1, 2, 3)]


async def test_no_request_waits_for_a_log_to_be_written() -> None:
    """Neither while a write hangs, nor when the store takes none."""
    query, expected = '{ event(eventId: "us1") { id } }', {"data": {"event": None}}
    async with held_graph() as graph:
        database = graph.database
        database.writes.close()
        assert await graph.answer(query) == expected
        await database.writes.reached()
        assert await graph.answer(query) == expected
        database.away = True
        database.writes.open()
        assert await graph.answer(query) == expected
        database.away = False

    assert [log.route for some in database.written for log in some] == ["/earthquakes/event"] * 3


async def test_a_log_says_how_long_its_field_took() -> None:
    async with held_graph() as graph, asyncio.TaskGroup() as tasks:
        graph.database.queries.close()
        tasks.create_task(graph.answer("{ events { nodes { id } } }"))
        await graph.database.queries.reached()
        graph.clock.now += 250
        graph.database.queries.open()

    ((log,),) = graph.database.written
    assert (log.timestamp, log.latency_ms, log.status) == (NOW, 250, 200)


async def test_each_field_is_logged_with_its_own_outcome() -> None:
    async with held_graph() as graph:
        answer = await graph.answer("{ failing: events(first: -1) { totalCount } other: events { nodes { id } } }")

    assert [error["path"] for error in answer["errors"]] == [["failing"]]
    logs = [log for some in graph.database.written for log in some]
    assert sorted((log.status, log.error) for log in logs) == [(200, None), (400, "BAD_USER_INPUT")]


def kept(budget: LogBudget, timestamp: int, number: int, size: int = 100, *, is_refusal: bool = False) -> list[int]:
    """Which of so many logs the budget keeps."""
    ids = enumerate(uuids(number))
    return [at for at, request_id in ids if budget.weight(request_id, timestamp, size, is_refusal=is_refusal)]


def a_minute(rows: int = 10**9, size: int = 10**12) -> LogBudget:
    """A budget that bounds the minute alone."""
    return LogBudget(limits(a_minute=Amount(rows, size)))


def test_by_default_six_thousand_logs_of_a_minute_are_kept_whole_at_any_time_of_the_day() -> None:
    for timestamp in (MIDNIGHT, NOW, MIDNIGHT + DAY_MS - 1):
        budget = LogBudget(RequestLogSettings())
        assert [budget.weight(each, timestamp, 400) for each in uuids(6000)] == [1] * 6000
        assert {budget.weight(each, timestamp, 400) for each in uuids(800)} == {0, 8}


def test_all_logs_are_kept_until_a_minutes_rows_are_used_and_a_flood_is_sampled_until_its_end() -> None:
    budget = a_minute(rows=100)
    taken = kept(budget, NOW, 5000)
    assert taken[:100] == list(range(100))
    assert 100 < len(taken) <= 112
    assert taken[-1] > 1000, "what comes late is seen too"
    assert budget.left_out == 5000 - len(taken)
    assert kept(budget, NOW + MINUTE_MS, 100) == list(range(100)), "the next minute begins anew"


def test_a_slow_request_of_the_minute_before_begins_no_minute_anew() -> None:
    budget = a_minute(rows=100)
    taken = [kept(budget, NOW - number % 2, 10) for number in range(1000)]
    assert sum(map(len, taken)) <= 112
    assert kept(budget, NOW - DAY_MS, 100) == list(range(100)), "a clock that was set back does"


async def test_a_stream_that_ends_after_hours_begins_no_minute_anew() -> None:
    async with empty_database("sqlite", ENTITIES, clock=now) as database:
        buffer = LogBuffer(RequestLogs(database, now), LogBudget(limits(a_minute=Amount(1, 10**9))))
        for number in range(1, 4):
            buffer.add(a_log(NOW, number))
            buffer.add(a_log(NOW - 3_600_000, 10 + number, latency_ms=3_600_000))
        assert (buffer.waiting, buffer.left_out) == (1, 5)


def test_the_weights_of_a_sample_add_up_to_about_the_number_of_logs() -> None:
    budget = LogBudget(limits(a_minute=Amount(6000, 10**12)))
    for number, error in ((6000, 0), (9000, 0.01), (20_000, 0.1), (100_000, 0.25)):
        budget = LogBudget(limits(a_minute=Amount(6000, 10**12)))
        weights = sum(budget.weight(each, NOW, 400) for each in uuids(number))
        assert abs(weights - number) <= error * number


@given(
    st.lists(st.tuples(st.uuids(version=4), st.integers(50, 5000), st.booleans()), max_size=400),
    st.integers(1, 50),
    st.integers(1000, 100_000),
)
def test_no_sequence_of_logs_takes_more_than_an_eighth_beyond_what_the_minute_keeps_whole(
    logs: list[tuple[UUID, int, bool]], rows: int, size: int
) -> None:
    budget = a_minute(rows, size)
    taken = [each for each in logs if budget.weight(str(each[0]), NOW, each[1], is_refusal=each[2])]

    assert len(taken) <= ceil(rows * 9 / 8)
    assert sum([is_refusal for *_, is_refusal in taken]) <= ceil(ceil(rows / 10) * 9 / 8)
    assert sum([bytes_ for _, bytes_, _ in taken[:-1]]) <= size * 9 / 8, "only the last one may pass the bound of bytes"


def test_all_days_together_stay_within_the_total_and_a_day_may_use_its_share_at_any_time() -> None:
    total = 72_000
    budget = LogBudget(limits(in_all=Amount(total, 10**12)))
    first, flood, evening = (kept(budget, MIDNIGHT + hour * DAY_MS // 24, 50_000) for hour in (0, 1, 23))

    assert first[:8000] == list(range(8000)), "a ninth is kept whole, even in one minute"
    assert len(first) + len(flood) + len(evening) <= total / 8
    assert min(map(len, (first, flood, evening))) > 0, "a flood of all day leaves logs of its last hour"
    assert kept(budget, MIDNIGHT + DAY_MS, 8000) == list(range(8000)), "the next day begins anew"


def test_stored_logs_count_towards_the_budget_and_no_rows_or_no_bytes_mean_no_logs() -> None:
    budget = LogBudget(limits(in_all=Amount(7200, 10**9)))
    budget.learn({day_bucket(NOW): Amount(795, 0)})
    assert kept(budget, NOW, 7) == [0, 1, 2, 3, 4]
    budget.learn({day_bucket(NOW): Amount(900, 0)})
    for none in (budget, a_minute(rows=0), a_minute(size=0)):
        before = none.left_out
        assert kept(none, NOW, 100) == []
        assert none.left_out - before == 100
    assert not any(a_minute(rows=0).weight(uuid(0), NOW, 100, is_refusal=True) for _ in range(10))


def test_refused_requests_take_a_tenth_of_a_minute_and_of_a_day_and_are_sampled_until_their_end() -> None:
    for minutes, budget in ((1, a_minute(rows=100)), (700, LogBudget(limits(in_all=Amount(7200, 10**12))))):
        whole = 10 if minutes == 1 else 80
        times = [NOW + number * minutes * MINUTE_MS // 5000 for number in range(5000)]
        ids = uuids(5000)
        refused = [at for at in range(5000) if budget.weight(ids[at], times[at], 100, is_refusal=True)]

        assert refused[:whole] == list(range(whole))
        assert whole < len(refused) <= ceil(whole * 9 / 8)
        assert refused[-1] > 100, "what comes late is seen too"
        assert budget.left_out == 5000 - len(refused)
        others = kept(budget, times[-1], 80)
        assert others == list(range(80)), "the others are kept as if there was no flood"


async def test_logs_are_counted_as_they_are_written_and_the_counts_are_learned(engine: str) -> None:
    async with empty_database(engine, ENTITIES, clock=now) as database:
        logs = RequestLogs(database, now)
        some = [a_log(MIDNIGHT + number, number) for number in range(30)]
        await logs.insert_many(some[:20])
        await logs.insert_many(some[20:29])
        await logs.insert(some[29])

        assert await logs.counts() == {"20240302": DayCount(Amount(30, sum(log.size for log in some)))}


async def test_what_is_left_out_is_counted_exactly_by_all_processes_also_after_an_outage(engine: str) -> None:
    async with empty_database(engine, ENTITIES, clock=now) as database:
        held = HeldDatabase(database)
        logs = RequestLogs(held, now)
        first, second = (LogBuffer(logs, LogBudget(limits(a_minute=Amount(10, 10**9)))) for _ in range(2))
        for buffer, begin in ((first, 0), (second, 100)):
            for number in range(begin, begin + 100):
                route = "/earthquakes" if number % 2 else "/node"
                buffer.add(a_log(MIDNIGHT, number, route=route))
                buffer.add(a_log(MIDNIGHT - 1, number, route=route))  # of the day before
        held.away = True
        await first.flush()
        assert await logs.counts() == {}
        held.away = False
        await first.flush()
        await first.flush()
        await second.close()
        counts = await RequestLogs(database, now).counts()
        assert counts.keys() == {"20240301", "20240302"}
        total = sum_of(counts, "20240301", "20240302")
        assert (total.stored.rows, total.left_out) == (400 - first.left_out - second.left_out, 400 - total.stored.rows)
        stored_logs = [log async for log in database.scan(LOG)]
        assert total.stored.rows == len(stored_logs)
        kept_of_catalogue = sum(log["route"] == "/earthquakes" for log in stored_logs)
        assert total.catalogue_left_out == 200 - kept_of_catalogue
        assert total.left_out > total.catalogue_left_out > 0


async def test_logs_without_room_in_the_buffer_are_counted_as_left_out(
    database: HeldDatabase, logs: RequestLogs
) -> None:
    await filled(logs, some_logs(5), capacity=3).flush()
    assert (await logs.counts())["20240302"][1:] == (2, 2)


async def test_logs_beyond_the_budget_are_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    async with empty_database("sqlite", ENTITIES, clock=now) as database:
        budget = LogBudget(limits(a_minute=Amount(4, 10**9)))
        buffer = LogBuffer(RequestLogs(database, now), budget)
        for number in range(10):
            buffer.add(a_log(NOW + number, number))
        with caplog.at_level(logging.WARNING):
            await buffer.check_store()
            await buffer.check_store()

        assert [record.getMessage() for record in caplog.records] == ["Request logs went beyond their budget"]
        assert buffer.left_out == 10 - buffer.waiting > 0
