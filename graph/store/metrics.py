"""The metrics of the store: its calls, its pools, and DynamoDB's capacity units."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import cache
from time import perf_counter
from typing import Literal

from graph.core.errors import outcome_of
from graph.observability.metrics import OK, Metrics
from graph.observability.timed import Timed
from graph.store.meter import PoolUse

CANCELLED = "CANCELLED"  # the outcome of a cancelled call
SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class StoreMetrics:
    """A `Meter` that fills the metrics of one application."""

    def __init__(self, metrics: Metrics, tables: Iterable[str] = ()) -> None:
        """Register the metrics. The names of the tables are those of their designs."""
        self._metrics = metrics
        self._calls = metrics.timed(
            metrics.counter("store_calls", "Calls of the store, by outcome.", "operation", "outcome"),
            *("store_call", "Time of a call of the store.", "operation", SECONDS),
        )
        self._units = cache(metrics.counter("dynamodb_units", "Capacity units that DynamoDB reported.", "kind").labels)
        for kind in ("read", "write"):  # Prometheus computes a rate only for a series that exists
            self._units(kind)
        self._broken_items = metrics.counter(
            "store_broken_items", "Items of other programs that were left out, since they are broken.", "table"
        )
        for table in tables:
            self._broken_items.labels(table)
        self._pool_size = metrics.gauge(
            "store_pool_size", "Threads or connections to the store.", "pool", of_all="livesum"
        )
        self._pool_busy = metrics.gauge("store_pool_busy", "Those of them in use.", "pool", of_all="livesum")
        self._pool_waiting = metrics.gauge(
            "store_pool_waiting", "Calls that wait for one of them.", "pool", of_all="livesum"
        )

    def call(self, operation: str, tables: Iterable[str] = ()) -> "AbstractContextManager[None]":
        """Time and count a call of the store."""
        return _Call(self._calls, operation)

    def units(self, kind: Literal["read", "write"], count: float) -> None:
        """Count the capacity units of a request."""
        self._units(kind).inc(count)

    def broken_item(self, table: str) -> None:
        """Count an item that was left out."""
        self._broken_items.labels(table).inc()

    def pool(self, name: str, size: int, use: Callable[[], PoolUse]) -> None:
        """Register the metrics of a pool."""
        busy, waiting = self._pool_busy.labels(name), self._pool_waiting.labels(name)
        self._pool_size.labels(name).set(size)

        def read() -> None:
            now = use()
            busy.set(now.busy)
            waiting.set(now.waiting)

        self._metrics.read(read)


class _Call:
    """A call of the store, until it ends."""

    __slots__ = ("_calls", "_operation", "_started")

    def __init__(self, calls: Timed, operation: str) -> None:
        self._calls = calls
        self._operation = operation

    def __enter__(self) -> None:
        self._started = perf_counter()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        seconds = perf_counter() - self._started
        outcome = OK if error is None else CANCELLED
        if isinstance(error, Exception):
            outcome = str(outcome_of(error)[1])
        self._calls.add(self._operation, outcome, seconds)
