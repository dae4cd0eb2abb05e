"""The access patterns of the request logs: insert, page over days, read whole days."""

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import partial, reduce
from typing import NamedTuple

from graph.core.clock import Clock
from graph.core.days import DAY_MS, bucket_of, day_bucket, day_span, days_between
from graph.core.errors import BadUserInput, DatabaseUnavailable
from graph.core.paging import Page, Paging
from graph.core.spans import TimeSpan
from graph.domains.request_logs.budget import Amount, DayCount
from graph.domains.request_logs.entities import LOG, LOG_COUNT, key_of
from graph.domains.request_logs.model import RETENTION_DAYS, RequestLog, RequestLogType, place_of
from graph.store.conditions import Compare, Condition, OneOf, all_of
from graph.store.contract import Database, Put, Update
from graph.store.entity import Key
from graph.store.query import Needed, Partition, Query
from graph.store.records import records_at
from graph.store.time_walk import Promise, Promises, Walk, items_of
from graph.work.account import charge_rows

MOST_ROUTES = 100  # of a filter
LONGEST_ROUTE = 256  # characters; ours are shorter than 30
KEYS_AT_ONCE = 200  # read together in search of a request
UNKNOWN = 1 << 30  # the most matches of a day, so that each day is read on its own


@dataclass(frozen=True, slots=True)
class RequestLogSelection:
    """The request logs of a query. None means no condition."""

    start_ms: int | None = None  # epoch milliseconds, inclusive
    end_ms: int | None = None  # epoch milliseconds, inclusive
    log_types: tuple[RequestLogType, ...] | None = None
    routes: tuple[str, ...] | None = None
    min_status: int | None = None

    def __post_init__(self) -> None:
        if self.start_ms is not None and self.end_ms is not None and self.start_ms > self.end_ms:
            raise BadUserInput("`startTime` must not be greater than `endTime`.")
        if self.routes is not None and len(self.routes) > MOST_ROUTES:
            raise BadUserInput(f"`routes` takes at most {MOST_ROUTES} routes.")
        if max(map(len, self.routes or ()), default=0) > LONGEST_ROUTE:
            raise BadUserInput(f"Each of `routes` has at most {LONGEST_ROUTE} characters.")

    @property
    def condition(self) -> Condition | None:
        """The filter, beside the time."""
        return all_of(
            OneOf("logType", tuple({each.value for each in self.log_types})) if self.log_types is not None else None,
            OneOf("route", self.routes) if self.routes is not None else None,
            Compare("status", ">=", self.min_status) if self.min_status is not None else None,
        )

    def span(self, now: int) -> tuple[int, int]:
        """The first and last millisecond that may have selected logs; `now` in epoch milliseconds."""
        oldest, newest = now - (RETENTION_DAYS + 1) * DAY_MS, now + DAY_MS
        return (
            oldest if self.start_ms is None else max(self.start_ms, oldest),
            newest if self.end_ms is None else min(self.end_ms, newest),
        )


@dataclass(frozen=True, kw_only=True)
class LogPage(Page[RequestLog]):
    """A page of logs, and the number of logs that were left out on the days of its selection."""

    left_out: int


class NearTime(NamedTuple):
    """A request, and when it may have begun."""

    request_id: str
    first_ms: int  # epoch milliseconds, inclusive
    last_ms: int  # epoch milliseconds, inclusive


