"""Sightings as they appear and change."""

from typing import Annotated, Any

import strawberry
from strawberry import auto

from graph.api import notices, relay
from graph.api.context import Info
from graph.api.fields import field, subscription
from graph.api.record_type import record_type
from graph.domains.sightings import model
from graph.domains.sightings.areas import NamedArea
from graph.domains.sightings.categories import Categories
from graph.domains.sightings.live import SightingBroadcast
from graph.domains.sightings.schema.values import SightingCategory
from graph.domains.sightings.scopes import SIGHTINGS_READ


@record_type(model.SightingChange, "What has happened to a sighting.")
class SightingChange:
    kind: auto
    sighting_id: strawberry.ID

    @field("The sighting as the change has left it; null once it has expired or is hidden.")
    @staticmethod
    def sighting(change: strawberry.Parent[model.SightingChange], info: Info) -> model.Sighting | None:
        sighting = change.sighting
        return sighting if sighting.is_active(info.context.clock() / 1000) else None


class SightingSubscriptions:
    @subscription(
        "What happens to sightings from now on, once, in the order of storing. With `after`, first all "
        "that has happened since then, within a day. A sighting's expiry sends no notice: `expiresAt` says when.",
        notices.Notice[SightingChange],
        scope=SIGHTINGS_READ,
    )
    async def sightings(
        self,
        info: Info,
        area: Annotated[str | None, "The area's name or slug; by default all areas."] = None,
        category: Annotated[SightingCategory | None, "What they are about; by default all."] = None,
        after: relay.After = None,
    ) -> Any:
        if category is not None:
            info.context.service(Categories).check_wanted("category", category)
        slug = None if area is None else NamedArea.of_name(area).slug
        return await info.context.service(SightingBroadcast).changes(slug, category, after, info.context.charge_replay)
