"""Logs that wait to be written: requests never wait with them, and none is lost unless it is said."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence

import pytest

from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.budget import Amount, LogBudget, LogLimits
from graph.domains.request_logs.buffer import (
    CAPACITY,
    FLUSH_EVERY_S,
    LOGS_A_FLUSH,
    LogBuffer,
)
from graph.domains.request_logs.model import RequestLog
from graph.store.contract import Table
from tests.domains.request_logs.builders import MIDNIGHT, NOW, a_log, now
from tests.domains.request_logs.held import HeldTable, held_graph, held_table
from tests.domains.request_logs.recorder import log_buffer

UNLIMITED = LogLimits(Amount(10**9, 10**12), Amount(10**9, 10**12))


@pytest.fixture
async def table() -> AsyncIterator[HeldTable]:
    async with held_table() as table:
        yield table


@pytest.fixture
def logs(table: HeldTable) -> RequestLogs:
    return RequestLogs(table, now)


def some_logs(count: int) -> list[RequestLog]:
    return [a_log(MIDNIGHT + number, number) for number in range(count)]


def filled(logs: RequestLogs, waiting: Sequence[RequestLog], capacity: int = CAPACITY) -> LogBuffer:
    buffer = LogBuffer(logs, LogBudget(UNLIMITED), capacity)
    for log in waiting:
        buffer.add(log)
    return buffer


async def stored(table: Table) -> list[RequestLog]:
    """The logs of today, oldest first."""
    return [RequestLog(item) for item in (await table.query(table.design.primary, "LOG#20240302")).items]


def told(record: logging.LogRecord, *keywords: str) -> tuple[object, ...]:
    """What a line says, and what it was about."""
    return record.getMessage(), *(vars(record)["keywords"][keyword] for keyword in keywords)


async def test_all_that_wait_are_written_in_order_a_thousand_at_a_time(table: HeldTable, logs: RequestLogs) -> None:
    waiting = some_logs(LOGS_A_FLUSH * 2 + 1)

    await filled(logs, waiting).flush()

    assert [len(some) for some in table.written] == [1000, 1000, 1]
    assert [log for some in table.written for log in some] == await stored(table) == waiting


async def test_nothing_is_written_where_nothing_waits(table: HeldTable, logs: RequestLogs) -> None:
    buffer = filled(logs, some_logs(1))
    await buffer.flush()
    await buffer.flush()

    assert len(table.written) == 1


async def test_a_store_that_comes_back_gets_every_log_in_order(
    table: HeldTable, logs: RequestLogs, caplog: pytest.LogCaptureFixture
) -> None:
    *before, after = some_logs(4)
    buffer = filled(logs, before)
    table.away = True
    await buffer.flush()
    await buffer.flush()
    buffer.add(after)
    assert await stored(table) == []

    table.away = False
    await buffer.flush()

    assert table.written == [[*before, after]]
    assert buffer.lost == 0
    assert {record.levelno for record in caplog.records} == {logging.WARNING}
    assert [told(record, "waiting") for record in caplog.records] == [("Request logs wait for the store", 3)] * 2


async def test_a_full_buffer_drops_the_newest_and_says_how_many(
    table: HeldTable, logs: RequestLogs, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = some_logs(5)
    buffer = filled(logs, waiting, capacity=3)
    await buffer.flush()
    await buffer.flush()
    for log in some_logs(4):
        buffer.add(log)
    await buffer.flush()

    assert await stored(table) == waiting[:3]
    assert buffer.lost == 3
    assert [told(record, "lost", "since_start") for record in caplog.records] == [
        ("Request logs were lost", 2, 2),
        ("Request logs were lost", 1, 3),
    ]


async def test_what_a_store_that_is_away_at_the_end_did_not_take_is_said(
    table: HeldTable, logs: RequestLogs, caplog: pytest.LogCaptureFixture
) -> None:
    table.away = True

    await filled(logs, some_logs(3)).close()

    assert told(caplog.records[-1], "lost", "since_start") == ("Request logs were lost", 3, 3)
    assert caplog.records[-1].levelno == logging.ERROR


async def test_a_log_that_cannot_be_written_holds_up_no_later_one(
    table: HeldTable, logs: RequestLogs, caplog: pytest.LogCaptureFixture
) -> None:
    buffer = filled(logs, [a_log(MIDNIGHT, route="\udfff")])  # half a surrogate pair, which no store takes
    await buffer.flush()
    buffer.add(a_log(NOW))
    await buffer.flush()

    assert await stored(table) == [a_log(NOW)]
    assert buffer.lost == 1
    assert told(caplog.records[-1], "lost", "since_start") == ("Request logs were lost", 1, 1)


async def test_a_log_is_written_within_a_second(table: HeldTable, logs: RequestLogs) -> None:
    assert FLUSH_EVERY_S <= 0.5  # which leaves as much for the writing
    async with log_buffer(logs, UNLIMITED) as buffer:
        buffer.add(a_log(NOW))
        await table.writes.reached()
        buffer.add(a_log(NOW, 2))
        await table.writes.reached()

    assert await stored(table) == [a_log(NOW), a_log(NOW, 2)]


async def test_what_waits_at_the_end_is_written(table: HeldTable, logs: RequestLogs) -> None:
    async with log_buffer(logs, UNLIMITED) as buffer:
        buffer.add(a_log(NOW))
        assert await stored(table) == []

    assert await stored(table) == [a_log(NOW)]


async def test_an_end_in_the_middle_of_a_write_loses_and_repeats_nothing(table: HeldTable, logs: RequestLogs) -> None:
    table.writes.close()
    async with log_buffer(logs, UNLIMITED) as buffer:
        buffer.add(a_log(NOW, 1))
        await table.writes.reached()
        buffer.add(a_log(NOW, 2))
        table.writes.open()

    assert buffer.lost == 0
    assert await stored(table) == [a_log(NOW, 1), a_log(NOW, 2)]


async def test_no_request_waits_for_a_log_to_be_written() -> None:
    """Neither while a write hangs, nor when the store takes none."""
    query, expected = '{ event(eventId: "us1") { id } }', {"data": {"event": None}}
    async with held_graph() as graph:
        table = graph.table
        table.writes.close()
        assert await graph.answer(query) == expected
        await table.writes.reached()
        assert await graph.answer(query) == expected
        table.away = True
        table.writes.open()
        assert await graph.answer(query) == expected
        table.away = False

    assert [log.route for some in table.written for log in some] == ["/earthquakes/event"] * 3


async def test_a_log_says_how_long_its_field_took() -> None:
    async with held_graph() as graph, asyncio.TaskGroup() as tasks:
        graph.table.queries.close()
        tasks.create_task(graph.answer("{ events { nodes { id } } }"))
        await graph.table.queries.reached()
        graph.clock.now += 250
        graph.table.queries.open()

    ((log,),) = graph.table.written
    assert (log.timestamp, log.latency_ms, log.status) == (NOW, 250, 200)


async def test_a_field_that_was_given_up_since_another_had_failed_is_not_logged_as_a_success() -> None:
    async with held_graph() as graph:
        graph.table.queries.close()
        answer = await graph.answer("{ failing: events(first: -1) { totalCount } other: events { nodes { id } } }")
        graph.table.queries.open()

    assert [error["path"] for error in answer["errors"]] == [["failing"]]
    logs = [log for some in graph.table.written for log in some]
    assert sorted((log.status, log.error) for log in logs) == [(400, "BAD_USER_INPUT"), (499, None)]
