"""Request logs to test with: `a_log(DAY_MS)`, `async with stored_logs(engine, logs) as request_logs`."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import date
from typing import Any
from uuid import UUID

from graph.api.recording import RecordedWork
from graph.core.days import DAY_MS
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.budget import Amount
from graph.domains.request_logs.buffer import log_of
from graph.domains.request_logs.model import RequestLog, RequestLogType
from graph.domains.request_logs.settings import RequestLogSettings
from tests.domains.earthquakes.builders import at
from tests.domains.entities import ENTITIES
from tests.store.engines import empty_database

TODAY = date(2024, 3, 2)  # two days behind a leap day
MIDNIGHT = at("2024-03-02")
NOW = MIDNIGHT + DAY_MS // 2  # where the clock stands
PLENTY = Amount(10**9, 10**12)


def now() -> int:
    """The time of all these tests."""
    return NOW


def uuid(number: int) -> str:
    """A request id; they are in the order of their numbers."""
    return str(UUID(int=number, version=4))


def uuids(number: int) -> list[str]:
    """Request ids that are as evenly distributed as random ones. The last of every eight is kept as one in eight."""
    return [uuid(1 + each * 2654435761 % 2**32) for each in range(number)]


def a_log(timestamp: int, number: int = 1, **others: Any) -> RequestLog:
    """A log of a query of the catalogue; what is not given does not matter."""
    values = {"log_type": RequestLogType.QUERY, "route": "/earthquakes", "status": 200, "latency_ms": 3, **others}
    return log_with(request_id=uuid(number), timestamp=timestamp, **values)


def log_with(log_type: RequestLogType, **values: Any) -> RequestLog:
    """A log with these values."""
    of_record = {name: values.pop(name) for name in RecordedWork.__slots__ if name in values}
    return log_of(RecordedWork(writes=log_type is RequestLogType.INGEST, facts=values, **of_record))


@asynccontextmanager
async def stored_logs(engine: str, logs: Sequence[RequestLog]) -> AsyncIterator[RequestLogs]:
    """The request logs of a table of its own, which holds just these."""
    async with empty_database(engine, ENTITIES, clock=now) as database:
        request_logs = RequestLogs(database, now)
        await request_logs.insert_many(logs)
        yield request_logs


def limits(a_minute: Amount = PLENTY, in_all: Amount = PLENTY) -> RequestLogSettings:
    """The settings with these limits of written logs."""
    return RequestLogSettings(
        max_logs_per_minute=a_minute.rows,
        max_log_bytes_per_minute=a_minute.size,
        max_logs=in_all.rows,
        max_log_bytes=in_all.size,
    )
