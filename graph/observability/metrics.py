"""What the service counts and times, by Prometheus's conventions. How it is read is the matter of `scrape`.

Every label has few values: a client chooses the names and documents of its operations, so
neither is one. Each application has a registry of its own. Where several processes serve,
prometheus-client keeps the values in files of a folder that they share, which its own variable
names; a value that is read and not counted is then written there now and then, by `sample`.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from math import inf
from time import perf_counter
from typing import Literal

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

from graph import __version__
from graph.core.errors import outcome_of
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.ingest.status import Upkeep
from graph.domains.earthquakes.live import EventBroadcast
from graph.domains.request_logs.buffer import LogBuffer
from graph.observability.timed import Timed
from graph.store.meter import PoolUse
from graph.work.account import Work

OK = "OK"
CANCELLED = "CANCELLED"  # the outcome of a store call that nobody waits for any more

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client's variable, which it reads as it is imported

STORE_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
FIELD_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
REQUEST_SECONDS = (*FIELD_SECONDS, 30, 60, 120)  # a mutation may wait for USGS

Operation = Literal["query", "mutation", "subscription", "none"]
"""Type of a request's operation; none where the request was refused before it was known."""

disable_created_metrics()  # a third of the lines, which say when a counter was made


class Metrics:
    """The metrics of one application. A `Meter` of its store too."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.shared_folder = os.environ.get(SHARED_FOLDER)
        self._readings: list[Callable[[], None]] = []

        def counter(name: str, help_: str, *labels: str) -> Counter:
            return Counter(f"quakegraph_{name}", help_, labels, registry=registry)

        def timed(counter: Counter, name: str, help_: str, label: str, bounds: Sequence[float]) -> Timed:
            seconds = Histogram(f"quakegraph_{name}_seconds", help_, [label], registry=registry, buckets=bounds)
            found = Timed(counter, seconds, bounds, at_once=self.shared_folder is not None)
            self._readings.append(found.hand_over)
            return found

        def gauge(name: str, help_: str, *labels: str, of_all: Literal["livesum", "livemin", "livemax"]) -> Gauge:
            return Gauge(f"quakegraph_{name}", help_, labels, registry=registry, multiprocess_mode=of_all)

        self._requests = timed(
            counter("requests", "Requests by their operation and first error.", "operation", "code"),
            *("request", "Time to answer a request.", "operation", REQUEST_SECONDS),
        )
        self._fields = timed(
            counter("fields", "Root fields of queries, by outcome.", "field", "code"),
            *("field", "Time to resolve a root field of a query.", "field", FIELD_SECONDS),
        )
        self._calls = timed(
            counter("store_calls", "Calls of the store, by outcome.", "operation", "outcome"),
            *("store_call", "Time of a call of the store.", "operation", STORE_SECONDS),
        )
        self._units = cache(counter("dynamodb_units", "Capacity units that DynamoDB reported.", "kind").labels)
        self._ingests = timed(
            counter("ingests", "Ingests, polls among them, by outcome.", "route", "code"),
            *("ingest", "Time of an ingest.", "route", REQUEST_SECONDS),
        )
        self._events = cache(counter("ingest_events", "What became of events.", "route", "outcome").labels)
        self._retries = counter("upstream_retries", "Attempts on USGS after the first.")
        self._logs_lost = counter("request_logs_lost", "Request logs that were never written.")
        self._logs_left_out = counter("request_logs_left_out", "Request logs beyond their budget.")
        self._logs_waiting = gauge("request_logs_waiting", "Request logs that wait to be written.", of_all="livesum")
        self._pool_size = gauge("store_pool_size", "Threads or connections to the store.", "pool", of_all="livesum")
        self._pool_busy = gauge("store_pool_busy", "Those of them in use.", "pool", of_all="livesum")
        self._pool_waiting = gauge("store_pool_waiting", "Calls that wait for one of them.", "pool", of_all="livesum")
        self._subscriptions = gauge("subscriptions", "Subscriptions that are open.", of_all="livesum")
        self._told = counter("subscription_events", "Events that were handed to subscribers.")
        self._untold = counter("subscription_events_lost", "Events that subscribers were too slow for.")
        self._heavy = gauge("heavy_operations", "Operations that have heavy work in progress.", of_all="livesum")
        self._waiting = gauge("loop_waiting", "Pieces of work that wait for the event loop.", of_all="livesum")
        # Every process tells the same of these, each as of when it last looked.
        self._last_poll = gauge(
            "poll_last_success_timestamp_seconds", "When USGS was last polled; 0 for never.", of_all="livemax"
        )
        self._poll_failures = gauge("poll_failures", "Polls that failed since the last success.", of_all="livemax")
        self._lag = gauge(
            "newest_event_lag_seconds", "Time since the newest event; +Inf without one.", of_all="livemin"
        )
        self._lag.set(inf)
        build = Gauge("quakegraph_build_info", "Always 1.", ["version"], registry=registry, multiprocess_mode="max")
        build.labels(__version__).set(1)
        for operation in (
            "query",
            "mutation",
            "subscription",
        ):  # a rate is known only of what was there before
            self._requests.declare(operation, OK)
        for kind in ("read", "write"):
            self._units(kind)
        if self.shared_folder:
            self._readings.append(_shared_process_metrics(registry))
        else:
            ProcessCollector(registry=registry)
            GCCollector(registry)
            PlatformCollector(registry)

    def request(self, operation: Operation, code: str, seconds: float) -> None:
        """A request of the graph was answered, with the code of its first error or OK."""
        self._requests.add(operation, code, seconds)

    def field(self, field: str, code: str, seconds: float) -> None:
        """A root field of a query was resolved."""
        self._fields.add(field, code, seconds)

    def ingest(self, route: str, report: IngestReport, code: str) -> None:
        """An ingest ended, as its report says."""
        self._ingests.add(route, code, report.latency_ms / 1000)
        for outcome in ("upserted", "skipped", "rejected"):
            self._events(route, outcome).inc(getattr(report, outcome))
        self._retries.inc(report.retries)

    def call(self, operation: str) -> "AbstractContextManager[None]":
        """Around a call of the store."""
        return _Call(self._calls, operation)

    def units(self, kind: Literal["read", "write"], count: float) -> None:
        """DynamoDB has charged for a request."""
        self._units(kind).inc(count)

    def pool(self, name: str, size: int, use: Callable[[], PoolUse]) -> None:
        """Read from now on how busy a pool of the store is."""
        busy, waiting = self._pool_busy.labels(name), self._pool_waiting.labels(name)
        self._pool_size.labels(name).set(size)

        def read() -> None:
            now = use()
            busy.set(now.busy)
            waiting.set(now.waiting)

        self._readings.append(read)

    def log_buffer(self, buffer: LogBuffer) -> None:
        """Read from now on how many request logs wait, and how many were lost."""
        count_lost, count_left_out = _difference(self._logs_lost.inc), _difference(self._logs_left_out.inc)

        def read() -> None:
            count_lost(buffer.lost)
            count_left_out(buffer.left_out)
            self._logs_waiting.set(buffer.waiting)

        self._readings.append(read)

    def upkeep(self, upkeep: Upkeep) -> None:
        """Read from now on how polling goes and how old the newest event is, as far as this process knows."""

        def read() -> None:
            if known := upkeep.known:
                lag = known.newest_event_lag_seconds
                self._last_poll.set((known.last_success or 0) / 1000)
                self._poll_failures.set(known.failures)
                self._lag.set(inf if lag is None else lag)

        self._readings.append(read)

    def live(self, live: EventBroadcast) -> None:
        """Read from now on how many subscribers there are, and what they are told."""
        count_told, count_lost = _difference(self._told.inc), _difference(self._untold.inc)

        def read() -> None:
            self._subscriptions.set(live.subscriptions)
            count_told(live.sent)
            count_lost(live.dropped)

        self._readings.append(read)

    def work(self, work: Work) -> None:
        """Read from now on how much work is in flight."""

        def read() -> None:
            self._heavy.set(work.heavy_operations)
            self._waiting.set(work.pace.waiting)

        self._readings.append(read)

    def sample(self) -> None:
        """Take over what is read and not counted. Called from the event loop alone."""
        for read in self._readings:
            read()


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


def _shared_process_metrics(registry: CollectorRegistry) -> Callable[[], None]:
    """What `ProcessCollector` tells of one process, as metrics that can be added up over several."""
    collector = ProcessCollector(registry=None)
    take: dict[str, Callable[[float], None]] = {}
    for family in collector.collect():
        if family.type == "counter":
            take[family.name] = _difference(Counter(family.name, family.documentation, registry=registry).inc)
        else:
            mode: Literal["livemin", "livesum"] = (
                "livemin" if family.name.endswith("_start_time_seconds") else "livesum"
            )
            take[family.name] = Gauge(family.name, family.documentation, registry=registry, multiprocess_mode=mode).set

    def read() -> None:
        for family in collector.collect():
            take[family.name](family.samples[0].value)

    return read


def _difference(increase: Callable[[float], None]) -> Callable[[float], None]:
    """A counter's `inc` as a function that takes what has been counted in all."""
    counted = 0.0

    def take(total: float) -> None:
        nonlocal counted
        increase(total - counted)
        counted = total

    return take
