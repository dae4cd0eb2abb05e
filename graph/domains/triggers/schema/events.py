"""Trigger events: their type, the inbox, their creation and acknowledgement, and the stream of new ones."""

from datetime import datetime
from typing import Annotated, Any

import strawberry
from strawberry import auto
from strawberry.scalars import JSON

from graph.api import notices, relay
from graph.api.connection_field import connection_field
from graph.api.context import Info, load_own
from graph.api.fields import field, optional, shows, subscription
from graph.api.mutations import MOST_CHANGED, changed, mutation
from graph.api.record_type import record_type
from graph.api.sizes import ListSize
from graph.core.errors import BadUserInput
from graph.core.paging import Page
from graph.core.times import first_microsecond, last_microsecond
from graph.domains.triggers import model
from graph.domains.triggers.checking import LONGEST_CORRELATION_ID, OWN_WORDS, check_event
from graph.domains.triggers.deliveries import Deliveries
from graph.domains.triggers.entities import INBOX, OF_EVENT
from graph.domains.triggers.inbox import MOST_TYPES, EventSelection, Inbox
from graph.domains.triggers.live import TriggerEventBroadcast
from graph.domains.triggers.model import (
    API_VERSION,
    LARGEST_PAYLOAD,
    LONGEST_IDEMPOTENCY_KEY,
    LONGEST_TYPE,
    NewTriggerEvent,
)
from graph.domains.triggers.outbox import Created, Outbox
from graph.domains.triggers.scopes import TRIGGERS_READ, TRIGGERS_WRITE
from graph.domains.triggers.statuses import TriggerEventStatus
from graph.store.ordering import PageRequest

MOST_ACKNOWLEDGED = 1000  # events of one call


@record_type(
    model.TriggerEvent,
    load=load_own(Inbox, Inbox.by_key),
    scope=TRIGGERS_READ,
    pages="trigger events",
)
class TriggerEvent(relay.Node):
    event_type: auto = strawberry.field(name="type")

    @connection_field(
        "Its deliveries, one for each endpoint that wanted it.", OF_EVENT, reads=["user_id", "deliveries"]
    )
    @staticmethod
    async def deliveries(
        event: strawberry.Parent[model.TriggerEvent], info: Info, page: PageRequest
    ) -> Page[model.DeliveryOfEvent]:
        return await info.context.service(Deliveries).of_event(event, page)


@strawberry.input(description="The selected trigger events: those that fulfil all given conditions.")
class TriggerEventFilter:
    types: list[str] | None = optional(
        f"Their types, at most {MOST_TYPES}. `user.created` does not include `user.created_late`."
    )
    statuses: list[TriggerEventStatus] | None = optional("How far they have come.")
    start_time: datetime | None = optional("Earliest creation, inclusive.")
    end_time: datetime | None = optional(
        "Latest creation, inclusive. A date includes that whole day, a millisecond its microseconds."
    )


def selection_of(filter: TriggerEventFilter | None) -> EventSelection:
    """The selection of a filter; all events without one."""
    if filter is None:
        return EventSelection()
    return EventSelection(
        None if filter.types is None else tuple(filter.types),
        None if filter.statuses is None else tuple(filter.statuses),
        model.timestamp_at(first_microsecond(filter.start_time)) if filter.start_time else None,
        model.timestamp_at(last_microsecond(filter.end_time)) if filter.end_time else None,
    )


class TriggerEventQueries:
    @connection_field("The caller's trigger events, newest first.", INBOX, scope=TRIGGERS_READ)
    async def trigger_events(
        self,
        info: Info,
        page: PageRequest,
        filter: Annotated[TriggerEventFilter | None, "Which events; by default all."] = None,
    ) -> Page[model.TriggerEvent]:
        return await info.context.service(Inbox).page(info.context.user, selection_of(filter), page)


@strawberry.input(description="The event to create.")
class CreateTriggerEventInput:
    event_type: str = shows(
        "Its type: words of letters, digits and `_`, separated by dots, such as `order.completed`; at most "
        f"{LONGEST_TYPE} characters. The first word is not {', '.join(OWN_WORDS)}: these types are the service's own.",
        name="type",
    )
    payload: JSON = shows(f"What happened: an object of at most {LARGEST_PAYLOAD:,} bytes.")
    correlation_id: str | None = optional(f"Kept in the event's metadata, 1 to {LONGEST_CORRELATION_ID} characters.")
    idempotency_key: str | None = optional(
        f"A text of 1 to {LONGEST_IDEMPOTENCY_KEY} characters, without control characters. To create "
        "the same event again with the same key is safe, for 30 days: it is stored once.",
    )


@strawberry.input(description="The events that were processed.")
class AcknowledgeTriggerEventsInput:
    event_ids: list[strawberry.ID] = shows(
        f"Their global ids, or their keys as documented, `timestamp#eventId`; at most {MOST_ACKNOWLEDGED:,}. "
        "An `eventId` alone finds none, since the table has no index of them."
    )


@strawberry.type(description="What became of the events.")
class AcknowledgeTriggerEventsPayload:
    acknowledged: int = strawberry.field(description="Number of events that are delivered by this call.")
    already_acknowledged: int = strawberry.field(description="Number of events that were delivered before.")
    missing: list[strawberry.ID] = strawberry.field(description="The ids of events that the caller does not have.")
    keys: strawberry.Private[list[str]]

    @field(f"The events that are delivered by this call; at most {MOST_CHANGED}.", cost=10)
    @staticmethod
    async def trigger_events(payload: strawberry.Parent[Any], info: Info) -> list[model.TriggerEvent]:
        return await changed(info, TriggerEvent, payload.keys)


class TriggerEventMutations:
    @mutation(
        "Create an event. It is stored in the inbox, and delivered to each endpoint that wants its type.",
        scope=TRIGGERS_WRITE,
        cost=10,
    )
    async def create_trigger_event(self, info: Info, input: CreateTriggerEventInput) -> Created:
        context = info.context
        metadata = {
            "source_ip": context.address,
            "api_version": API_VERSION,
            "correlation_id": input.correlation_id,
        }
        payload: Any = input.payload
        event = NewTriggerEvent(
            info.context.user,
            input.event_type,
            payload,
            {name: value for name, value in metadata.items() if value is not None},
            idempotency_key=input.idempotency_key,
        )
        check_event(event)
        return await context.service(Outbox).create(event)

    @mutation(
        "Acknowledge events, which makes them delivered. To do it again is harmless.",
        scope=TRIGGERS_WRITE,
        size=ListSize(slicing_arguments=["input.eventIds"], sized_fields=["missing", "triggerEvents"]),
    )
    async def acknowledge_trigger_events(
        self, info: Info, input: AcknowledgeTriggerEventsInput
    ) -> AcknowledgeTriggerEventsPayload:
        if len(input.event_ids) > MOST_ACKNOWLEDGED:
            raise BadUserInput(f"`eventIds` takes at most {MOST_ACKNOWLEDGED:,} ids.")
        keys = {each: relay.key_of(TriggerEvent, each, "eventIds") for each in input.event_ids}
        found = await info.context.service(Inbox).acknowledge(info.context.user, dict.fromkeys(keys.values()))
        return AcknowledgeTriggerEventsPayload(
            acknowledged=len(found) - sum(found.values()),
            already_acknowledged=sum(found.values()),
            missing=[each for each, key in keys.items() if key not in found],
            keys=[key for key, already in found.items() if not already],
        )


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
        after: notices.After = None,
    ) -> Any:
        broadcast = info.context.service(TriggerEventBroadcast)
        return await broadcast.events(info.context.user, selection_of(filter), after, info.context.charge_replay)
