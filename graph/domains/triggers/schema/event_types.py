"""The catalogue of the types of events that the service itself creates."""

from graph.api.context import Info
from graph.api.fields import field
from graph.api.record_type import value_type
from graph.domains.triggers.event_types import EventType, EventTypes
from graph.domains.triggers.scopes import TRIGGERS_READ

MOST_TYPES = 10  # of all domains

value_type(EventType, "TriggerEventType")


class EventTypeQueries:
    @field("The types of events that the service itself creates, with examples.", scope=TRIGGERS_READ, size=MOST_TYPES)
    async def trigger_event_types(self, info: Info) -> list[EventType]:
        return info.context.service(EventTypes)
