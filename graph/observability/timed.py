"""What is counted by its outcome and timed, thousands of times a second.

prometheus-client takes a lock for each number that it changes, three for one thing that happened,
which is 2.5 µs. Here they are plain numbers, at 0.4 µs, and go into its metrics before these are
read; where another process may read them, at once.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from prometheus_client import Counter, Histogram


class Timed:
    """A counter by label and outcome, and a histogram of seconds by label."""

    def __init__(self, counter: Counter, histogram: Histogram, bounds: Sequence[float], *, at_once: bool) -> None:
        self._counter = counter
        self._histogram = histogram
        self._bounds = (*bounds, inf)
        self._at_once = at_once
        self._counts: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._times: defaultdict[str, _Times] = defaultdict(lambda: _Times([0] * len(self._bounds)))

    def declare(self, label: str, outcome: str) -> None:
        """Have the counter stand at 0: a rate is known only of one that was there before."""
        self._counter.labels(label, outcome)

    def add(self, label: str, outcome: str, seconds: float) -> None:
        """It happened once more. Called from the event loop alone, as `hand_over` is."""
        self._counts[label, outcome] += 1
        times = self._times[label]
        times.total += seconds
        times.counts[bisect_left(self._bounds, seconds)] += 1
        if self._at_once:
            self.hand_over()

    def hand_over(self) -> None:
        """Add to the metrics what was added here since."""
        for (label, outcome), count in self._counts.items():
            self._counter.labels(label, outcome).inc(count)
        for label, times in self._times.items():
            seconds = self._histogram.labels(label)
            # There is no method to observe many at once; these two are what `observe` changes.
            seconds._sum.inc(times.total)
            for bucket, count in zip(seconds._buckets, times.counts, strict=True):
                bucket.inc(count)
        self._counts.clear()
        self._times.clear()


@dataclass(slots=True)
class _Times:
    counts: list[int]  # by bucket, those of lower ones not included
    total: float = 0.0  # seconds
