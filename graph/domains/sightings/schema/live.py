"""Sightings as they appear and change."""

from typing import Annotated, Any

import strawberry

from graph.api.context import Info
from graph.api.fields import field, subscription
from graph.api.notices import Notice
from graph.domains.sightings import model
from graph.domains.sightings.live import SightingBroadcast
from graph.domains.sightings.schema.sightings import Sighting, SightingFilter, selection_of
from graph.domains.sightings.scopes import SIGHTINGS_READ
from graph.feed.broadcast import SubscriberMessage

Message = strawberry.Parent[SubscriberMessage[model.SightingChange]]


@strawberry.type(description="A message to a subscriber: a change of a sighting, or the number of dropped ones.")
class SightingNotice(Notice[Sighting]):
    @field("What has happened; null where `dropped` is not 0.")
    @staticmethod
    def kind(message: Message) -> model.SightingChangeKind | None:
        return message.record.kind if message.record else None

    @field("The sighting as it is now; null once it has expired or is hidden, or where `dropped` is not 0.")
    @staticmethod
    def node(message: Message) -> model.Sighting | None:
        return message.record.present if message.record else None


class SightingSubscriptions:
    @subscription(
        "What happens to sightings from now on, once, in the order of storing. With `after`, first all "
        "that has happened since then, within a day. A sighting's expiry sends no notice: `expiresAt` says when.",
        SightingNotice,
        scope=SIGHTINGS_READ,
    )
    async def sightings(
        self,
        info: Info,
        filter: Annotated[SightingFilter | None, "Which sightings; by default all."] = None,
        after: Annotated[str | None, "A cursor of a notice: begin after its change."] = None,
    ) -> Any:
        selection = await selection_of(info.context, filter)
        return await info.context.service(SightingBroadcast).changes(selection, after, info.context.charge_replay)
