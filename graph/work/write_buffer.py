"""Values that wait to be written, so that no request waits for the store.

Values that the store cannot write stay in the buffer for the next round. They are lost only if the buffer is full, if
the service ends while the store does not answer, or by a defect. Lost values are counted, and the loss is logged.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from graph.core.errors import GraphError
from graph.observability.logs import get_logger
from graph.observability.metrics import Metrics

CAPACITY = 10_000  # values; a few seconds of heavy traffic, about 10 MB
FLUSH_EVERY_S = 0.5  # a value is in the store within a second
VALUES_PER_WRITE = 1000

T = TypeVar("T")

Write = Callable[[list[T]], Awaitable[object]]
"""Writes values. Raises `GraphError` if the same values may be written later."""

logger = get_logger(__name__)


@dataclass(eq=False)
class WriteBuffer(Generic[T]):
    """Values that wait to be written. Any thread may add one; only the event loop writes them."""

    what: str  # the values' name for logs, such as `Request logs`
    write: Write[T]
    capacity: int = CAPACITY
    lost: int = 0  # since the service started
    _waiting: deque[T] = field(default_factory=deque)
    _logged: int = 0  # the part of `lost` that was logged

    @property
    def waiting(self) -> int:
        """The number of values that wait to be written."""
        return len(self._waiting)

    def add(self, value: T, /) -> None:
        """Add a value. If the buffer is full, the value is lost."""
        if len(self._waiting) < self.capacity:
            self._waiting.append(value)
        else:
            self.lost += 1

    async def flush(self) -> None:
        """Write the values that wait now, as far as the store accepts them.

        Values that come meanwhile wait for the next round: each commit empties the caches of the connections that read.
        """
        left = len(self._waiting)
        while left > 0:
            some = [self._waiting[i] for i in range(min(left, VALUES_PER_WRITE))]
            left -= len(some)
            try:
                await self.write(some)
            except GraphError as error:
                cause = error.detail or str(error)
                logger.warning(f"{self.what} wait for the store", waiting=self.waiting, cause=cause)
                break
            except Exception:  # a defect; at every flush these values would fail again and block all later ones
                logger.exception(f"{self.what} cannot be written", lost=len(some))
                self.lost += len(some)
            for _ in some:
                self._waiting.popleft()
        self._log_losses()

    async def flush_forever(self) -> None:
        """Write waiting values twice a second."""
        while True:
            await asyncio.sleep(FLUSH_EVERY_S)
            await self.flush()

    async def close(self) -> None:
        """Write the waiting values for the last time. The rest is lost."""
        await self.flush()
        self.lost += len(self._waiting)
        self._waiting.clear()
        self._log_losses()

    def _log_losses(self) -> None:
        if self.lost > self._logged:
            logger.error(f"{self.what} were lost", lost=self.lost - self._logged, since_start=self.lost)
            self._logged = self.lost


def measure_waiting(buffer: WriteBuffer[T], metrics: Metrics, name: str, what: str) -> None:
    """Register the metrics of lost and waiting values: by the name `request_logs`, `request_logs_lost` is one."""
    lost = metrics.counter(f"{name}_lost", f"{what} that were never written.")
    waiting = metrics.gauge(f"{name}_waiting", f"{what} that wait to be written.", of_all="livesum")
    metrics.total(lost, lambda: buffer.lost)
    metrics.read(lambda: waiting.set(buffer.waiting))
