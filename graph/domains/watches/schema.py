"""Watches: what the caller wants to hear of the catalogue."""

import strawberry

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Info, load_own
from graph.api.fields import optional, shows
from graph.api.mutations import Deleted, deleted, mutation
from graph.api.record_type import record_type
from graph.core.errors import BadUserInput
from graph.core.paging import Page
from graph.domains.earthquakes.schema.filter_json import filter_as_json
from graph.domains.earthquakes.schema.filters import EventFilter
from graph.domains.triggers.schema.endpoints import TriggerEndpoint
from graph.domains.triggers.scopes import TRIGGERS_READ, TRIGGERS_WRITE
from graph.domains.watches import model
from graph.domains.watches.entities import OLDEST_FIRST
from graph.domains.watches.model import ChangeKind
from graph.domains.watches.watches import Watches
from graph.store.ordering import PageRequest


@record_type(
    model.Watch,
    load=load_own(Watches, Watches.by_id),
    scope=TRIGGERS_READ,
    key="watch_id",
    pages="watches",
)
class Watch(relay.Node):
    kinds: list[ChangeKind]


class WatchQueries:
    @connection_field(
        "The caller's watches, oldest first.", OLDEST_FIRST, scope=TRIGGERS_READ, before="triggerEventTypes"
    )
    async def watches(self, info: Info, page: PageRequest) -> Page[model.Watch]:
        return await info.context.service(Watches).page(info.context.user, page)


@strawberry.input(description="The watch to create.")
class CreateWatchInput:
    name: str = shows("Its name, 1 to 128 characters.")
    filter: EventFilter | None = optional("Which events; by default all.")
    kinds: list[ChangeKind] | None = optional("Which changes; by default all.")
    endpoint_id: strawberry.ID | None = optional(
        "The endpoint that its events are delivered to, by its global id or its own id; by default the inbox only."
    )


@strawberry.input(description="The watch to delete.")
class DeleteWatchInput:
    watch_id: strawberry.ID = shows("The watch's global id, or its own id.")


class WatchMutations:
    @mutation(
        "Watch the catalogue: each change that is stored from now on becomes an event, once. The "
        "watch also reports an event that a revision moves out of the filter.",
        carries="watch",
        scope=TRIGGERS_WRITE,
        cost=10,
    )
    async def create_watch(self, info: Info, input: CreateWatchInput) -> model.Watch:
        if input.kinds == []:
            raise BadUserInput("`kinds` must name a kind; leave it out for all.")
        if input.filter:
            _ = input.filter.selection  # refuses what is impossible
        endpoint_id = input.endpoint_id and relay.key_of(TriggerEndpoint, input.endpoint_id, "endpointId")
        return await info.context.service(Watches).create(
            info.context.user,
            input.name,
            filter_as_json(input.filter) if input.filter else {},
            tuple(ChangeKind) if input.kinds is None else input.kinds,
            endpoint_id,
        )

    @mutation("Delete a watch.", scope=TRIGGERS_WRITE)
    async def delete_watch(self, info: Info, input: DeleteWatchInput) -> Deleted:
        watch_id = relay.key_of(Watch, input.watch_id, "watchId")
        await info.context.service(Watches).delete(info.context.user, watch_id)
        return deleted(Watch, watch_id)
