"""Service logs as they are stored."""

from typing import Annotated, Any

import strawberry

from graph.api import notices, relay
from graph.api.context import Info
from graph.api.fields import subscription
from graph.domains.service_logs.live import ServiceLogBroadcast
from graph.domains.service_logs.schema.filters import ServiceLogFilter, selection_of
from graph.domains.service_logs.schema.service_logs import ServiceLog
from graph.domains.service_logs.scopes import SERVICE_LOGS_READ


@strawberry.type
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
        after: relay.After = None,
    ) -> Any:
        broadcast = info.context.service(ServiceLogBroadcast)
        return await broadcast.logs(selection_of(filter), after, info.context.charge_replay)
