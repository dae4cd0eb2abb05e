"""The service's own logs: what becomes one, and that they disturb nothing when the store does not answer."""

import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Thread
from typing import Any

import pytest

from graph.api.recording import RecordedWork, Recorder, Recording
from graph.core.errors import DatabaseUnavailable
from graph.domains.own_logs.own_logs import LONGEST_VALUE, OwnLogs, keeping_own_logs, log_of_record
from graph.domains.service_logs.entities import ENTITIES, SERVICE_LOG
from graph.domains.service_logs.model import (
    LONGEST_MESSAGE,
    OWN_SERVICE,
    LogProblem,
    NewLog,
    ServiceLog,
    ServiceLogLevel,
    ServiceLogType,
)
from graph.domains.service_logs.services import LoggingServices
from graph.domains.service_logs.settings import ServiceLogSettings
from graph.domains.service_logs.writing import LogWriter
from graph.observability.logs import during_request, get_logger, on_behalf_of
from graph.observability.metrics import Metrics
from graph.store.contract import Action, Database
from graph.work.write_buffer import VALUES_PER_WRITE
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.request_logs.builders import NOW, now, uuid
from tests.store.engines import empty_database

REQUEST = uuid(7)

logger = get_logger("graph.tests")


class FailingDatabase(WatchedDatabase):
    """A real database that can be told to store nothing, and that logs each failure as a store does."""

    is_away = False

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        if self.is_away:
            logger.warning("The store does not answer")
            raise DatabaseUnavailable("the database is away")
        return await super().transact(actions)


@dataclass(frozen=True)
class Kept:
    """A recording and a log whose records and lines become own logs."""

    database: FailingDatabase
    own: OwnLogs
    recording: Recording
    recorder: "ListRecorder"

    async def logs(self) -> list[ServiceLog]:
        """The stored own logs, oldest first."""
        return sorted(await stored(self.database), key=lambda log: log.timestamp)

    async def messages(self) -> list[str]:
        return [log.message for log in await self.logs()]


class ListRecorder(Recorder):
    """Keeps records in lists."""

    def __init__(self) -> None:
        self.added: list[RecordedWork] = []
        self.written: list[RecordedWork] = []

    def add(self, record: RecordedWork) -> None:
        self.added.append(record)

    async def write(self, record: RecordedWork) -> None:
        self.written.append(record)


async def stored(database: Database) -> list[ServiceLog]:
    return [ServiceLog(item) async for item in database.scan(SERVICE_LOG)]


def writer_of(database: Database, **settings: Any) -> LogWriter:
    chosen = ServiceLogSettings(**settings)
    services = LoggingServices(database, now, hot=chosen.hot_services, most=chosen.max_services)
    return LogWriter(database, services, chosen, now, Metrics())


@contextmanager
def keeping(database: FailingDatabase, most: int = 100_000, **options: Any) -> Iterator[Kept]:
    recording, recorder = Recording(Metrics()), ListRecorder()
    recording.recorder = recorder
    own = OwnLogs(writer_of(database), most, **options)
    with keeping_own_logs(own, recording, now):
        yield Kept(database, own, recording, recorder)


@pytest.fixture
async def database() -> AsyncIterator[FailingDatabase]:
    async with empty_database("sqlite", ENTITIES, clock=now) as database:
        yield FailingDatabase(database)


@pytest.fixture
def kept(database: FailingDatabase, caplog: pytest.LogCaptureFixture) -> Iterator[Kept]:
    caplog.set_level(logging.INFO)
    with keeping(database) as kept:
        yield kept


def a_record(number: int = 1, **others: Any) -> RecordedWork:
    values: dict[str, Any] = {"route": "/earthquakes", "writes": False, "status": 200, "latency_ms": 12, **others}
    return RecordedWork(request_id=uuid(number), timestamp=NOW, **values)


# Records


def test_the_type_and_the_level_follow_from_the_record() -> None:
    for told, log_type, level in (
        ({}, ServiceLogType.APPLICATION, ServiceLogLevel.INFO),
        ({"writes": True}, ServiceLogType.AUDIT, ServiceLogLevel.INFO),
        ({"status": 400}, ServiceLogType.APPLICATION, ServiceLogLevel.WARN),
        ({"status": 499}, ServiceLogType.APPLICATION, ServiceLogLevel.WARN),
        ({"status": 500, "writes": True}, ServiceLogType.AUDIT, ServiceLogLevel.ERROR),
    ):
        log = log_of_record(a_record(**told))
        assert (log.log_type, ServiceLogLevel.of(log.severity)) == (log_type, level)


async def test_a_record_becomes_a_log_and_reaches_the_recorder_that_was_there(kept: Kept) -> None:
    added = a_record(1, error="BAD_USER_INPUT", status=400, facts={"result_count": 3, "mag": 1e200, "none": None})
    written = a_record(2, writes=True)
    kept.recording.add(added)
    await kept.recording.write(written)
    await kept.own.flush()

    assert (kept.recorder.added, kept.recorder.written) == ([added], [written])
    one, other = await kept.logs()
    assert (one.service, one.message, one.log_id) == ("quakegraph", "/earthquakes answered 400 in 12 ms", uuid(1))
    assert one.time_unix_nano == str(NOW * 1_000_000)
    assert one.metadata == {
        "requestId": uuid(1),
        "route": "/earthquakes",
        "status": 400,
        "latencyMs": 12,
        "error": "BAD_USER_INPUT",
        "facts": {"result_count": 3},
    }
    assert other.metadata == {"requestId": uuid(2), "route": "/earthquakes", "status": 200, "latencyMs": 12}


