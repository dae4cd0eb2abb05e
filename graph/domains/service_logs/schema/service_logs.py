"""Service logs: their type, their connection, and the services that write them."""

from datetime import datetime
from typing import Annotated

import strawberry
from strawberry.scalars import JSON

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Info, load_by
from graph.api.fields import field
from graph.api.record_type import record_type
from graph.core.days import datetime_of
from graph.core.paging import Page
from graph.domains.service_logs import model, services
from graph.domains.service_logs.access_patterns import ServiceLogs
from graph.domains.service_logs.model import BY_TIME, LogLevel, ServiceLogType
from graph.domains.service_logs.schema.filters import ServiceLogFilter, ServiceLogOrder, selection_of
from graph.domains.service_logs.scopes import SERVICE_LOGS_READ
from graph.domains.service_logs.services import LoggingServices
from graph.store.ordering import PageRequest

USUAL_SERVICES = 100  # for the price of a list of them


@record_type(
    model.ServiceLog,
    "A log that a service wrote. It never changes.",
    load=load_by(ServiceLogs, ServiceLogs.by_key),
    scope=SERVICE_LOGS_READ,
    pages="service logs",
)
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


@record_type(services.LoggingService, "A service that writes logs.")
class LoggingService:
    name: str = strawberry.field(description="Its name, as logs have it.")

    @field("When its first log was stored.")
    @staticmethod
    def since(service: strawberry.Parent[services.LoggingService]) -> datetime:
        return datetime_of(service.since)


@strawberry.type
class ServiceLogQueries:
    @connection_field(
        "Logs of services in order of time, newest first unless `orderBy` says otherwise.",
        BY_TIME,
        scope=SERVICE_LOGS_READ,
    )
    async def service_logs(
        self,
        info: Info,
        page: PageRequest,
        filter: Annotated[ServiceLogFilter | None, "Which logs; by default all."] = None,
        order_by: Annotated[ServiceLogOrder, "The order."] = ServiceLogOrder.TIME_DESC,
    ) -> Page[model.ServiceLog]:
        forward = order_by is ServiceLogOrder.TIME_ASC
        return await info.context.service(ServiceLogs).page(selection_of(filter), page, forward=forward)

    @field("The services that have written logs, by name.", scope=SERVICE_LOGS_READ, size=USUAL_SERVICES)
    async def logging_services(self, info: Info) -> list[services.LoggingService]:
        return await info.context.service(LoggingServices).all()
