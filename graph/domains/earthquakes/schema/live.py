"""Events as they are stored."""

from collections.abc import AsyncGenerator
from typing import Annotated, Any

import strawberry
from strawberry.types import Info

from graph.api.context import Context
from graph.api.recording import recorded
from graph.api.scopes import RequiresScope
from graph.domains.earthquakes.live import EventBroadcast
from graph.domains.earthquakes.schema.events import Event, EventFilter, filter_facts
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.earthquakes.selection import Selection


@strawberry.type(description="A message to a subscriber: a stored event, or the number of dropped events.")
class EventNotice:
    record: Event | None = strawberry.field(name="event", description="The event; null where `lost` is not 0.")
    cursor: str = strawberry.field(
        description="The cursor of this event, or of the last one before the lost ones: pass it as `after` to resume."
    )
    dropped: int = strawberry.field(
        name="lost", description="How many events were dropped here, since the client did not read them fast enough."
    )


@strawberry.type
class EventSubscriptions:
    @strawberry.subscription(
        description="Each event that any process stores from now on, once, in the order of storing. "
        "With `after`, first all events that were stored since then.",
        graphql_type=AsyncGenerator[EventNotice, None],
        directives=[RequiresScope(scope=EVENTS_READ)],
        metadata=recorded("/earthquakes/live", facts=filter_facts),
    )
    async def events(
        self,
        info: Info[Context, None],
        filter: Annotated[EventFilter | None, strawberry.argument(description="Which events; by default all.")] = None,
        after: Annotated[
            str | None,
            strawberry.argument(description="An event's cursor, from a notice or an edge: begin after this event."),
        ] = None,
    ) -> Any:
        selection = filter.selection if filter else Selection()
        return await info.context.service(EventBroadcast).events(selection, after, info.context.charge_replay)
