"""The budget of request logs: limits for a minute and in all, in rows and in bytes.

Logs are kept for some days, and each day has an equal share of the total. A minute may use what the
settings allow, but no more than ten times its share of the rest of its day. So a flood in the morning
leaves room for the evening.

Within a minute, all logs are kept until half of its allowance is used, then every eighth log until
three quarters are used, then every 64th, and so on. So some logs of a flood are kept until its end.

The logs of refused requests get a tenth of each allowance. Garbage costs its sender next to nothing, and
must not take the place of the logs of requests that were answered.
"""

from collections.abc import Mapping
from math import ceil, log2
from typing import NamedTuple

from graph.core.days import DAY_MS, day_bucket
from graph.domains.request_logs.model import RETENTION_DAYS
from graph.domains.request_logs.settings import RequestLogSettings

MINUTE_MS = 60_000
THINNING = 8  # the factor by which fewer logs are kept, each time that half of the rest is used
NEVER = 1 << 62
BURST = 10  # the number of minutes' shares that one minute may use
REFUSED_PART = 10  # refused requests get one part of so many


class Amount(NamedTuple):
    """A number of logs and their size as JSON."""

    rows: int = 0
    size: int = 0  # bytes

    def plus(self, rows: int, size: int) -> "Amount":
        """The amount with so many more."""
        return Amount(self.rows + rows, self.size + size)


class _Allowance:
    """What a minute may use, and what it has used."""

    __slots__ = ("_allowed", "_seen", "_used")

    def __init__(self, allowed: Amount) -> None:
        self._allowed = allowed
        self._used = Amount()
        self._seen = 0

    def takes(self) -> bool:
        """Whether the next log is kept, as far as this allowance goes."""
        self._seen += 1
        return self._seen % self._one_in() == 0

    def use(self, size: int) -> None:
        """Count a log of so many bytes that is kept."""
        self._used = self._used.plus(1, size)

    def _one_in(self) -> int:
        """One of so many logs is kept now. Once the allowance is used up, the number exceeds that of any minute."""
        used, allowed = self._used, self._allowed
        if not (allowed.rows and allowed.size):
            return NEVER
        left = 1 - max(used.rows / allowed.rows, used.size / allowed.size)
        return THINNING ** int(-log2(left)) if left > 0 else NEVER


class LogBudget:
    """Decides which logs are kept. Each process has its own; it learns from the store what others write."""

    def __init__(self, settings: RequestLogSettings) -> None:
        self.left_out = 0  # logs, since the service started
        self._a_minute = Amount(settings.max_logs_per_minute, settings.max_log_bytes_per_minute)
        self._in_all = Amount(settings.max_logs, settings.max_log_bytes)
        self._stored: Mapping[str, Amount] = {}  # by day, as last read from the store
        self._minute = -1
        self._all = self._of_refused = _Allowance(Amount())
        self._since_stored = Amount()

    def learn(self, stored: Mapping[str, Amount]) -> None:
        """Note the stored amounts, by day bucket."""
        self._stored = stored
        self._since_stored = Amount()

    def takes(self, timestamp: int, size: int, *, is_refusal: bool = False) -> bool:
        """Whether a log is kept. The log is counted in any case.

        Args:
            timestamp: epoch milliseconds.
            size: bytes.
            is_refusal: whether it is the log of a refused request.
        """
        if timestamp // MINUTE_MS != self._minute:
            self._begin_minute(timestamp)
        if (is_refusal and not self._of_refused.takes()) or not self._all.takes():
            self.left_out += 1
            return False
        if is_refusal:
            self._of_refused.use(size)
        self._all.use(size)
        self._since_stored = self._since_stored.plus(1, size)
        return True

    def _begin_minute(self, timestamp: int) -> None:
        self._minute = timestamp // MINUTE_MS
        today = self._stored.get(day_bucket(timestamp), Amount()).plus(*self._since_stored)
        minutes_left = (DAY_MS - timestamp % DAY_MS) / MINUTE_MS

        def allowed(a_minute: int, in_all: int, stored: int) -> int:
            left_of_day = max(in_all / (RETENTION_DAYS + 1) - stored, 0)
            return min(a_minute, int(left_of_day * min(BURST / minutes_left, 1)))

        amount = Amount(*map(allowed, self._a_minute, self._in_all, today))
        self._all = _Allowance(amount)
        self._of_refused = _Allowance(Amount(*(ceil(each / REFUSED_PART) for each in amount)))
