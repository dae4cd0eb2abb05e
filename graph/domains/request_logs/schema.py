"""The request logs in the graph: their types and resolvers."""

from datetime import date, datetime
from typing import Annotated

import strawberry

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Info, load_by
from graph.api.fields import field, optional, shows
from graph.api.record_type import record_type, value_type
from graph.api.scalars import EpochMillis, millis_ceil, millis_floor
from graph.api.selected import needs
from graph.api.sizes import ListSize
from graph.api.times import time_field
from graph.core.days import datetime_of
from graph.domains.request_logs import analytics, model
from graph.domains.request_logs.access_patterns import LogPage, RequestLogs, RequestLogSelection
from graph.domains.request_logs.scopes import LOGS_READ
from graph.store.ordering import PageRequest


@record_type(
    model.RequestLog,
    "One root field of one request, or a request that was refused before any root field ran. "
    "Fields that do not apply are null. Kept for 7 days.",
    load=load_by(RequestLogs, RequestLogs.by_key),
    scope=LOGS_READ,
)
class RequestLog(relay.Node):
    start_time: datetime | None = time_field("starttime", "QUERY: the filter's startTime.", "starttime")
    end_time: datetime | None = time_field("endtime", "QUERY: the filter's endTime.", "endtime")

    @field(
        "The number of logs for which it stands: 1 as long as all are kept. Of too many at a time, one of 8, 64, … is "
        "kept, and has this number. The sum estimates how many there were.",
        reads=["weight"],
    )
    @staticmethod
    def weight(log: strawberry.Parent[model.RequestLog]) -> int:
        return log.stands_for


@record_type(LogPage, "A page of request logs.")
class RequestLogConnection(relay.Connection[RequestLog]):
    left_out: int = shows(
        "The number of logs that were left out on the days that the filter's time range touches, whatever else it "
        "selects. Exact, except that a process that is killed loses its count of the last half second.",
        metadata=needs(),
    )

    @field("Whether logs were left out on these days, because there were too many at a time.", reads=[])
    @staticmethod
    def sampled(page: strawberry.Parent[LogPage]) -> bool:
        return page.left_out > 0


@strawberry.input(description="The selected request logs: those that fulfil all given conditions.")
class RequestLogFilter:
    start_time: datetime | None = optional("Earliest beginning, inclusive.")
    end_time: datetime | None = optional("Latest beginning, inclusive. A date includes that whole day.")
    log_types: list[model.RequestLogType] | None = optional("Whether they stored events or read.")
    routes: list[str] | None = optional("The fields' paths, such as `/earthquakes`; at most 100.")
    min_status: int | None = optional("Least status; 400 selects all failures.")

    @property
    def selection(self) -> RequestLogSelection:
        """The filter as a selection."""
        return RequestLogSelection(
            start_ms=millis_ceil(self.start_time) if self.start_time else None,
            end_ms=millis_floor(self.end_time) if self.end_time else None,
            log_types=None if self.log_types is None else tuple(self.log_types),
            routes=None if self.routes is None else tuple(self.routes),
            min_status=self.min_status,
        )


value_type(
    analytics.PopularFilter,
    starttime={"of": EpochMillis | None},
    endtime={"of": EpochMillis | None},
    computed=["start_time", "end_time"],
)
value_type(analytics.PopularFilters, computed=["sampled"])


class RequestLogQueries:
    @connection_field(
        "Requests of the last 7 days, newest first. A query appears at most a second later.",
        model.BY_TIME,
        scope=LOGS_READ,
    )
    async def request_logs(
        self,
        info: Info,
        page: PageRequest,
        filter: Annotated[RequestLogFilter | None, "Which logs; by default all."] = None,
    ) -> LogPage:
        selection = filter.selection if filter else RequestLogSelection()
        return await info.context.service(RequestLogs).page(selection, page.paging, attributes=page.attributes)

    @field(
        "The most used filters of the `events` queries of some days.",
        scope=LOGS_READ,
        cost=10,  # the logs of its days are charged as they are read
        size=ListSize(slicing_arguments=["limit"], assumed_size=10, sized_fields=["filters"]),
        route="/analytics/popular-filters",
    )
    async def popular_filters(
        self,
        info: Info,
        day: Annotated[date | None, "Last day, UTC; by default today."] = None,
        window_days: Annotated[int, "Number of days, 1 … 7."] = 1,
        limit: Annotated[int, "At most so many filters, 1 … 100."] = 10,
    ) -> analytics.PopularFilters:
        today = datetime_of(info.context.clock()).date()
        return await analytics.popular_filters(info.context.service(RequestLogs), day or today, window_days, limit)
