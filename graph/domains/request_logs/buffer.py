"""Writes the logs of queries after their answers, so that logging never slows or fails a request.

Logs that the store cannot write stay in the buffer for the next round. Logs are lost only if the
buffer is full, if the service ends while the store does not answer, or by a defect. Lost logs are
counted, and the loss is logged. So are logs beyond the budget.
"""

import asyncio
from collections import deque

from graph.core.errors import DatabaseUnavailable, GraphError
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.budget import LogBudget
from graph.domains.request_logs.model import RequestLog
from graph.observability.logs import get_logger

CAPACITY = 10_000  # logs; a few seconds of heavy traffic, about 10 MB
FLUSH_EVERY_S = 0.5  # a log is in the store within a second
LOGS_PER_FLUSH = 1000
FLUSHES_PER_CHECK = 120  # a minute

logger = get_logger(__name__)


class LogBuffer:
    """Logs that wait to be written."""

    def __init__(self, logs: RequestLogs, budget: LogBudget, capacity: int = CAPACITY) -> None:
        self.lost = 0  # since the service started
        self._logs = logs
        self._budget = budget
        self._capacity = capacity
        self._waiting: deque[RequestLog] = deque()
        self._logged = 0  # the part of `lost` that was logged
        self._logged_left_out = 0

    @property
    def left_out(self) -> int:
        """The number of logs beyond the budget, since the service started."""
        return self._budget.left_out

    @property
    def waiting(self) -> int:
        """The number of logs that wait to be written."""
        return len(self._waiting)

    def add(self, log: RequestLog, *, is_refusal: bool = False) -> None:
        """Add a log, unless it is beyond the budget. If the buffer is full, the log is lost."""
        if not self._budget.takes(log.timestamp, log.size, is_refusal=is_refusal):
            return
        if len(self._waiting) < self._capacity:
            self._waiting.append(log)
        else:
            self.lost += 1

    async def flush(self) -> None:
        """Write the logs that wait now, as far as the store accepts them.

        Logs that come meanwhile wait for the next round: each commit empties the caches of the connections that read.
        """
        left = len(self._waiting)
        while left > 0:
            some = [self._waiting[i] for i in range(min(left, LOGS_PER_FLUSH))]
            left -= len(some)
            try:
                await self._logs.insert_many(some)
            except GraphError as error:
                cause = error.detail or str(error)
                logger.warning("Request logs wait for the store", waiting=self.waiting, cause=cause)
                break
            except Exception:  # a defect; at every flush these logs would fail again and block all later ones
                logger.exception("Request logs cannot be written", lost=len(some))
                self.lost += len(some)
            for _ in some:
                self._waiting.popleft()
        self._log_losses()

    async def check_store(self) -> None:
        """Read how much is stored, and log what was left out since the last time."""
        try:
            self._budget.learn(await self._logs.counts())
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

    async def close(self) -> None:
        """Write the waiting logs for the last time. The rest is lost."""
        await self.flush()
        self.lost += len(self._waiting)
        self._waiting.clear()
        self._log_losses()

    def _log_losses(self) -> None:
        if self.lost > self._logged:
            logger.error("Request logs were lost", lost=self.lost - self._logged, since_start=self.lost)
            self._logged = self.lost
