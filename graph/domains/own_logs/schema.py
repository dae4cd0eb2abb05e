"""The fields that lead from a request log to the lines of its request, and back: by the request's id and its time.

Only logs of the service `quakegraph` lead to a request log. Other senders cannot write such logs.
"""

import strawberry

from graph.api.connection_field import connection_field
from graph.api.context import Info, load_by
from graph.api.fields import field
from graph.api.selected import selected_attributes
from graph.core.paging import Page
from graph.domains.request_logs import model as request_logs
from graph.domains.request_logs.access_patterns import NearTime, RequestLogs
from graph.domains.request_logs.scopes import LOGS_READ
from graph.domains.service_logs import model
from graph.domains.service_logs.access_patterns import ServiceLogs
from graph.domains.service_logs.entities import BY_TIME
from graph.domains.service_logs.model import OWN_SERVICE, REQUEST_ID
from graph.domains.service_logs.scopes import SERVICE_LOGS_READ
from graph.domains.service_logs.selection import ServiceLogSelection
from graph.store.ordering import PageRequest

MARGIN_MS = 1000  # a line may be logged shortly before its request's field begins, or after it ends
LONGEST_REQUEST_MS = 120_000  # as GRAPH_INGEST_TIMEOUT is by default, the longest of the timeouts

load_requests = load_by(RequestLogs, RequestLogs.of_requests)


class LogsOfRequest:
    @connection_field(
        "What the service logged during the request, oldest first. Empty unless the service keeps its own "
        "logs. A log has the lines from a second before its root field began until a second after it ended.",
        BY_TIME,
        scope=SERVICE_LOGS_READ,
        cost=10,
        reads=["requestId", "timestamp", "latencyMs"],
    )
    @staticmethod
    async def service_logs(
        request: strawberry.Parent[request_logs.RequestLog], info: Info, page: PageRequest
    ) -> Page[model.ServiceLog]:
        return await info.context.service(ServiceLogs).page(logs_of(request), page, forward=True)


class RequestOfLog:
    @field(
        "The request during which it was logged: the log of its last root field, if it has several. Null unless the "
        "service `quakegraph` wrote it, and once the request log is deleted.",
        scope=LOGS_READ,
        cost=10,
        reads=["service_name", "metadata", "time_unix_nano"],
    )
    @staticmethod
    async def request_log(log: strawberry.Parent[model.ServiceLog], info: Info) -> request_logs.RequestLog | None:
        if not (request := request_of(log)):
            return None
        attributes = selected_attributes(info, request_logs.RequestLog)
        return await info.context.loader(load_requests, attributes).load(request)


def logs_of(request: request_logs.RequestLog) -> ServiceLogSelection:
    """The own logs that belong to a request."""
    begin, end = request.timestamp - MARGIN_MS, request.timestamp + request.latency_ms + MARGIN_MS
    return ServiceLogSelection(
        first=1000 * begin,
        last=1000 * end + 999,
        services=(OWN_SERVICE,),
        metadata=((REQUEST_ID, request.request_id),),
    )


def request_of(log: model.ServiceLog) -> NearTime | None:
    """The id of the request that an own log belongs to, and when it may have begun. None for any other log."""
    request_id = (log.metadata or {}).get(REQUEST_ID)
    if log.service != OWN_SERVICE or not isinstance(request_id, str):
        return None
    time_ms = int(log.time_unix_nano) // 1_000_000
    return NearTime(request_id, time_ms - LONGEST_REQUEST_MS, time_ms + MARGIN_MS)
