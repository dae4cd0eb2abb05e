"""Spans of time that USGS is asked for: halved where they hold too much, and what is left of one to ask for."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """A span of time that has at least one millisecond."""

    start_ms: int  # epoch milliseconds, inclusive
    end_ms: int  # epoch milliseconds, inclusive

    def halves(self) -> list["Window"]:
        """The earlier and the later half, which neither overlap nor leave a gap; none of a single millisecond."""
        if self.start_ms == self.end_ms:
            return []
        middle_ms = (self.start_ms + self.end_ms) // 2
        return [Window(self.start_ms, middle_ms), Window(middle_ms + 1, self.end_ms)]

    def without(self, others: Iterable["Window"]) -> list["Window"]:
        """What others leave of it, in order of time."""
        left, start_ms = [], self.start_ms
        for other in sorted(others):
            end_ms = min(other.start_ms - 1, self.end_ms)
            if start_ms <= end_ms:
                left.append(Window(start_ms, end_ms))
            start_ms = max(start_ms, other.end_ms + 1)
        if start_ms <= self.end_ms:
            left.append(Window(start_ms, self.end_ms))
        return left
