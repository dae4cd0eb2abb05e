"""How many request logs are written: so many a minute, so many in all, in rows and in bytes.

Logs are kept for some days, and each day has an equal share of the whole. A minute may take what the
settings allow, and no more than ten times its part of what is left of its day. So a flood in the
morning leaves room for the evening.

Within a minute, all logs are kept until half of its allowance is used, then every eighth one until
three quarters are, then every 64th, and so on: of a flood some is seen until its end.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, log2
from typing import Self

from graph.core.days import DAY_MS, day_bucket
from graph.domains.request_logs.model import RETENTION_DAYS
from graph.settings import Settings

MINUTE_MS = 60_000
THINNING = 8  # one of how many is kept, each time that half of what was left is used
NEVER = 1 << 62
BURST = 10  # minutes' parts of a day that one minute may take


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of logs and their size as JSON."""

    rows: int = 0
    size: int = 0  # bytes

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.rows + other.rows, self.size + other.size)


@dataclass(frozen=True, slots=True)
class LogLimits:
    """The most that is written."""

    a_minute: Amount
    in_all: Amount

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Those that the settings name."""
        return cls(
            Amount(settings.max_logs_per_minute, settings.max_log_bytes_per_minute),
            Amount(settings.max_logs, settings.max_log_bytes),
        )


class LogBudget:
    """Says which logs are kept. One for each process; what others write is known once it is stored."""

    def __init__(self, limits: LogLimits) -> None:
        self.left_out = 0  # logs, since the service started
        self._limits = limits
        self._stored: Mapping[str, Amount] = {}  # by day, as last read from the store
        self._minute = -1
        self._allowance = Amount()
        self._used = Amount()
        self._seen = 0  # in this minute
        self._since_stored = Amount()

    def learn(self, stored: Mapping[str, Amount]) -> None:
        """Take in how much is stored, by day bucket."""
        self._stored = stored
        self._since_stored = Amount()

    def takes(self, timestamp: int, size: int) -> bool:
        """Whether a log is kept. It is counted either way.

        Args:
            timestamp: epoch milliseconds.
            size: bytes.
        """
        if timestamp // MINUTE_MS != self._minute:
            self._begin_minute(timestamp)
        self._seen += 1
        if self._seen % self._one_in():
            self.left_out += 1
            return False
        kept = Amount(1, size)
        self._used += kept
        self._since_stored += kept
        return True

    def _one_in(self) -> int:
        """One of how many logs is kept now. More than come in any minute once the allowance is used up."""
        parts = [
            used / most if most else inf
            for used, most in ((self._used.rows, self._allowance.rows), (self._used.size, self._allowance.size))
        ]
        left = 1 - max(parts)
        return THINNING ** int(-log2(left)) if left > 0 else NEVER

    def _begin_minute(self, timestamp: int) -> None:
        self._minute = timestamp // MINUTE_MS
        self._used, self._seen = Amount(), 0
        today = self._stored.get(day_bucket(timestamp), Amount()) + self._since_stored
        minutes_left = (DAY_MS - timestamp % DAY_MS) / MINUTE_MS

        def allowed(a_minute: int, in_all: int, stored: int) -> int:
            left_of_day = max(in_all / (RETENTION_DAYS + 1) - stored, 0)
            return min(a_minute, int(left_of_day * min(BURST / minutes_left, 1)))

        limits = self._limits
        self._allowance = Amount(
            allowed(limits.a_minute.rows, limits.in_all.rows, today.rows),
            allowed(limits.a_minute.size, limits.in_all.size, today.size),
        )
