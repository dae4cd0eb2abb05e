"""The windows of queries to USGS: a window can be halved, and parts that are done can be cut out of it."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """A time range of at least one millisecond."""

    start_ms: int  # epoch milliseconds, inclusive
    end_ms: int  # epoch milliseconds, inclusive

    def halves(self) -> list["Window"]:
        """The earlier and the later half, without overlap or gap. A single millisecond has no halves."""
        if self.start_ms == self.end_ms:
            return []
        middle_ms = (self.start_ms + self.end_ms) // 2
        return [Window(self.start_ms, middle_ms), Window(middle_ms + 1, self.end_ms)]

    def without(self, others: Iterable["Window"]) -> list["Window"]:
        """The parts of this window that the others do not cover, in order of time."""
        left, start_ms = [], self.start_ms
        for other in sorted(others):
            end_ms = min(other.start_ms - 1, self.end_ms)
            if start_ms <= end_ms:
                left.append(Window(start_ms, end_ms))
            start_ms = max(start_ms, other.end_ms + 1)
        if start_ms <= self.end_ms:
            left.append(Window(start_ms, self.end_ms))
        return left
