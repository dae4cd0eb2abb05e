"""The most popular filters of the catalogue's queries, counted from their logs."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from graph.core.days import bucket_of, possible_datetime
from graph.core.described import described, value
from graph.core.errors import BadUserInput
from graph.domains.earthquakes.model import CATALOGUE_ROUTE, INT_END
from graph.domains.request_logs.access_patterns import RequestLogs, sum_of
from graph.domains.request_logs.model import RETENTION_DAYS, RequestLog, RequestLogType
from graph.store.conditions import Compare, all_of

READ = frozenset(  # of each log
    {"starttime", "endtime", "minmagnitude", "pageSize", "hasNextToken", "resultCount", "weight"}
)
MOST_FILTERS = 100


@value
class PopularFilter:
    """One combination of filter values, and its use."""

    starttime: int | None = described("As documented: the filter's startTime, epoch milliseconds.")
    endtime: int | None = described("As documented: the filter's endTime, epoch milliseconds.")
    minmagnitude: float | None = described("As documented: the filter's minMagnitude.")
    page_size: int | None = described("The requested page size.")
    hits: int = described("Number of queries; an estimate if they are `sampled`.")
    has_next_token_count: int = described("Number of these queries whose page was not the last.")
    avg_result_count: float = described("Average number of events on the page of a successful query.")

    @property
    def start_time(self) -> datetime | None:
        """The filter's startTime."""
        return None if self.starttime is None else possible_datetime(self.starttime)

    @property
    def end_time(self) -> datetime | None:
        """The filter's endTime."""
        return None if self.endtime is None else possible_datetime(self.endtime)


@value
class PopularFilters:
    """The filters of the `events` queries of some days, the most used first."""

    window_start: date = described("First day, UTC, inclusive.")
    window_end: date = described("Last day, UTC, inclusive.")
    total_requests: int = described("Number of `events` queries on these days, those without a log among them.")
    left_out: int = described(
        "Number of these queries that have no log. Exact, except that a process that is killed loses its count of the "
        "last half second."
    )
    filters: list[PopularFilter] = described("The most used filters, most hits first.")

    @property
    def sampled(self) -> bool:
        """Whether some of these queries have no log, because there were too many at a time. Then each log of a
        sample counts as the queries for which it stands. So the hits of a flood and of a quiet hour can be compared,
        and those of all filters add up to about `totalRequests`."""
        return self.left_out > 0


async def popular_filters(logs: RequestLogs, day: date, window_days: int, limit: int) -> PopularFilters:
    """Count the filters of the events queries of the `window_days` days that end on `day`.

    Raises:
        BadUserInput: There are not 1 to 7 days, for which logs are kept, or `limit` is not between 1 and 100.
    """
    if not 1 <= window_days <= RETENTION_DAYS:
        raise BadUserInput(f"`windowDays` must lie between 1 and {RETENTION_DAYS}: logs are kept no longer.")
    if not 1 <= limit <= MOST_FILTERS:
        raise BadUserInput(f"`limit` must lie between 1 and {MOST_FILTERS}.")
    if day.toordinal() < window_days:
        raise BadUserInput("`day` is too early: choose a later day, or fewer `windowDays`.")
    first = day - timedelta(days=window_days - 1)
    where = all_of(Compare("logType", "=", RequestLogType.QUERY.value), Compare("route", "=", CATALOGUE_ROUTE))
    counts = await logs.counts()
    left_out = sum_of(counts, bucket_of(first), bucket_of(day)).catalogue_left_out
    kept = 0
    uses: defaultdict[tuple[int | None, int | None, float | None, int | None], _Use] = defaultdict(_Use)
    async for some in logs.of_days(first, day, counts, where, READ):
        kept += len(some)
        for log in some:
            uses[log.starttime, log.endtime, log.minmagnitude, log.page_size].count(log)
    popular = [
        PopularFilter(
            *values,
            hits=min(use.hits, INT_END),
            has_next_token_count=min(use.more, INT_END),
            avg_result_count=use.results / use.pages if use.pages else 0.0,
        )
        for values, use in uses.items()
    ]
    popular.sort(key=lambda each: (-each.hits, str(each)))  # the second key gives ties a fixed order
    return PopularFilters(first, day, kept + left_out, left_out, popular[:limit])


@dataclass(slots=True)
class _Use:
    hits: int = 0
    more: int = 0
    pages: int = 0
    results: int = 0

    def count(self, log: RequestLog) -> None:
        self.hits += log.stands_for
        self.more += log.stands_for * bool(log.has_next_token)
        if log.result_count is not None:
            self.pages += log.stands_for
            self.results += log.stands_for * log.result_count
