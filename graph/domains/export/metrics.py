"""The metrics of exports."""

from graph.observability.metrics import Metrics


class ExportMetrics:
    """The metrics of exports over HTTP."""

    def __init__(self, metrics: Metrics) -> None:
        self._exports = metrics.counter("exports", "Exports, by outcome.", "format", "code")
        self._events = metrics.counter("export_events", "Events that were exported.", "format")

    def add(self, format_: str, code: str, events: int) -> None:
        """Count an export that has ended."""
        self._exports.labels(format_, code).inc()
        self._events.labels(format_).inc(events)
