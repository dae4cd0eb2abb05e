"""Events as they are stored."""

from collections.abc import AsyncGenerator
from typing import Annotated, Any

import strawberry
from strawberry.types import Info

from graph.access.callers import Scope
from graph.api.context import Context
from graph.api.recording import Logged
from graph.api.scopes import RequiresScope
from graph.domains.earthquakes.schema.events import Event, EventFilter, window_facts
from graph.domains.earthquakes.selection import Selection


@strawberry.type(description="A word to a subscriber: an event that was stored, or that there was no room for some.")
class EventNotice:
    record: Event | None = strawberry.field(name="event", description="The event; null where `lost` is not 0.")
    cursor: str = strawberry.field(
        description="Where to go on, as `after`: behind this event, or behind the last one before those that were lost."
    )
    dropped: int = strawberry.field(
        name="lost", description="How many events were left out here, since they came faster than the client took them."
    )


@strawberry.type(description="What can be waited for.")
class Subscription:
    @strawberry.subscription(
        description="Each event that is stored from now on, once, in the order in which they are stored, "
        "whichever process stores it. With `after`, first all that were stored since then.",
        graphql_type=AsyncGenerator[EventNotice, None],
        directives=[RequiresScope(scope=Scope.EVENTS_READ)],
        extensions=[Logged("/earthquakes/live", window_facts)],
    )
    async def events(
        self,
        info: Info[Context, None],
        filter: Annotated[EventFilter | None, strawberry.argument(description="Which events; all without it.")] = None,
        after: Annotated[
            str | None,
            strawberry.argument(description="An event's cursor, of a notice or of an edge: begin behind this event."),
        ] = None,
    ) -> Any:
        context = info.context
        return await context.live.events(filter.selection if filter else Selection(), after, context.charge_replay)
