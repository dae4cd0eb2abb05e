"""Areas that have active sightings."""

from datetime import datetime

import strawberry
from strawberry.types import Info

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Context
from graph.api.scopes import RequiresScope
from graph.api.selected import needs
from graph.api.sizes import Cost
from graph.core.paging import Page
from graph.domains.sightings import model
from graph.domains.sightings.active_areas import ActiveAreas
from graph.domains.sightings.reading import Sightings
from graph.domains.sightings.schema.sightings import SightingConnection
from graph.domains.sightings.scopes import SIGHTINGS_READ
from graph.domains.sightings.selection import SightingSelection
from graph.store.ordering import PageRequest


@strawberry.type(description="An area that has active sightings.")
class Area:
    slug: str = strawberry.field(description="The name by which sightings are found: lower-case letters and hyphens.")
    name: str = strawberry.field(description="Its name.")
    lat: float | None = strawberry.field(description="Degrees north, of its centre; null if that is not known.")
    lon: float | None = strawberry.field(description="Degrees east, of its centre; null if that is not known.")
    active_until: datetime = strawberry.field(description="When the last of its sightings expires.")

    @connection_field(
        SightingConnection,
        model.SightingOrder(),
        model.Sighting,
        description="Its active sightings, newest first.",
        directives=[relay.PAGE_SIZE, Cost(weight="10")],
        metadata=needs(),
    )
    @staticmethod
    async def sightings(
        area: strawberry.Parent[model.Area], info: Info[Context, None], page: PageRequest
    ) -> Page[model.Sighting]:
        return await info.context.service(Sightings).page(SightingSelection(areas=(area.slug,)), page)


@strawberry.type(description="A page of areas.")
class AreaConnection(relay.Connection[Area]):
    pass


@strawberry.type
class AreaQueries:
    @connection_field(
        AreaConnection,
        model.AREAS,
        model.Area,
        description="The areas that have active sightings. Those that have them for longest come first.",
        directives=[RequiresScope(scope=SIGHTINGS_READ)],
    )
    async def areas(self, info: Info[Context, None], page: PageRequest) -> Page[model.Area]:
        return await info.context.service(ActiveAreas).page(page)
