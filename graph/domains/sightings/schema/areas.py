"""Areas that have active sightings."""

import strawberry

from graph.api.connection_field import connection_field
from graph.api.context import Info
from graph.api.record_type import record_type
from graph.core.paging import Page
from graph.domains.sightings import model
from graph.domains.sightings.active_areas import ActiveAreas
from graph.domains.sightings.entities import AREAS
from graph.domains.sightings.reading import Sightings
from graph.domains.sightings.scopes import SIGHTINGS_READ
from graph.domains.sightings.selection import SightingSelection
from graph.store.ordering import PageRequest


@record_type(model.ActiveArea, pages="areas")
class Area:
    @connection_field("Its active sightings, newest first.", model.BY_TIME, cost=10, reads=[])
    @staticmethod
    async def sightings(
        area: strawberry.Parent[model.ActiveArea], info: Info, page: PageRequest
    ) -> Page[model.Sighting]:
        return await info.context.service(Sightings).page(SightingSelection(areas=(area.slug,)), page)


class AreaQueries:
    @connection_field(
        "The areas that have active sightings. Those that have them for longest come first.",
        AREAS,
        scope=SIGHTINGS_READ,
    )
    async def areas(self, info: Info, page: PageRequest) -> Page[model.ActiveArea]:
        return await info.context.service(ActiveAreas).page(page)
