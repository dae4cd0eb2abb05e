"""The service's own logs: each recorded request, and each line of its log, becomes a log of the service `quakegraph`.

    recording ─┐
               ├→ buffer → writer
    log lines ─┘

No request waits for them, and none fails for them. A line that is logged while own logs are written is not one of
them: a store that does not answer would get more lines to write with each attempt.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import uuid4

from graph.api.recording import RecordedWork, Recorder, Recording
from graph.core.clock import Clock
from graph.domains.request_logs.model import storable
from graph.domains.service_logs.model import (
    LONGEST_MESSAGE,
    OWN_SERVICE,
    REQUEST_ID,
    NewLog,
    ServiceLogLevel,
    ServiceLogType,
)
from graph.domains.service_logs.writing import LogWriter
from graph.observability.logs import formatter
from graph.work.write_buffer import CAPACITY, WriteBuffer

LONGEST_VALUE = 4096  # characters of a text among a line's values, such as a trace
NS_PER_MS = 1_000_000
NS_PER_MINUTE = 60_000 * NS_PER_MS

_is_writing: ContextVar[bool] = ContextVar("writing own logs", default=False)


class OwnLogs(WriteBuffer[NewLog]):
    """Own logs that wait to be written. A flood of requests makes no more of them than a minute may have."""

    def __init__(self, writer: LogWriter, most_per_minute: int, capacity: int = CAPACITY) -> None:
        super().__init__("Own logs", self._store, capacity)
        self._writer = writer
        self._most_per_minute = most_per_minute
        self._minute = 0  # of the latest log
        self._left = 0  # logs of this minute

    def add(self, log: NewLog, /) -> None:
        """Add a log. It is lost if its minute has too many, or if the buffer is full."""
        if (minute := log.time_ns // NS_PER_MINUTE) > self._minute:
            self._minute, self._left = minute, self._most_per_minute
        if self._left:
            self._left -= 1
            super().add(log)
        else:
            self.lost += 1

    async def flush(self) -> None:
        token = _is_writing.set(True)
        try:
            await super().flush()
        finally:
            _is_writing.reset(token)

    async def _store(self, logs: list[NewLog]) -> None:
        report = await self._writer.write(logs, is_own=True)
        self.lost += report.rejected  # if there may be no more services


class OwnLogRecorder(Recorder):
    """Makes an own log of each record, beside what another recorder keeps."""

    def __init__(self, recorder: Recorder, logs: OwnLogs) -> None:
        self._recorder = recorder
        self._logs = logs

    def add(self, record: RecordedWork) -> None:
        """Take a record, which is written later."""
        self._logs.add(log_of_record(record))
        self._recorder.add(record)

    async def write(self, record: RecordedWork) -> None:
        """Let the other recorder write a record now. The own log is written later.

        Raises:
            DatabaseUnavailable: The other recorder cannot write it.
        """
        self._logs.add(log_of_record(record))
        await self._recorder.write(record)


class OwnLogHandler(logging.Handler):
    """Makes an own log of each line that the service logs at INFO or above."""

    def __init__(self, logs: OwnLogs, clock: Clock) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(formatter("json"))
        self._logs = logs
        self._clock = clock

    def emit(self, record: logging.LogRecord) -> None:
        """Add the log of a line. Its request and caller are those of the code that logs."""
        if _is_writing.get():
            return
        try:
            self._logs.add(_log_of_line(json.loads(self.format(record)), record.levelno, self._clock()))
        except Exception:
            self.handleError(record)


@contextmanager
def keeping_own_logs(logs: OwnLogs, recording: Recording, clock: Clock) -> Iterator[None]:
    """Make own logs of all that is recorded and logged."""
    before, root, handler = recording.recorder, logging.getLogger(), OwnLogHandler(logs, clock)
    recording.recorder = OwnLogRecorder(before, logs)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        recording.recorder = before


def log_of_record(record: RecordedWork) -> NewLog:
    """The own log of a recorded request."""
    metadata: dict[str, Any] = {
        REQUEST_ID: record.request_id,
        "route": record.route,
        "status": record.status,
        "latencyMs": record.latency_ms,
    }
    if record.error is not None:
        metadata["error"] = record.error
    if facts := _storable(record.facts):
        metadata["facts"] = facts
    return NewLog(
        service=OWN_SERVICE,
        message=f"{record.route} answered {record.status} in {record.latency_ms} ms",
        time_ns=record.timestamp * NS_PER_MS,
        log_type=ServiceLogType.AUDIT if record.writes else ServiceLogType.APPLICATION,
        severity=_level_of(record.status).usual_severity,
        log_id=record.request_id,  # unique to the record
        metadata=metadata,
    )


def _storable(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that can be stored. Mostly all can, and to check them together takes half as long."""
    given = {name: value for name, value in values.items() if value is not None}
    return given if storable(given) else {name: value for name, value in given.items() if storable(value)}


def _level_of(status: int) -> ServiceLogLevel:
    if status >= 500:
        return ServiceLogLevel.ERROR
    return ServiceLogLevel.WARN if status >= 400 else ServiceLogLevel.INFO


def _log_of_line(line: Mapping[str, Any], level: int, now: int) -> NewLog:
    """The own log of a line as JSON has it.

    Args:
        level: of the standard library: 20 for INFO, 30 for WARNING, and so on. OpenTelemetry's are four apart.
        now: epoch milliseconds.
    """
    values = {REQUEST_ID if name == "request_id" else name: value for name, value in line.items()}
    message = str(values.pop("event"))
    for name in ("level", "timestamp"):
        del values[name]
    return NewLog(
        service=OWN_SERVICE,
        message=message[:LONGEST_MESSAGE],
        time_ns=now * NS_PER_MS,
        severity=4 * min(level // 10, 5) + 1,
        log_id=str(uuid4()),
        metadata={name: _shortened(value) for name, value in _storable(values).items()},
    )


def _shortened(value: Any) -> Any:
    """A value, or the end of a long text: a trace ends with its error."""
    return value[-LONGEST_VALUE:] if isinstance(value, str) else value
