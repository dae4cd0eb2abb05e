"""The catalogue of the types of events that the service itself creates."""

import strawberry
from strawberry.scalars import JSON

from graph.api.context import Info
from graph.api.fields import field, shows
from graph.api.record_type import record_type
from graph.domains.triggers.event_types import EventType, EventTypes
from graph.domains.triggers.scopes import TRIGGERS_READ

MOST_TYPES = 10  # of all domains


@record_type(EventType, "A type of events that the service itself creates.")
class TriggerEventType:
    name: str = shows("Its name.")
    description: str = shows("When such an event is created.")
    example: JSON = shows("A payload.")
    schema: JSON = shows("The JSON Schema of its payloads.")


@strawberry.type
class EventTypeQueries:
    @field("The types of events that the service itself creates, with examples.", scope=TRIGGERS_READ, size=MOST_TYPES)
    async def trigger_event_types(self, info: Info) -> list[EventType]:
        return info.context.service(EventTypes)
