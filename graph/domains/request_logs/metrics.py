"""The metrics of the request logs."""

from graph.domains.request_logs.buffer import LogBuffer
from graph.observability.metrics import Metrics


def measure_buffer(buffer: LogBuffer, metrics: Metrics) -> None:
    """Register the metrics of waiting and lost request logs."""
    lost = metrics.counter("request_logs_lost", "Request logs that were never written.")
    left_out = metrics.counter("request_logs_left_out", "Request logs beyond their budget.")
    waiting = metrics.gauge("request_logs_waiting", "Request logs that wait to be written.", of_all="livesum")
    metrics.total(lost, lambda: buffer.lost)
    metrics.total(left_out, lambda: buffer.left_out)
    metrics.read(lambda: waiting.set(buffer.waiting))
