"""Service logs: their type, their list and stream, and the services that write them."""

from typing import Annotated, Any

import strawberry
from strawberry import auto

from graph.api import notices, relay
from graph.api.connection_field import connection_field
from graph.api.context import Info, load_by
from graph.api.fields import field, subscription
from graph.api.record_type import record_type
from graph.core.paging import Page
from graph.domains.service_logs import model
from graph.domains.service_logs.access_patterns import ServiceLogs
from graph.domains.service_logs.entities import BY_TIME
from graph.domains.service_logs.live import ServiceLogBroadcast
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
    log_type: auto = strawberry.field(name="type")
    trace_id: str | None
    span_id: str | None


@record_type(model.LoggingService)
class LoggingService:
    pass


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
    async def logging_services(self, info: Info) -> list[model.LoggingService]:
        return await info.context.service(LoggingServices).all()


class ServiceLogSubscriptions:
    @subscription(
        "Each log that any process stores from now on, once, in the order of storing. With `after`, first "
        "all logs that were stored since that one.",
        notices.Notice[ServiceLog],
        scope=SERVICE_LOGS_READ,
    )
    async def service_logs(
        self,
        info: Info,
        filter: Annotated[ServiceLogFilter | None, "Which logs; by default all."] = None,
        after: notices.After = None,
    ) -> Any:
        broadcast = info.context.service(ServiceLogBroadcast)
        return await broadcast.logs(selection_of(filter), after, info.context.charge_replay)
