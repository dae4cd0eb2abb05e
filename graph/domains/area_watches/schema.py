"""Area watches: the areas whose sightings the caller wants to hear of."""

from datetime import datetime

import strawberry
from strawberry import auto

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Info, load_own
from graph.api.fields import field, optional, shows
from graph.api.mutations import Deleted, deleted, mutation
from graph.api.record_type import record_type
from graph.core.days import datetime_of
from graph.core.paging import Page
from graph.domains.area_watches import model
from graph.domains.area_watches.entities import AREA_WATCHES
from graph.domains.area_watches.watches import AreaWatches
from graph.domains.sightings.areas import KnownAreas
from graph.domains.sightings.categories import ALL, Categories
from graph.domains.sightings.schema.values import SightingCategory
from graph.domains.sightings.scopes import SIGHTINGS_WRITE
from graph.store.ordering import PageRequest


@record_type(
    model.AreaWatch,
    load=load_own(AreaWatches, AreaWatches.by_id),
    scope=SIGHTINGS_WRITE,
    key="watch_id",
    pages="area watches",
)
class AreaWatch(relay.Node):
    area_slug: auto = strawberry.field(name="area")

    @field(
        "When it was created; if another program made it and did not say when, when it was found.", reads=["createdAt"]
    )
    @staticmethod
    def created_at(watch: strawberry.Parent[model.AreaWatch], info: Info) -> datetime:
        return watch.created_at or datetime_of(info.context.clock())

    @field("The category; null for all.", reads=["category"])
    @staticmethod
    def category(watch: strawberry.Parent[model.AreaWatch]) -> SightingCategory | None:
        return None if watch.category == ALL else SightingCategory(watch.category)


class AreaWatchQueries:
    @connection_field(
        "The caller's area watches, in the order of areas and categories.", AREA_WATCHES, scope=SIGHTINGS_WRITE
    )
    async def area_watches(self, info: Info, page: PageRequest) -> Page[model.AreaWatch]:
        return await info.context.service(AreaWatches).page(info.context.user, page)


@strawberry.input(description="The area to watch.")
class CreateAreaWatchInput:
    area: str = shows("Its name or slug.")
    category: SightingCategory | None = optional("Only sightings of this category; by default all.")


@strawberry.input(description="The watch to delete.")
class DeleteAreaWatchInput:
    watch_id: strawberry.ID = shows("The watch's global id, or its own id.")


class AreaWatchMutations:
    @mutation(
        "Watch an area: each sighting that others report there from now on becomes an event of the type "
        "`sighting.reported`, once. What the caller watches already is not watched twice.",
        carries="area_watch",
        scope=SIGHTINGS_WRITE,
        cost=10,
    )
    async def create_area_watch(self, info: Info, input: CreateAreaWatchInput) -> model.AreaWatch:
        context = info.context
        if input.category is not None:
            context.service(Categories).check_wanted("category", input.category)
        area = context.service(KnownAreas).named(input.area)
        return await context.service(AreaWatches).create(info.context.user, area.slug, input.category or ALL)

    @mutation("Delete a watch of an area.", scope=SIGHTINGS_WRITE, cost=10)
    async def delete_area_watch(self, info: Info, input: DeleteAreaWatchInput) -> Deleted:
        watch_id = relay.key_of(AreaWatch, input.watch_id, "watchId")
        await info.context.service(AreaWatches).delete(info.context.user, watch_id)
        return deleted(AreaWatch, watch_id)
