"""The metrics of the request logs."""

from graph.domains.request_logs.buffer import LogBuffer
from graph.observability.metrics import Metrics
from graph.work.write_buffer import measure_waiting


def measure_buffer(buffer: LogBuffer, metrics: Metrics) -> None:
    """Register the metrics of waiting and lost request logs, and of those beyond their budget."""
    measure_waiting(buffer, metrics, "request_logs", "Request logs")
    left_out = metrics.counter("request_logs_left_out", "Request logs beyond their budget.")
    metrics.total(left_out, lambda: buffer.left_out)