class RequestLogs:
    """The stored request logs."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def insert(self, log: RequestLog) -> None:
        """Write one log. If its count cannot be written, the log counts all the same."""
        await self._database.put(Put(LOG, log.item))
        with suppress(DatabaseUnavailable):
            await self._count([log])

    async def insert_many(self, logs: Sequence[RequestLog]) -> None:
        """Write logs. If the store fails, some of them may be written.

        They are counted first, so a failure leaves a count too high, never too low.
        """
        await self._count(logs)
        await self._database.put_many([Put(LOG, log.item) for log in logs])

    async def _count(self, logs: Sequence[RequestLog]) -> None:
        amounts: dict[str, Amount] = {}
        for log in logs:
            bucket = day_bucket(log.timestamp)
            amounts[bucket] = amounts.get(bucket, Amount()).plus(1, log.size)
        for bucket, amount in amounts.items():
            await self.add_count(bucket, DayCount(amount))

    async def add_count(self, bucket: str, count: DayCount) -> None:
        """Add to the count of a day. The counts of all processes are added up."""
        left_out = {"leftOut": count.left_out, "catalogueLeftOut": count.catalogue_left_out}
        update = Update(
            LOG_COUNT.key_for(bucket),
            set={"ttl": (day_span(bucket)[1] + RETENTION_DAYS * DAY_MS) // 1000},
            add={"logs": count.stored.rows, "bytes": count.stored.size, **(left_out if count.left_out else {})},
        )
        await self._database.update(update)

    async def counts(self) -> dict[str, DayCount]:
        """Day bucket → the count of its logs, for all days that have one. Logs of other programs are not counted."""
        page = await self._database.query(Query(entity=LOG_COUNT))
        return {
            item["day"]: DayCount(
                Amount(int(item["logs"]), int(item["bytes"])),
                int(item.get("leftOut", 0)),
                int(item.get("catalogueLeftOut", 0)),
            )
            for item in page.items
        }

    async def at(self, keys: Collection[Key], attributes: Needed = None) -> dict[Key, RequestLog]:
        """The existing logs, by their primary keys."""
        return {LOG.key_of(log.item): log for log in await records_at(self._database, RequestLog, keys, attributes)}

    async def by_key(self, keys: Collection[str], attributes: Needed = None) -> dict[str, RequestLog]:
        """The existing logs with these keys of nodes."""
        wanted = {key: its_key for key in keys if (its_key := key_of(key))}
        logs = await self.at(set(wanted.values()), attributes)
        return {key: logs[its_key] for key, its_key in wanted.items() if its_key in logs}

    async def of_requests(self, wanted: Collection[NearTime], attributes: Needed = None) -> dict[NearTime, RequestLog]:
        """The existing logs of these requests.

        Raises:
            QueryTooComplex: The operation in progress may not read so many logs.
        """
        keys = [each for ids, first, last in _joined(wanted) async for each in self._keys(ids, first, last)]
        found = {log.request_id: log for log in (await self.at(keys, attributes)).values()}
        return {request: found[request.request_id] for request in wanted if request.request_id in found}

    async def _keys(self, request_ids: Collection[str], first_ms: int, last_ms: int) -> AsyncIterator[Key]:
        """The primary keys of logs with these ids between two times.

        No index has the ids. So all keys are read, from the last one back until all ids are found.
        """
        missing = set(request_ids)
        days = [(day,) for day in TimeSpan.of(first_ms, last_ms).days(forward=False)]
        between = first_ms, last_ms
        query = Query(
            entity=LOG, partitions=days, between=between, forward=False, limit=KEYS_AT_ONCE, attributes=frozenset()
        )
        async for items in self._database.pages(query, charged=KEYS_AT_ONCE):
            for log in map(RequestLog, items):
                if log.request_id in missing:
                    missing.remove(log.request_id)
                    yield LOG.key_of(log.item)
            if not missing:
                return

    async def page(self, selection: RequestLogSelection, paging: Paging, *, attributes: Needed = None) -> LogPage:
        """A page of the selected logs, newest first."""
        first_ms, last_ms = selection.span(self._clock())
        span = TimeSpan.of(first_ms, last_ms)
        counts = {} if span.is_empty else await self.counts()
        query = Query(entity=LOG, between=(first_ms, last_ms), where=selection.condition, attributes=attributes)
        walk = Walk(self._database, query, partial(_days, span, counts))
        record_of = RequestLog.reading(attributes)
        page = await walk.page(paging, forward=False, place_of=place_of, record_of=record_of)
        return LogPage(**vars(page), left_out=sum_of(counts, span.first, span.last).left_out)

    async def of_days(
        self,
        first: date,
        last: date,
        counts: Mapping[str, DayCount],
        where: Condition | None,
        attributes: Needed = None,
    ) -> AsyncIterator[list[RequestLog]]:
        """All logs of the days that fulfil a condition, a bounded number at a time.

        Args:
            counts: of the logs of these days.

        Raises:
            QueryTooComplex: The operation in progress may not read so many.
        """
        promises = [_promise(bucket_of(day), counts) for day in days_between(first, last)]
        query, record_of = Query(entity=LOG, where=where, attributes=attributes), RequestLog.reading(attributes)
        charged = sum(rows for _, _, rows in promises)
        async for items in items_of(self._database, query, promises):
            await charge_rows(read=max(len(items) - charged, 0))  # those of other programs
            charged = max(charged - len(items), 0)
            yield list(map(record_of, items))


async def _days(
    span: TimeSpan, counts: Mapping[str, DayCount], *, forward: bool, start: Partition | None
) -> AsyncGenerator[Promises, None]:
    """The days of a time range that may have logs."""
    left = span.starting_on(start[0] if start else None, forward=forward)
    if not left.is_empty:
        yield (_promise(day, counts) for day in left.days(forward=forward))


def sum_of(counts: Mapping[str, DayCount], first: str, last: str) -> DayCount:
    """The sum of the counts of the days between two day buckets, both included."""
    return reduce(DayCount.plus, (count for day, count in counts.items() if first <= day <= last), DayCount())


def _joined(wanted: Iterable[NearTime]) -> list[tuple[set[str], int, int]]:
    """Request ids, and the first and last time between which their logs are. Overlapping time ranges are joined."""
    joined: list[tuple[set[str], int, int]] = []
    for request_id, first, last in sorted(wanted, key=lambda each: each.first_ms):
        if joined and first <= joined[-1][2]:
            ids, begin, end = joined.pop()
            joined.append((ids | {request_id}, begin, max(end, last)))
        else:
            joined.append(({request_id}, first, last))
    return joined


def _promise(bucket: str, counts: Mapping[str, DayCount]) -> Promise:
    """A day, which is read on its own, since the number of its matches is unknown."""
    return (bucket,), UNKNOWN, counts.get(bucket, DayCount()).stored.rows
