"""Trigger events as they are stored."""

from collections.abc import AsyncGenerator
from typing import Annotated, Any

import strawberry
from strawberry.types import Info

from graph.api import notices, relay
from graph.api.context import Context
from graph.api.scopes import RequiresScope
from graph.api.users import user
from graph.domains.triggers.live import TriggerEventBroadcast
from graph.domains.triggers.schema.events import TriggerEvent, TriggerEventFilter, selection_of
from graph.domains.triggers.scopes import TRIGGERS_READ


@strawberry.type
class TriggerEventSubscriptions:
    @strawberry.subscription(
        description="Each of the caller's events that any process stores from now on, once, in the order of storing. "
        "With `after`, first all events that were stored since that one.",
        graphql_type=AsyncGenerator[notices.Notice[TriggerEvent], None],
        directives=[RequiresScope(scope=TRIGGERS_READ)],
    )
    async def trigger_events(
        self,
        info: Info[Context, None],
        filter: Annotated[
            TriggerEventFilter | None, strawberry.argument(description="Which events; by default all.")
        ] = None,
        after: relay.After = None,
    ) -> Any:
        broadcast = info.context.service(TriggerEventBroadcast)
        return await broadcast.events(user(info), selection_of(filter), after, info.context.charge_replay)
