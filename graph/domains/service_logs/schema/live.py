"""Service logs as they are stored."""

from collections.abc import AsyncGenerator
from typing import Annotated, Any

import strawberry
from strawberry.types import Info

from graph.api import notices, relay
from graph.api.context import Context
from graph.api.scopes import RequiresScope
from graph.domains.service_logs.live import ServiceLogBroadcast
from graph.domains.service_logs.schema.filters import ServiceLogFilter, selection_of
from graph.domains.service_logs.schema.service_logs import ServiceLog
from graph.domains.service_logs.scopes import SERVICE_LOGS_READ


@strawberry.type
class ServiceLogSubscriptions:
    @strawberry.subscription(
        description="Each log that any process stores from now on, once, in the order of storing. With `after`, first "
        "all logs that were stored since that one.",
        graphql_type=AsyncGenerator[notices.Notice[ServiceLog], None],
        directives=[RequiresScope(scope=SERVICE_LOGS_READ)],
    )
    async def service_logs(
        self,
        info: Info[Context, None],
        filter: Annotated[
            ServiceLogFilter | None, strawberry.argument(description="Which logs; by default all.")
        ] = None,
        after: relay.After = None,
    ) -> Any:
        broadcast = info.context.service(ServiceLogBroadcast)
        return await broadcast.logs(selection_of(filter), after, info.context.charge_replay)
