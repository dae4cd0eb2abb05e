"""Makes the logs of requests, and writes those of queries after their answers, so that logging never slows a query.

Logs beyond the budget, and those for which the buffer has no room, are left out. They are counted by day in the store,
with each flush, and that is logged. A process that is killed loses the count of what it left out since the last
flush, half a second before, as it loses the logs that wait.
"""

import asyncio

from graph.api.recording import RecordedWork, Recorder
from graph.core.days import DAY_MS, day_bucket
from graph.core.errors import DatabaseUnavailable
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.budget import NONE, DayCount, LogBudget
from graph.domains.request_logs.model import ATTRIBUTES, RETENTION_DAYS, RequestLog, RequestLogType, storable
from graph.observability.logs import get_logger
from graph.observability.metrics import Metrics
from graph.store.entity import Item
from graph.work.write_buffer import CAPACITY, FLUSH_EVERY_S, WriteBuffer, measure_waiting

FLUSHES_PER_CHECK = 120  # a minute

logger = get_logger(__name__)


class LogBuffer(WriteBuffer[RequestLog]):
    """Logs that wait to be written."""

    def __init__(self, logs: RequestLogs, budget: LogBudget, capacity: int = CAPACITY) -> None:
        super().__init__("Request logs", logs.insert_many, capacity)
        self._logs = logs
        self._budget = budget
        self._logged_left_out = 0
        self._uncounted: dict[str, DayCount] = {}  # what was left out since the last flush, by day

    @property
    def left_out(self) -> int:
        """The number of logs beyond the budget, since the service started."""
        return self._budget.left_out

    def add(self, log: RequestLog, *, is_refusal: bool = False) -> None:
        """Add a log, unless it is beyond the budget. If the buffer is full, the log is lost."""
        ended = log.timestamp + log.latency_ms
        weight = self._budget.weight(log.request_id, ended, log.size, is_refusal=is_refusal)
        if not weight or self.waiting >= self.capacity:
            self._leave_out(day_bucket(log.timestamp), DayCount(NONE, 1, int(log.is_of_catalogue)))
        if weight:
            super().add(log if weight == 1 else RequestLog({**log.item, "weight": weight}))

    def _leave_out(self, day: str, count: DayCount) -> None:
        self._uncounted[day] = self._uncounted.get(day, DayCount()).plus(count)

    async def flush(self) -> None:
        """Write the logs that wait now, and count those that were left out, as far as the store accepts it."""
        await super().flush()
        for day in list(self._uncounted):
            count = self._uncounted.pop(day)
            try:
                await self._logs.add_count(day, count)
            except DatabaseUnavailable:
                self._leave_out(day, count)  # for the next flush
                return

    async def check_store(self) -> None:
        """Read how much is stored, and log what was left out since the last time."""
        try:
            self._budget.learn({day: count.stored for day, count in (await self._logs.counts()).items()})
        except DatabaseUnavailable as error:
            logger.warning("The number of request logs is not known", cause=error.detail)
        if self.left_out > self._logged_left_out:
            number = self.left_out - self._logged_left_out
            logger.warning("Request logs went beyond their budget", left_out=number, since_start=self.left_out)
            self._logged_left_out = self.left_out

    async def flush_forever(self) -> None:
        """Write waiting logs twice a second, and read the stored amounts once a minute."""
        while True:
            await self.check_store()
            for _ in range(FLUSHES_PER_CHECK):
                await asyncio.sleep(FLUSH_EVERY_S)
                await self.flush()


def measure_buffer(buffer: LogBuffer, metrics: Metrics) -> None:
    """Register the metrics of waiting and lost request logs, and of those beyond their budget."""
    measure_waiting(buffer, metrics, "request_logs", "Request logs")
    left_out = metrics.counter("request_logs_left_out", "Request logs beyond their budget.")
    metrics.total(left_out, lambda: buffer.left_out)


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
        "logType": (RequestLogType.INGEST if record.writes else RequestLogType.QUERY).value,
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
