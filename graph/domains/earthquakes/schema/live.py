"""Events as they are stored."""

from typing import Annotated, Any

import strawberry

from graph.api.context import Info
from graph.api.fields import field, subscription
from graph.api.notices import After, Notice
from graph.domains.earthquakes import model
from graph.domains.earthquakes.revisions import model as versions
from graph.domains.earthquakes.revisions.live import EventBroadcast
from graph.domains.earthquakes.revisions.versions import RevisionKind
from graph.domains.earthquakes.schema.events import Event
from graph.domains.earthquakes.schema.filters import EventFilter, filter_facts
from graph.domains.earthquakes.schema.revisions import EventRevision
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.earthquakes.selection import Selection
from graph.feed.broadcast import SubscriberMessage

Message = strawberry.Parent[SubscriberMessage[versions.EventRevision]]


@strawberry.type(description="A message to a subscriber: a stored version of an event, or the number of dropped ones.")
class EventNotice(Notice[Event]):
    @field("What made the version; null where `dropped` is not 0.")
    @staticmethod
    def kind(message: Message) -> RevisionKind | None:
        return message.record.kind if message.record else None

    @field(
        "The event as it is now, which a later version may have changed again; deleted and merged ones have their last "
        "known values. Null where `dropped` is not 0."
    )
    @staticmethod
    def node(message: Message) -> model.Event | None:
        return message.record.present if message.record else None

    record: EventRevision | None = strawberry.field(
        name="revision", description="The version, with what changed in it; null where `dropped` is not 0."
    )


class EventSubscriptions:
    @subscription(
        "Each version of an event that any process stores from now on, once, in the order of storing: new "
        "events, and revised, merged or deleted ones. With `after`, first all versions that were stored since then. "
        "A version that takes an event out of the filter is sent, too: `matches` is false then.",
        EventNotice,
        scope=EVENTS_READ,
        route="/earthquakes/live",
        facts=filter_facts,
    )
    async def events(
        self,
        info: Info,
        filter: Annotated[EventFilter | None, "Which events; by default all."] = None,
        after: After = None,
        kinds: Annotated[
            list[RevisionKind] | None,
            "Which versions; by default all. Without `REVISED`, an event may leave the filter unnoticed.",
        ] = None,
    ) -> Any:
        selection = filter.selection if filter else Selection()
        chosen = tuple(RevisionKind) if kinds is None else tuple(kinds)
        broadcast = info.context.service(EventBroadcast)
        return await broadcast.events(selection, after, info.context.charge_replay, kinds=chosen)
