"""The metrics of the catalogue: ingests, polling, subscriptions and summaries."""

from functools import cache
from math import inf

from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.ingest.status import IngestStatusReader
from graph.domains.earthquakes.revisions.live import EventBroadcast
from graph.domains.earthquakes.summaries import SummaryStatusReader
from graph.observability.metrics import REQUEST_SECONDS, Metrics


class IngestMetrics:
    """The metrics of ingests."""

    def __init__(self, metrics: Metrics) -> None:
        self._ingests = metrics.timed(
            metrics.counter("ingests", "Ingests, polls among them, by outcome.", "route", "code"),
            *("ingest", "Time of an ingest.", "route", REQUEST_SECONDS),
        )
        self._events = cache(metrics.counter("ingest_events", "What became of events.", "route", "outcome").labels)
        self._retries = metrics.counter("upstream_retries", "Attempts on USGS after the first.")

    def add(self, route: str, report: IngestReport, code: str) -> None:
        """Count an ingest by its report."""
        self._ingests.add(route, code, report.latency_ms / 1000)
        for outcome in ("upserted", "revised", "skipped", "rejected"):
            self._events(route, outcome).inc(getattr(report, outcome))
        self._retries.inc(report.retries)


def measure_broadcast(broadcast: EventBroadcast, metrics: Metrics) -> None:
    """Register the metrics of subscriptions."""
    subscriptions = metrics.gauge("subscriptions", "Subscriptions that are open.", of_all="livesum")
    sent = metrics.counter("subscription_events", "Events that were handed to subscribers.")
    dropped = metrics.counter("subscription_events_lost", "Events that subscribers were too slow for.")
    metrics.total(sent, lambda: broadcast.sent)
    metrics.total(dropped, lambda: broadcast.dropped)
    metrics.read(lambda: subscriptions.set(broadcast.subscriptions))


def measure_ingest_status(status: IngestStatusReader, metrics: Metrics) -> None:
    """Register the metrics of polling and of the newest event's age, as far as this process knows.

    All processes report the same values, each as of its last read.
    """
    last_poll = metrics.gauge(
        "poll_last_success_timestamp_seconds", "When USGS was last polled; 0 for never.", of_all="livemax"
    )
    failures = metrics.gauge("poll_failures", "Polls that failed since the last success.", of_all="livemax")
    age = metrics.gauge("newest_event_lag_seconds", "Time since the newest event; +Inf without one.", of_all="livemin")
    age.set(inf)

    def read() -> None:
        if known := status.known:
            lag = known.newest_event_lag_seconds
            last_poll.set((known.last_success_at or 0) / 1000)
            failures.set(known.failures)
            age.set(inf if lag is None else lag)

    metrics.read(read)


def measure_summaries(status: SummaryStatusReader, metrics: Metrics) -> None:
    """Register the metric of wrong summaries, as far as this process knows. All processes report the same value."""
    wrong = metrics.gauge("summaries_wrong_days", "Days whose summary does not count their events.", of_all="livemax")
    metrics.read(lambda: wrong.set(len(status.known.wrong_days) if status.known else 0))
