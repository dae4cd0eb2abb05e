"""The access patterns of the request logs: insert, page over days, read whole days."""

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from graph.clock import Clock
from graph.days import DAY_MS, bucket_of, date_of, day_bucket, days_between
from graph.errors import BadUserInput
from graph.paging import Page, Paging, Position
from graph.request_log.model import (
    RETENTION_DAYS,
    LogType,
    RequestLog,
    day_partition,
    log_key,
)
from graph.store.conditions import Compare, Condition, all_of
from graph.store.contract import Table
from graph.walk import Promise, Promises, Walk

LONGEST_ROUTE = 256  # characters; ours are shorter than 30
ITEMS_AT_ONCE = 1000  # of a day that is read whole
UNKNOWN = 1 << 30  # how many logs a day holds at most, so that it is read on its own


@dataclass(frozen=True, slots=True)
class LogSelection:
    """The request logs that a query is about. What is None is not asked about."""

    start_ms: int | None = None  # epoch milliseconds, inclusive
    end_ms: int | None = None  # epoch milliseconds, inclusive
    log_type: LogType | None = None
    route: str | None = None
    min_status: int | None = None

    def __post_init__(self) -> None:
        if self.start_ms is not None and self.end_ms is not None and self.start_ms > self.end_ms:
            raise BadUserInput("`startTime` must not be greater than `endTime`.")
        if self.route is not None and len(self.route) > LONGEST_ROUTE:
            raise BadUserInput(f"`route` has at most {LONGEST_ROUTE} characters.")

    @property
    def condition(self) -> Condition | None:
        """What an item must fulfil besides its time."""
        return all_of(
            Compare("logType", "=", self.log_type.value) if self.log_type else None,
            Compare("route", "=", self.route) if self.route is not None else None,
            Compare("status", ">=", self.min_status) if self.min_status is not None else None,
        )

    def span(self, now: int) -> tuple[int, int]:
        """The first and last millisecond of which there may be selected logs; `now` in epoch milliseconds."""
        oldest, newest = now - (RETENTION_DAYS + 1) * DAY_MS, now + DAY_MS
        return (
            oldest if self.start_ms is None else max(self.start_ms, oldest),
            newest if self.end_ms is None else min(self.end_ms, newest),
        )


class RequestLogs:
    """The stored request logs."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    async def insert(self, log: RequestLog) -> None:
        """Write one log."""
        await self._table.put(log.item)

    async def insert_many(self, logs: Sequence[RequestLog]) -> None:
        """Write logs, all or as many as the store took before it failed."""
        await self._table.put_many([log.item for log in logs])

    async def at(self, positions: Collection[Position]) -> dict[Position, RequestLog]:
        """Those of the logs that exist, by position."""
        keys = {(key["pk"], key["sk"]) for key in map(log_key, positions)}
        items = await self._table.get_many(keys) if keys else {}
        logs = [RequestLog(item) for item in items.values()]
        return {log.position: log for log in logs}

    async def page(self, selection: LogSelection, paging: Paging) -> Page[RequestLog]:
        """A page of the selected logs, newest first."""
        first_ms, last_ms = selection.span(self._clock())
        walk = Walk(
            self._table,
            self._table.design.primary,
            partial(_days, first_ms, last_ms),
            # Sort keys are texts, `<epochMs>#<requestId>`: near now all times have as many digits, and `~` ends a tie.
            (f"{first_ms}#", f"{last_ms}#~"),
            selection.condition,
        )
        return await walk.page(paging, forward=False, key_of=log_key, record_of=RequestLog)

    async def of_days(self, first: date, last: date, where: Condition | None) -> AsyncIterator[RequestLog]:
        """Every log of the days that fulfils a condition, a bounded number at a time."""
        for day in days_between(first, last):
            start = None
            while True:
                page = await self._table.query(
                    self._table.design.primary,
                    day_partition(bucket_of(day)),
                    start=start,
                    limit=ITEMS_AT_ONCE,
                    where=where,
                )
                for item in page.items:
                    yield RequestLog(item)
                if (start := page.last_key) is None:
                    break


async def _days(first_ms: int, last_ms: int, *, forward: bool, start: str | None) -> AsyncGenerator[Promises, None]:
    """The days that may hold logs of a span. How many each holds is not known, so each is read on its own."""
    if first_ms > last_ms:
        return
    first, last = date_of(day_bucket(first_ms)), date_of(day_bucket(last_ms))
    days = [day_partition(bucket_of(day)) for day in days_between(first, last)]
    yield (
        Promise(partition, UNKNOWN)
        for partition in (days if forward else reversed(days))
        if start is None or (partition >= start if forward else partition <= start)
    )
