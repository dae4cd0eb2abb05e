"""The metrics of work in progress."""

from graph.observability.metrics import Metrics
from graph.work.account import Work


def measure_work(work: Work, metrics: Metrics) -> None:
    """Register the metrics of work in progress."""
    heavy = metrics.gauge("heavy_operations", "Operations that have heavy work in progress.", of_all="livesum")
    heavy_waiting = metrics.gauge(
        "heavy_operations_waiting", "Operations that wait for others to end their heavy work.", of_all="livesum"
    )
    waiting = metrics.gauge("loop_waiting", "Pieces of work that wait for the event loop.", of_all="livesum")

    def read() -> None:
        heavy.set(work.heavy.busy)
        heavy_waiting.set(work.heavy.waiting)
        waiting.set(work.pace.waiting)

    metrics.read(read)
