"""Logs that wait to be written: requests never wait with them, and none is lost unless it is said."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence

import pytest

from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.budget import LogBudget
from graph.domains.request_logs.buffer import LogBuffer
from graph.domains.request_logs.entities import LOG
from graph.domains.request_logs.model import RequestLog
from graph.store.contract import Database
from graph.store.query import Query
from graph.work.write_buffer import CAPACITY, FLUSH_EVERY_S, VALUES_PER_WRITE
from tests.domains.request_logs.builders import MIDNIGHT, NOW, a_log, limits, now
from tests.domains.request_logs.held import HeldDatabase, held_database, held_graph
from tests.domains.request_logs.recorder import log_buffer

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


async def test_a_field_cancelled_by_another_fields_error_is_not_logged_as_a_success() -> None:
    async with held_graph() as graph:
        graph.database.queries.close()
        answer = await graph.answer("{ failing: events(first: -1) { totalCount } other: events { nodes { id } } }")
        graph.database.queries.open()

    assert [error["path"] for error in answer["errors"]] == [["failing"]]
    logs = [log for some in graph.database.written for log in some]
    assert sorted((log.status, log.error) for log in logs) == [(400, "BAD_USER_INPUT"), (499, None)]
