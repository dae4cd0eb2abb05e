"""The budget of request logs: limits for a minute and for a day, in rows and in bytes.

All logs are kept until a limit is reached. Beyond it, a sample is kept, which has at most an eighth as many: every
eighth log until half of this room is used, then every 64th, and so on. So some logs of a flood are kept until its end.
A log of the sample has a weight, the number of logs for which it stands. The random ids of requests decide which logs
are kept, so a sample has no rhythm that a client's requests may have, too.

Logs are kept for some days, and each day has an equal share of the total. A flood in the morning may use all of it.
Then the rest of the day is a sample.

The logs of refused requests get a tenth of each limit. Garbage costs its sender next to nothing, and must not take the
place of the logs of requests that were answered.
"""

from collections.abc import Mapping
from math import ceil, log2
from typing import NamedTuple

from graph.core.days import day_bucket
from graph.domains.request_logs.model import MOST_WEIGHT, RETENTION_DAYS
from graph.domains.request_logs.settings import RequestLogSettings

MINUTE_MS = 60_000
DAYS = RETENTION_DAYS + 1  # that have logs at a time
SAMPLE = 8  # the sample has one part of so many of what is kept whole
THINNING = 8  # the factor by which fewer logs are kept, each time that half of the rest is used
NEVER = 1 << 62
REFUSED_PART = 10  # refused requests get one part of so many
RANDOM_DIGITS = 12  # the last hexadecimal digits of an id


class Amount(NamedTuple):
    """A number of logs and their size as JSON."""

    rows: int = 0
    size: int = 0  # bytes

    def plus(self, rows: int, size: int) -> "Amount":
        """The amount with so many more."""
        return Amount(self.rows + rows, self.size + size)

    def share(self, parts: int) -> "Amount":
        """One of so many equal parts, rounded up."""
        return Amount(ceil(self.rows / parts), ceil(self.size / parts))


NONE = Amount()


class DayCount(NamedTuple):
    """The logs of a day: those that are stored, and those that were left out."""

    stored: Amount = NONE
    left_out: int = 0
    catalogue_left_out: int = 0  # those of the catalogue's queries

    def plus(self, other: "DayCount") -> "DayCount":
        """The sum of two."""
        return DayCount(
            self.stored.plus(*other.stored),
            self.left_out + other.left_out,
            self.catalogue_left_out + other.catalogue_left_out,
        )


class _Allowance:
    """What may be kept whole for some time, and what is used of it."""

    __slots__ = ("_allowed", "used")

    def __init__(self, allowed: Amount, used: Amount = NONE) -> None:
        self._allowed = allowed
        self.used = used

    @property
    def one_in(self) -> int:
        """One of so many logs is kept now. Once the sample is full, the number exceeds that of any day."""
        used, allowed = self.used, self._allowed
        if used.rows < allowed.rows and used.size < allowed.size:
            return 1
        if not (allowed.rows and allowed.size):
            return NEVER
        left = 1 - SAMPLE * (max(used.rows / allowed.rows, used.size / allowed.size) - 1)
        return min(THINNING ** int(1 - log2(left)), MOST_WEIGHT) if left > 0 else NEVER


class LogBudget:
    """Decides which logs are kept. Each process has its own; it learns from the store what others write."""

    def __init__(self, settings: RequestLogSettings) -> None:
        self.left_out = 0  # logs, since the service started
        self._a_minute = Amount(settings.max_logs_per_minute, settings.max_log_bytes_per_minute)
        in_all = Amount(settings.max_logs, settings.max_log_bytes)
        self._a_day = Amount(*(ceil(each * SAMPLE / (SAMPLE + 1) / DAYS) for each in in_all))
        self._stored: Mapping[str, Amount] = {}  # by day, as last read from the store
        self._minute = -1
        self._day = ""
        self._of_day = self._refused_of_day = self._of_minute = self._refused_of_minute = _Allowance(NONE)

    def learn(self, stored: Mapping[str, Amount]) -> None:
        """Note the stored amounts, by day bucket."""
        self._stored = stored
        self._of_day.used = stored.get(self._day, NONE)

    def weight(self, request_id: str, ended: int, size: int, *, is_refusal: bool = False) -> int:
        """The number of logs for which a log stands; 0 if it is left out. The log is counted in any case.

        Args:
            request_id: a random UUID.
            ended: when the request ended, epoch milliseconds. A stream may have begun hours before.
            size: bytes.
            is_refusal: whether it is the log of a refused request.
        """
        # The further root fields of a request have later times than their own.
        if not 0 <= self._minute - ended // MINUTE_MS <= 1:
            self._begin_minute(ended)
        allowances = [self._of_minute, self._of_day]
        if is_refusal:
            allowances += self._refused_of_minute, self._refused_of_day
        one_in = max([each.one_in for each in allowances])
        if one_in == NEVER or (one_in > 1 and int(request_id[-RANDOM_DIGITS:], 16) % one_in):
            self.left_out += 1
            return 0
        for each in allowances:
            each.used = each.used.plus(1, size)
        return one_in

    def _begin_minute(self, time_ms: int) -> None:
        self._minute = time_ms // MINUTE_MS
        self._of_minute = _Allowance(self._a_minute)
        self._refused_of_minute = _Allowance(self._a_minute.share(REFUSED_PART))
        if (day := day_bucket(time_ms)) != self._day:
            self._day = day
            self._of_day = _Allowance(self._a_day, self._stored.get(day, NONE))
            self._refused_of_day = _Allowance(self._a_day.share(REFUSED_PART))
