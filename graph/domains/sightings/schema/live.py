"""Sightings as they appear and change."""

from collections.abc import AsyncGenerator
from typing import Annotated, Any

import strawberry
from strawberry.types import Info

from graph.api import notices, relay
from graph.api.context import Context
from graph.api.scalars import describe_enum
from graph.api.scopes import RequiresScope
from graph.domains.sightings import model
from graph.domains.sightings.areas import NamedArea
from graph.domains.sightings.categories import Categories
from graph.domains.sightings.live import SightingBroadcast
from graph.domains.sightings.model import ChangeKind
from graph.domains.sightings.schema.sightings import Sighting
from graph.domains.sightings.schema.values import SightingCategory
from graph.domains.sightings.scopes import SIGHTINGS_READ

describe_enum(
    ChangeKind,
    "What has happened to a sighting.",
    {
        ChangeKind.REPORTED: "It was reported.",
        ChangeKind.CONFIRMED: "It was confirmed.",
        ChangeKind.HIDDEN: "A moderator has hidden it.",
    }.__getitem__,
    name="SightingChangeKind",
)


@strawberry.type(description="What has happened to a sighting.")
class SightingChange:
    kind: ChangeKind = strawberry.field(description="What has happened.")
    sighting_id: strawberry.ID = strawberry.field(description="The sighting's own id.")

    @strawberry.field(
        description="The sighting as the change has left it; null once it has expired or is hidden.",
        graphql_type=Sighting | None,
    )
    @staticmethod
    def sighting(change: strawberry.Parent[model.SightingChange], info: Info[Context, None]) -> model.Sighting | None:
        sighting = change.sighting
        return sighting if sighting.is_active(info.context.clock() / 1000) else None


@strawberry.type
class SightingSubscriptions:
    @strawberry.subscription(
        description="What happens to sightings from now on, once, in the order of storing. With `after`, first all "
        "that has happened since then, within a day. That a sighting expires is not told: `expiresAt` says when.",
        graphql_type=AsyncGenerator[notices.Notice[SightingChange], None],
        directives=[RequiresScope(scope=SIGHTINGS_READ)],
    )
    async def sightings(
        self,
        info: Info[Context, None],
        area: Annotated[
            str | None, strawberry.argument(description="The area's name or slug; by default all areas.")
        ] = None,
        category: Annotated[
            SightingCategory | None, strawberry.argument(description="What they are about; by default all.")
        ] = None,
        after: relay.After = None,
    ) -> Any:
        if category is not None:
            info.context.service(Categories).check("category", category)
        slug = None if area is None else NamedArea.of_name(area).slug
        return await info.context.service(SightingBroadcast).changes(slug, category, after, info.context.charge_replay)
