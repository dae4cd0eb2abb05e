"""Service logs: their type, their connection, and the services that write them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import strawberry
from strawberry.scalars import JSON
from strawberry.types import Info

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Context
from graph.api.scopes import RequiresScope
from graph.api.sizes import ListSize
from graph.core.days import datetime_of
from graph.core.paging import Page
from graph.domains.service_logs import model, services
from graph.domains.service_logs.access_patterns import ServiceLogs
from graph.domains.service_logs.model import LogLevel, LogOrder, ServiceLogType
from graph.domains.service_logs.schema.filters import ServiceLogFilter, ServiceLogOrder, selection_of
from graph.domains.service_logs.scopes import SERVICE_LOGS_READ
from graph.domains.service_logs.services import LoggingServices
from graph.store.ordering import PageRequest

USUAL_SERVICES = 100  # for the price of a list of them


@strawberry.type(description="A log that a service wrote. It never changes.")
class ServiceLog(relay.Node):
    log_id: strawberry.ID = strawberry.field(description="The log's own id, a UUID.")
    service: str = strawberry.field(description="The service that wrote it.")
    log_type: ServiceLogType = strawberry.field(name="type", description="Its category.")
    level: LogLevel = strawberry.field(description="Its level.")
    severity_number: int = strawberry.field(description="Its severity number as of OpenTelemetry, 1 … 24.")
    severity_text: str | None = strawberry.field(
        description="Its severity as the sender wrote it, such as `SEVERE`; null if it named none."
    )
    message: str = strawberry.field(description="What happened, as the service wrote it.")
    time: datetime = strawberry.field(description="When it happened.")
    time_unix_nano: str = strawberry.field(description="The same, exact: epoch nanoseconds as text.")
    metadata: JSON | None = strawberry.field(description="Additional context, by names that the service chose.")
    trace_id: str | None = strawberry.field(description="Trace that it belongs to, 32 hexadecimal digits.")
    span_id: str | None = strawberry.field(description="Span that it belongs to, 16 hexadecimal digits.")
    event_name: str | None = strawberry.field(description="Name of the event that it records, as of OpenTelemetry.")
    expires_at: datetime | None = strawberry.field(description="When it will be deleted; null for never.")

    @classmethod
    def is_type_of(cls, record: object, info: object) -> bool:
        return isinstance(record, model.ServiceLog)


@strawberry.type(description="A page of service logs.")
class ServiceLogConnection(relay.Connection[ServiceLog]):
    pass


@strawberry.type(description="A service that writes logs.")
class LoggingService:
    name: str = strawberry.field(description="Its name, as logs have it.")

    @strawberry.field(description="When its first log was stored.")
    @staticmethod
    def since(service: strawberry.Parent[services.LoggingService]) -> datetime:
        return datetime_of(service.since)


@strawberry.type
class ServiceLogQueries:
    @connection_field(
        ServiceLogConnection,
        LogOrder(),
        model.ServiceLog,
        description="Logs of services in order of time, newest first unless `orderBy` says otherwise.",
        directives=[RequiresScope(scope=SERVICE_LOGS_READ)],
    )
    async def service_logs(
        self,
        info: Info[Context, None],
        page: PageRequest,
        filter: Annotated[
            ServiceLogFilter | None, strawberry.argument(description="Which logs; by default all.")
        ] = None,
        order_by: Annotated[ServiceLogOrder, strawberry.argument(description="The order.")] = ServiceLogOrder.TIME_DESC,
    ) -> Page[model.ServiceLog]:
        forward = order_by is ServiceLogOrder.TIME_ASC
        return await info.context.service(ServiceLogs).page(selection_of(filter), page, forward=forward)

    @strawberry.field(
        description="The services that have written logs, by name.",
        graphql_type=list[LoggingService],
        directives=[RequiresScope(scope=SERVICE_LOGS_READ), ListSize(assumed_size=USUAL_SERVICES)],
    )
    async def logging_services(self, info: Info[Context, None]) -> Any:
        return await info.context.service(LoggingServices).all()


async def logs_by_key(
    context: Context, keys: Sequence[str], attributes: frozenset[str] | None
) -> Mapping[str, model.ServiceLog]:
    """The existing logs with these nodes' keys, with the needed attributes."""
    return await context.service(ServiceLogs).by_key(keys, attributes)
