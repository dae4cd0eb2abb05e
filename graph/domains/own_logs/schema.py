"""The fields that lead from a request log to its service logs, and back."""

import strawberry

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Info, load_by
from graph.api.fields import field
from graph.api.selected import selected_attributes
from graph.core.paging import Page
from graph.domains.own_logs import links
from graph.domains.request_logs import model as request_logs
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.scopes import LOGS_READ
from graph.domains.service_logs import model
from graph.domains.service_logs.access_patterns import ServiceLogs
from graph.domains.service_logs.entities import BY_TIME
from graph.domains.service_logs.scopes import SERVICE_LOGS_READ
from graph.store.ordering import PageRequest

load_requests = load_by(RequestLogs, RequestLogs.of_requests)


@strawberry.type
class LogsOfRequest:
    @connection_field(
        "What the service logged during the request, oldest first. Empty unless the service keeps its own "
        "logs. Of an operation with several root fields, the first one's request log has the lines.",
        BY_TIME,
        scope=SERVICE_LOGS_READ,
        size=relay.PAGE_SIZE,
        cost=10,
        reads=["requestId", "timestamp", "latencyMs"],
    )
    @staticmethod
    async def service_logs(
        request: strawberry.Parent[request_logs.RequestLog], info: Info, page: PageRequest
    ) -> Page[model.ServiceLog]:
        return await info.context.service(ServiceLogs).page(links.logs_of(request), page, forward=True)


@strawberry.type
class RequestOfLog:
    @field(
        "The request during which it was logged. Null unless the service `quakegraph` wrote it, and once "
        "the request log is deleted.",
        scope=LOGS_READ,
        cost=10,
        reads=["service_name", "metadata", "time_unix_nano"],
    )
    @staticmethod
    async def request_log(log: strawberry.Parent[model.ServiceLog], info: Info) -> request_logs.RequestLog | None:
        if not (request := links.request_of(log)):
            return None
        attributes = selected_attributes(info, request_logs.RequestLog)
        return await info.context.loader(load_requests, attributes).load(request)
