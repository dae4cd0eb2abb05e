"""Trigger events as they are stored."""

from typing import Annotated, Any

import strawberry

from graph.api import notices, relay
from graph.api.context import Info
from graph.api.fields import subscription
from graph.domains.triggers.live import TriggerEventBroadcast
from graph.domains.triggers.schema.events import TriggerEvent, TriggerEventFilter, selection_of
from graph.domains.triggers.scopes import TRIGGERS_READ


@strawberry.type
class TriggerEventSubscriptions:
    @subscription(
        "Each of the caller's events that any process stores from now on, once, in the order of storing. "
        "With `after`, first all events that were stored since that one.",
        notices.Notice[TriggerEvent],
        scope=TRIGGERS_READ,
    )
    async def trigger_events(
        self,
        info: Info,
        filter: Annotated[TriggerEventFilter | None, "Which events; by default all."] = None,
        after: relay.After = None,
    ) -> Any:
        broadcast = info.context.service(TriggerEventBroadcast)
        return await broadcast.events(info.context.user, selection_of(filter), after, info.context.charge_replay)
