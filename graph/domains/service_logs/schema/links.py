"""The fields that lead from a request log to its service logs, and back."""

from collections.abc import Sequence

import strawberry
from strawberry.types import Info

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Context
from graph.api.scopes import RequiresScope
from graph.api.selected import needs, selected_attributes
from graph.api.sizes import Cost
from graph.core.paging import Page
from graph.domains.request_logs import model as request_logs
from graph.domains.request_logs.access_patterns import NearTime, RequestLogs
from graph.domains.request_logs.schema import RequestLog
from graph.domains.request_logs.scopes import LOGS_READ
from graph.domains.service_logs import links, model
from graph.domains.service_logs.access_patterns import ServiceLogs
from graph.domains.service_logs.model import LogOrder
from graph.domains.service_logs.schema.service_logs import ServiceLogConnection
from graph.domains.service_logs.scopes import SERVICE_LOGS_READ
from graph.store.ordering import PageRequest


@strawberry.type
class LogsOfRequest:
    @connection_field(
        ServiceLogConnection,
        LogOrder(),
        model.ServiceLog,
        description="What the service logged during the request, oldest first. Empty unless the service keeps its own "
        "logs. Of an operation with several root fields, the first one's request log has the lines.",
        directives=[RequiresScope(scope=SERVICE_LOGS_READ), relay.PAGE_SIZE, Cost(weight="10")],
        metadata=needs("requestId", "timestamp", "latencyMs"),
    )
    @staticmethod
    async def service_logs(
        request: strawberry.Parent[request_logs.RequestLog], info: Info[Context, None], page: PageRequest
    ) -> Page[model.ServiceLog]:
        return await info.context.service(ServiceLogs).page(links.logs_of(request), page, forward=True)


@strawberry.type
class RequestOfLog:
    @strawberry.field(
        description="The request during which it was logged. Null unless the service `quakegraph` wrote it, and once "
        "the request log is deleted.",
        graphql_type=RequestLog | None,
        directives=[RequiresScope(scope=LOGS_READ), Cost(weight="10")],
        metadata=needs("service_name", "metadata", "time_unix_nano"),
    )
    @staticmethod
    async def request_log(
        log: strawberry.Parent[model.ServiceLog], info: Info[Context, None]
    ) -> request_logs.RequestLog | None:
        if not (request := links.request_of(log)):
            return None
        return await info.context.loader(_requests, selected_attributes(info, request_logs.RequestLog)).load(request)


async def _requests(
    context: Context, attributes: frozenset[str] | None, wanted: Sequence[NearTime]
) -> list[request_logs.RequestLog | None]:
    """The request logs of these requests, in the same order."""
    found = await context.service(RequestLogs).of_requests(wanted, attributes)
    return [found.get(request.request_id) for request in wanted]
