"""Recording in a table of a test, as the service does it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graph.api.recording import Recording
from graph.core.clock import Clock
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.budget import LogBudget
from graph.domains.request_logs.buffer import LogBuffer, LogRecorder
from graph.domains.request_logs.settings import RequestLogSettings
from graph.observability.metrics import Metrics
from graph.store.contract import Database
from graph.work.tasks import BackgroundTasks


def logging_to(database: Database, clock: Clock) -> Recording:
    """A recording whose logs stand in a table."""
    logs = RequestLogs(database, clock)
    return recording_in(logs, LogBuffer(logs, LogBudget(RequestLogSettings())))


def recording_in(logs: RequestLogs, buffer: LogBuffer) -> Recording:
    """A recording in these logs."""
    recording = Recording(Metrics())
    recording.recorder = LogRecorder(logs, buffer)
    return recording


@asynccontextmanager
async def log_buffer(logs: RequestLogs, settings: RequestLogSettings) -> AsyncIterator[LogBuffer]:
    """A buffer that is flushed in the background, and for the last time at the end."""
    buffer = LogBuffer(logs, LogBudget(settings))
    try:
        async with BackgroundTasks() as tasks:
            tasks.start("flushing request logs", buffer.flush_forever)
            yield buffer
    finally:
        await buffer.close()
