"""How an endpoint does: its failures in a row, and the breaker that they open. No I/O.

    closed ──failures──▶ open ──time──▶ half-open ──success──▶ closed
                          ▲                 │
                          └─────failure─────┘

While the breaker is open, nothing is sent to the endpoint and no attempt is counted. Half-open, one delivery is tried.
An endpoint that fails is left alone for about as long as it has failed, so the tries grow rarer.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

FAILURES_TO_OPEN = 5  # in a row
LONGEST_OPEN_MS = 600_000
DISABLED_AFTER_MS = 5 * 24 * 3_600_000  # of nothing but failures
FAILURES_TO_DISABLE = 10  # at least as many: a rarely used endpoint is not disabled for two failures


class Health(NamedTuple):
    """The state of an endpoint's breaker. It is kept in the endpoint's queue."""

    failures: int = 0  # attempts in a row
    failing_since: int = 0  # epoch milliseconds; 0 without a failure
    open_until: int = 0  # epoch milliseconds; 0 for a closed breaker

    @classmethod
    def of(cls, queue: Mapping[str, Any]) -> Self:
        """That of a stored queue, of which its fields are attributes."""
        return cls(*(int(queue[name]) for name in cls._fields))

    def is_open(self, now: int) -> bool:
        """Whether nothing is sent at this time, epoch milliseconds."""
        return now < self.open_until

    @property
    def is_tried(self) -> bool:
        """Whether one delivery is tried, after the breaker was open."""
        return self.failures >= FAILURES_TO_OPEN

    def after_failure(self, now: int, *, least_ms: int, retry_after_ms: int) -> "Health":
        """After an attempt has failed.

        Args:
            least_ms: the shortest time for which the breaker opens.
            retry_after_ms: how long the endpoint wants to be left alone; 0 if it did not say.
        """
        since = self.failing_since or now
        failures = self.failures + 1
        until = now + retry_after_ms if retry_after_ms else 0
        if failures >= FAILURES_TO_OPEN and not self.is_open(now):
            until = max(until, now + min(max(now - since, least_ms), LONGEST_OPEN_MS))
        return Health(failures, since, max(self.open_until, until))

    def is_hopeless(self, now: int) -> bool:
        """Whether the endpoint should be disabled."""
        return bool(
            self.failing_since
            and now - self.failing_since >= DISABLED_AFTER_MS
            and self.failures >= FAILURES_TO_DISABLE
        )
