"""The sightings of an earthquake, as a field of events."""

import strawberry

from graph.api.connection_field import connection_field
from graph.api.context import Info
from graph.core.paging import Page
from graph.domains.earthquakes import model as earthquakes
from graph.domains.sightings import model
from graph.domains.sightings.reading import Sightings
from graph.domains.sightings.scopes import SIGHTINGS_READ
from graph.domains.sightings.selection import SightingSelection
from graph.store.ordering import PageRequest


class SightingsOfEvent:
    @connection_field(
        "The active sightings whose reporters name this earthquake, newest first.",
        model.BY_TIME,
        scope=SIGHTINGS_READ,
        cost=10,
        reads=["ids", "preferredId"],
    )
    @staticmethod
    async def sightings(
        event: strawberry.Parent[earthquakes.Event], info: Info, page: PageRequest
    ) -> Page[model.Sighting]:
        return await info.context.service(Sightings).page(SightingSelection(event_ids=tuple(event.aliases)), page)
