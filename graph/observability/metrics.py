"""The registry of the service's metrics, by Prometheus's conventions. `scrape` serves it.

    hits = metrics.counter("hits", "How often it was hit.", "outcome")
    metrics.read(lambda: busy.set(pool.busy))

Every label has few values. So names and documents of operations are no labels: clients choose them.
Each application has its own registry. Where several processes serve, prometheus-client keeps the
values in files of a shared folder, which its own variable names. `sample` regularly writes values
there that are read instead of counted.
"""

import os
from collections.abc import Callable, Sequence
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
from graph.observability.timed import Timed

OK = "OK"

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client's variable, which it reads during its import

FIELD_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
REQUEST_SECONDS = (*FIELD_SECONDS, 30, 60, 120)  # a mutation may wait for USGS

disable_created_metrics()  # they say when a counter was made, and are a third of all lines


class Metrics:
    """The metrics of one application. Each part of the service registers its own, beside its code."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.shared_folder = os.environ.get(SHARED_FOLDER)
        self.owner = "the service"  # who registers metrics now
        self._owners: dict[str, str] = {}
        self._readings: list[Callable[[], None]] = []
        build = Gauge(
            "quakegraph_build_info", "Always 1.", ["version"], registry=self.registry, multiprocess_mode="max"
        )
        build.labels(__version__).set(1)
        if self.shared_folder:
            self.read(_shared_process_metrics(self.registry))
        else:
            ProcessCollector(registry=self.registry)
            GCCollector(self.registry)
            PlatformCollector(self.registry)

    def counter(self, name: str, help_: str, *labels: str) -> Counter:
        """A new counter, `quakegraph_<name>_total`. Each label must have few values."""
        return Counter(self._new(name), help_, labels, registry=self.registry)

    def gauge(self, name: str, help_: str, *labels: str, of_all: Literal["livesum", "livemin", "livemax"]) -> Gauge:
        """A new gauge, `quakegraph_<name>`; `of_all` says how the values of several processes are combined."""
        return Gauge(self._new(name), help_, labels, registry=self.registry, multiprocess_mode=of_all)

    def timed(self, counter: Counter, name: str, help_: str, label: str, bounds: Sequence[float]) -> Timed:
        """A counter by label and outcome, with a new histogram of its seconds, `quakegraph_<name>_seconds`."""
        seconds = Histogram(self._new(f"{name}_seconds"), help_, [label], registry=self.registry, buckets=bounds)
        found = Timed(counter, seconds, bounds, at_once=self.shared_folder is not None)
        self.read(found.hand_over)
        return found

    def _new(self, name: str) -> str:
        """The full name of a metric that is registered now.

        Raises:
            ValueError: Its name is taken.
        """
        if name in self._owners:
            raise ValueError(f"the metric quakegraph_{name} is one of {self._owners[name]}")
        self._owners[name] = self.owner
        return f"quakegraph_{name}"

    def total(self, counter: Counter, total: Callable[[], float]) -> None:
        """Let a counter follow a total that is counted elsewhere."""
        take = _difference(counter.inc)
        self.read(lambda: take(total()))

    def read(self, reading: Callable[[], None]) -> None:
        """Register a function that sets values before the metrics are read."""
        self._readings.append(reading)

    def sample(self) -> None:
        """Call all registered functions. Only the event loop's thread may call this."""
        for read in self._readings:
            read()


def _shared_process_metrics(registry: CollectorRegistry) -> Callable[[], None]:
    """The metrics of `ProcessCollector`, in a form that can be added up over several processes."""
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
    """Turn a counter's `inc` into a function that takes the total so far."""
    counted = 0.0

    def take(total: float) -> None:
        nonlocal counted
        increase(total - counted)
        counted = total

    return take
