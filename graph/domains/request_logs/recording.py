"""The recorder of the service: each record becomes a request log."""

from graph.api.recording import RecordedWork, Recorder
from graph.core.days import DAY_MS, day_bucket
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.buffer import LogBuffer
from graph.domains.request_logs.model import ATTRIBUTES, RETENTION_DAYS, LogType, RequestLog, storable
from graph.store.entity import Item


class LogRecorder(Recorder):
    """Writes request logs, after the answers or before them."""

    def __init__(self, logs: RequestLogs, buffer: LogBuffer) -> None:
        self._logs = logs
        self._buffer = buffer

    def add(self, record: RecordedWork) -> None:
        """Add a record, which is written within a second unless there are too many."""
        self._buffer.add(log_of(record), is_refusal=record.is_refusal)

    async def write(self, record: RecordedWork) -> None:
        """Write a record.

        Raises:
            DatabaseUnavailable: The store cannot write it.
        """
        await self._logs.insert(log_of(record))


def log_of(record: RecordedWork) -> RequestLog:
    """The log of a record. Facts with a documented attribute use it; all others go into `facts`.

    A client may have sent a number that no item can hold, such as a magnitude of 1e200. Such an
    attribute is left out: a log that cannot be written would block those after it.
    """
    item: Item = {
        "day": day_bucket(record.timestamp),
        "ttl": (record.timestamp + RETENTION_DAYS * DAY_MS) // 1000,
        "logType": (LogType.INGEST if record.writes else LogType.QUERY).value,
        "requestId": record.request_id,
        "timestamp": record.timestamp,
        "route": record.route,
        "status": record.status,
        "latencyMs": record.latency_ms,
    }
    if record.error is not None:
        item["error"] = record.error
    others = {}
    for name, value in record.facts.items():
        if name not in ATTRIBUTES:
            if storable(value):
                others[name] = value
        elif value is not None and (not isinstance(value, float) or storable(value)):
            item[ATTRIBUTES[name]] = value
    if others:
        item["facts"] = others
    return RequestLog(item)