async def test_each_record_of_a_request_becomes_a_log(kept: Kept) -> None:
    for number in range(2):
        kept.recording.add(replace(a_record(), timestamp=NOW + number))
    await kept.own.flush()

    assert [(log.log_id, int(log.time_unix_nano)) for log in await kept.logs()] == [
        (uuid(1), NOW * 1_000_000),
        (uuid(1), (NOW + 1) * 1_000_000),
    ]


# Lines


async def test_a_line_becomes_a_log_with_its_values_and_its_request(kept: Kept) -> None:
    with during_request(REQUEST):
        on_behalf_of("importer")
        logger.warning("The shaking is odd", place="Napa", felt=3)
    logger.info("The service is idle")
    await kept.own.flush()

    odd, idle = await kept.logs()
    assert (odd.message, odd.level, odd.severity_number) == ("The shaking is odd", ServiceLogLevel.WARN, 13)
    assert odd.metadata == {
        "requestId": REQUEST,
        "subject": "importer",
        "logger": "graph.tests",
        "place": "Napa",
        "felt": 3,
    }
    assert (idle.message, idle.level, idle.metadata) == (
        "The service is idle",
        ServiceLogLevel.INFO,
        {"logger": "graph.tests"},
    )


async def test_a_line_below_info_is_not_kept_and_an_error_has_the_end_of_its_trace(
    kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    logger.debug("A detail")
    try:
        raise ValueError("deep " * LONGEST_VALUE + "end")
    except ValueError:
        logger.exception("A defect")
    await kept.own.flush()

    (log,) = await kept.logs()
    trace = (log.metadata or {})["exception"]
    assert (log.level, len(trace)) == (ServiceLogLevel.ERROR, LONGEST_VALUE)
    assert trace.endswith("deep end")


async def test_no_value_of_a_line_prevents_its_log(kept: Kept) -> None:
    values = ("\udfff", float("nan"), 1e200, 2**70, {1, 2}, LogProblem.EXPIRED, [object()])
    for value in values:
        logger.error("Odd \udfff" + "x" * LONGEST_MESSAGE, value=value)
    await kept.own.flush()

    messages = await kept.messages()
    assert [(message[:10], len(message)) for message in messages] == [("Odd \\udfff", LONGEST_MESSAGE)] * len(values)
    assert kept.own.lost == 0


async def test_lines_of_other_libraries_and_threads_are_kept(kept: Kept) -> None:
    thread = Thread(target=lambda: logging.getLogger("library").critical("%d %s", 2, "failures"))
    thread.start()
    thread.join()
    await kept.own.flush()

    (log,) = await kept.logs()
    assert (log.message, log.level, log.severity_number) == ("2 failures", ServiceLogLevel.ERROR, 21)


# An outage


async def test_an_outage_feeds_no_logs_back(kept: Kept, caplog: pytest.LogCaptureFixture) -> None:
    kept.recording.add(a_record())
    kept.database.is_away = True
    for _ in range(5):
        await kept.own.flush()

    assert kept.own.waiting == 1
    said = [record.getMessage() for record in caplog.records]
    assert said.count("The store does not answer") == said.count("Own logs wait for the store") == 5
    kept.database.is_away = False
    await kept.own.flush()
    assert await kept.messages() == ["/earthquakes answered 200 in 12 ms"]


async def test_what_waits_is_written_once_a_thousand_at_a_time_and_at_the_end(kept: Kept) -> None:
    records = [a_record(number) for number in range(VALUES_PER_WRITE + 1)]
    for record in records:
        kept.recording.add(record)
    # The store may have taken some, and its answer may be lost.
    await writer_of(kept.database).write([*map(log_of_record, records[:2])], is_own=True)
    await kept.own.close()

    assert [log.log_id for log in await kept.logs()] == [record.request_id for record in records]
    assert (kept.own.waiting, kept.own.lost) == (0, 0)


async def test_own_logs_of_one_service_too_many_are_counted_as_lost(database: FailingDatabase) -> None:
    writer = writer_of(database, max_services=1)
    await writer.write([NewLog("checkout", "paid", NOW * 1_000_000)])
    own = OwnLogs(writer, 1)
    own.add(log_of_record(a_record()))
    await own.flush()

    assert own.lost == 1
    assert [log.service for log in await stored(database)] == ["checkout"]


async def test_a_minute_has_no_more_own_logs_than_it_may(database: FailingDatabase) -> None:
    with keeping(database, most=2) as kept:
        for minute, seconds in ((0, (0, 30, 59)), (1, (0, 1)), (0, (59,)), (2, (0,))):  # one request began before
            for second in seconds:
                kept.own.add(
                    NewLog(OWN_SERVICE, f"{minute}:{second:02}", NOW * 1_000_000 + (60 * minute + second) * 10**9)
                )
        await kept.own.flush()

        assert await kept.messages() == ["0:00", "0:30", "1:00", "1:01", "2:00"]
        assert kept.own.lost == 2


async def test_nothing_is_kept_after_the_end_or_written_under_the_services_name_by_others(
    kept: Kept, database: FailingDatabase
) -> None:
    with keeping(database) as inner:
        pass
    inner.recording.add(a_record())
    logger.warning("Late")
    report = await writer_of(database).write([NewLog("quakegraph", "forged", NOW * 1_000_000)])

    assert inner.own.waiting == 0
    assert kept.own.waiting == 1  # the outer one still is
    assert [rejection.code for rejection in report.rejections] == [LogProblem.SERVICE_INVALID]
    assert await stored(database) == []
