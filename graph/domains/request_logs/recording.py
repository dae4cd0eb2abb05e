"""The recorder of the service: each record becomes a request log."""

from graph.api.recording import Record, Recorder
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.buffer import LogBuffer
from graph.domains.request_logs.model import ATTRIBUTES, LogType, RequestLog, storable


class LogRecorder(Recorder):
    """Writes request logs, after the answers or before them."""

    def __init__(self, logs: RequestLogs, buffer: LogBuffer) -> None:
        self._logs = logs
        self._buffer = buffer

    def add(self, record: Record) -> None:
        """Add a record, which is written within a second unless there are too many."""
        self._buffer.add(log_of(record), is_refusal=record.is_refusal)

    async def write(self, record: Record) -> None:
        """Write a record.

        Raises:
            DatabaseUnavailable: The store cannot write it.
        """
        await self._logs.insert(log_of(record))


def log_of(record: Record) -> RequestLog:
    """The log of a record. Facts with a documented attribute use it; all others go into `facts`."""
    facts = record.facts
    if not facts.keys() <= ATTRIBUTES.keys():
        others = {name: value for name, value in facts.items() if name not in ATTRIBUTES and storable(value)}
        facts = {name: value for name, value in facts.items() if name in ATTRIBUTES} | {"facts": others or None}
    return RequestLog.of(
        log_type=LogType.INGEST if record.writes else LogType.QUERY,
        request_id=record.request_id,
        timestamp=record.timestamp,
        route=record.route,
        status=record.status,
        latency_ms=record.latency_ms,
        error=record.error,
        **facts,
    )
