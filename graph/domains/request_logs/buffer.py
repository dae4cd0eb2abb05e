"""Writes the logs of queries behind their answers, so that logging never slows or fails a request.

What the store does not take stays for the next round. Only when the buffer is full, or the
service ends while the store is away, or a defect keeps them from being written, are logs lost,
and then they are counted and the loss is said. What goes beyond the budget is left out, counted
and said too.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graph.core.errors import DatabaseUnavailable, GraphError
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.budget import LogBudget, LogLimits
from graph.domains.request_logs.model import RequestLog
from graph.observability.logs import get_logger
from graph.work.tasks import BackgroundTasks

CAPACITY = 10_000  # logs; a few seconds of heavy traffic, about 10 MB
FLUSH_EVERY_S = 0.5  # a log is in the store within a second
LOGS_A_FLUSH = 1000
FLUSHES_A_LOOK = 120  # a minute

logger = get_logger(__name__)


class LogBuffer:
    """Logs that wait to be written."""

    def __init__(self, logs: RequestLogs, budget: LogBudget, capacity: int = CAPACITY) -> None:
        self.lost = 0  # since the service started
        self._logs = logs
        self._budget = budget
        self._capacity = capacity
        self._waiting: deque[RequestLog] = deque()
        self._said = 0  # how many of `lost` were logged
        self._said_left_out = 0

    @property
    def left_out(self) -> int:
        """How many logs went beyond the budget, since the service started."""
        return self._budget.left_out

    @property
    def waiting(self) -> int:
        """How many logs wait to be written."""
        return len(self._waiting)

    def add(self, log: RequestLog) -> None:
        """Take a log, unless the budget leaves it out; the newest is dropped where the buffer is full."""
        if not self._budget.takes(log.timestamp, log.size):
            return
        if len(self._waiting) < self._capacity:
            self._waiting.append(log)
        else:
            self.lost += 1

    async def flush(self) -> None:
        """Write what waits, as far as the store takes it."""
        while self._waiting:
            some = [self._waiting[i] for i in range(min(len(self._waiting), LOGS_A_FLUSH))]
            try:
                await self._logs.insert_many(some)
            except GraphError as error:
                cause = error.detail or str(error)
                logger.warning("Request logs wait for the store", waiting=self.waiting, cause=cause)
                break
            except Exception:  # a defect, which these logs would meet at every flush, and hold up all later ones
                logger.exception("Request logs cannot be written", lost=len(some))
                self.lost += len(some)
            for _ in some:
                self._waiting.popleft()
        self._say_losses()

    async def look(self) -> None:
        """Take in how much is stored, and say what was left out since the last look."""
        try:
            self._budget.learn(await self._logs.counts())
        except DatabaseUnavailable as error:
            logger.warning("The number of request logs is not known", cause=error.detail)
        if self.left_out > self._said_left_out:
            number = self.left_out - self._said_left_out
            logger.warning("Request logs went beyond their budget", left_out=number, since_start=self.left_out)
            self._said_left_out = self.left_out

    async def close(self) -> None:
        """Write what waits for the last time; what is left is lost."""
        await self.flush()
        self.lost += len(self._waiting)
        self._waiting.clear()
        self._say_losses()

    def _say_losses(self) -> None:
        if self.lost > self._said:
            logger.error("Request logs were lost", lost=self.lost - self._said, since_start=self.lost)
            self._said = self.lost


@asynccontextmanager
async def log_buffer(logs: RequestLogs, limits: LogLimits) -> AsyncIterator[LogBuffer]:
    """A buffer that is flushed twice a second, and for the last time at the end."""
    buffer = LogBuffer(logs, LogBudget(limits))

    async def flush_forever() -> None:
        while True:
            await buffer.look()
            for _ in range(FLUSHES_A_LOOK):
                await asyncio.sleep(FLUSH_EVERY_S)
                await buffer.flush()

    try:
        async with BackgroundTasks() as tasks:
            tasks.start("flushing request logs", flush_forever)
            yield buffer
    finally:
        await buffer.close()
