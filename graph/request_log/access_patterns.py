"""The access patterns of the request logs: insert, page over days, read whole days."""

from collections.abc import AsyncIterator, Collection, Sequence
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
    log_item,
    log_key,
    log_of,
)
from graph.store.conditions import Compare, Condition, all_of
from graph.store.contract import Bounds, Table
from graph.walk import Promise, Walk

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

    @property
    def condition(self) -> Condition | None:
        """What an item must fulfil besides its time."""
        return all_of(
            Compare("logType", "=", self.log_type.value) if self.log_type else None,
            Compare("route", "=", self.route) if self.route is not None else None,
            Compare("status", ">=", self.min_status) if self.min_status is not None else None,
        )

    @property
    def between(self) -> Bounds:
        """Bounds of the sort key, `<epochMs>#<requestId>`; `~` is behind any request id."""
        return (
            None if self.start_ms is None else f"{self.start_ms}#",
            None if self.end_ms is None else f"{self.end_ms}#~",
        )


class RequestLogs:
    """The stored request logs."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    async def insert(self, log: RequestLog) -> None:
        """Write one log."""
        await self._table.put(log_item(log))

    async def insert_many(self, logs: Sequence[RequestLog]) -> None:
        """Write logs, all or as many as the store took before it failed."""
        await self._table.put_many([log_item(log) for log in logs])

    async def at(self, positions: Collection[Position]) -> dict[Position, RequestLog]:
        """Those of the logs that exist, by position."""
        keys = {(key["pk"], key["sk"]) for key in map(log_key, positions)}
        items = await self._table.get_many(keys) if keys else {}
        logs = [log_of(item) for item in items.values()]
        return {log.position: log for log in logs}

    async def page(self, selection: LogSelection, paging: Paging) -> Page[RequestLog]:
        """A page of the selected logs, newest first."""
        walk = Walk(
            self._table,
            self._table.design.primary,
            partial(self._days, selection),
            selection.between,
            selection.condition,
        )
        return await walk.page(paging, forward=False, key_of=log_key, record_of=log_of)

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
                    yield log_of(item)
                if (start := page.last_key) is None:
                    break

    async def _days(self, selection: LogSelection, *, forward: bool, start: str | None) -> AsyncIterator[Promise]:
        """The days that may hold selected logs. How many each holds is not known, so each is read on its own."""
        now = self._clock()
        first = max(selection.start_ms or 0, now - (RETENTION_DAYS + 1) * DAY_MS)
        last = now + DAY_MS if selection.end_ms is None else min(selection.end_ms, now + DAY_MS)
        if first > last:
            return
        days = [
            day_partition(bucket_of(day)) for day in days_between(date_of(day_bucket(first)), date_of(day_bucket(last)))
        ]
        for partition in days if forward else reversed(days):
            if start is None or (partition >= start if forward else partition <= start):
                yield Promise(partition, UNKNOWN)
