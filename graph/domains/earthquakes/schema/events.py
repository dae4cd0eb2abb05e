"""The types of an event as it is and as it was, their pages, and the events near one.

All that a version has is declared once, in `SeismicEvent`. What only the present has stands in `Event`.
"""

from datetime import datetime
from typing import Annotated, Any, cast

import strawberry
from strawberry import auto
from strawberry.scalars import JSON

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Info, load_by
from graph.api.fields import field, shows
from graph.api.record_type import record_interface, record_type
from graph.api.selected import needs, passes_records_on, selected_attributes
from graph.api.sizes import ListSize
from graph.api.times import time_field
from graph.core.paging import Page
from graph.domains.earthquakes import feature_collection as geojson
from graph.domains.earthquakes import model
from graph.domains.earthquakes.assessments import ALERT_LEVELS, REVIEW_STATUSES, AlertLevel, ReviewStatus
from graph.domains.earthquakes.catalogue import Catalogue, EventPage
from graph.domains.earthquakes.catalogue.neighbours import Neighbour, Neighbourhood
from graph.domains.earthquakes.entities import EVENT_SEQUENCE
from graph.domains.earthquakes.revisions.model import REVISIONS, EventRevision
from graph.domains.earthquakes.revisions.views import PRESENT, View
from graph.domains.earthquakes.schema.event_order import EventOrder
from graph.domains.earthquakes.schema.revisions import Deletion, EventAlias
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.earthquakes.selection import Selection
from graph.store.folding import fold
from graph.store.ordering import PageRequest

PAGE_SIZE = ListSize(slicing_arguments=["first", "last"], sized_fields=["edges", "nodes", "asGeoJson"])
"""The directive of a field that is a page of events."""

FEW = ListSize(assumed_size=5)
"""The directive of a list of an event's names."""


@record_interface(
    model.Event, "What an event has, as it is now or as it was.", feeds=[EVENT_SEQUENCE], hidden={"updated"}
)
class SeismicEvent:
    ingested_time: datetime = time_field("ingested_at", "When it was first stored.", "ingestedAt")
    updated_at: datetime | None = time_field("updated", "The source's last change before the ingest.", "updated")
    ids: auto = strawberry.field(directives=[FEW])
    sources: auto = strawberry.field(directives=[FEW])
    types: auto = strawberry.field(directives=[FEW])

    revision: int = shows(
        "The number of this version, from 1. A version exists only where a tracked value changed: time, "
        "magnitude and its type, place, coordinates, depth, type, status, alert, tsunami or the preferred id.",
        metadata=needs("revision"),
    )
    recorded_at: datetime = time_field("recorded_at", "When this version was stored here.", "recordedAt", "ingestedAt")
    published_at: datetime | None = time_field(
        "published_at",
        "When the source published this version; null if it did not say.",
        *("publishedAt", "updated"),
    )

    preferred_id: strawberry.ID = shows("The id that the source prefers now.", metadata=needs("preferredId"))

    @field("PAGER's alert level; null if there is none, or if `alert` is another text.", reads=["alert"])
    @staticmethod
    def alert_level(event: strawberry.Parent[model.Event]) -> AlertLevel | None:
        return ALERT_LEVELS.get(fold(event.alert)) if event.alert else None

    @field("Whether a seismologist has reviewed it; null if `status` says neither this nor that.", reads=["status"])
    @staticmethod
    def review_status(event: strawberry.Parent[model.Event]) -> ReviewStatus | None:
        return REVIEW_STATUSES.get(fold(event.status)) if event.status else None

    @field("Every id that finds this event, its own among them.", size=FEW, reads=["ids", "preferredId", "names"])
    @staticmethod
    def aliases(event: strawberry.Parent[model.Event]) -> list[EventAlias]:
        return [
            EventAlias(event_id=strawberry.ID(each), preferred=each == event.preferred_id) for each in event.aliases
        ]

    @field(
        "Set if the source has deleted the event, which then has its last known values.",
        reads=["recordedAt", "ingestedAt", "publishedAt", "updated"],
    )
    @staticmethod
    def deletion(event: strawberry.Parent[model.Event]) -> Deletion | None:
        if not model.is_deleted(event.item):
            return None
        return Deletion(recorded_ms=event.recorded_at, published_ms=event.published_at)

    @field(
        "The event that this one turned out to be. It has left the lists; the other one has its ids.",
        cost=10,
        feeds=[EVENT_SEQUENCE],
        reads=["mergedInto"],
    )
    @staticmethod
    async def merged_into(event: strawberry.Parent[model.Event], info: Info) -> model.Event | None:
        if event.merged_into is None:
            return None
        return await info.context.service(Catalogue).event(event.merged_into, selected_attributes(info, model.Event))


@record_type(
    model.Event,
    load=load_by(Catalogue, Catalogue.events),
    scope=EVENTS_READ,
    key="event_id",
    feeds=[EVENT_SEQUENCE],
)
class Event(relay.Node, SeismicEvent):
    @classmethod
    def is_type_of(cls, record: object, info: object) -> bool:
        """Whether it is an event as it is: one as it was has another id, and must not be shown under this one's."""
        return isinstance(record, model.Event) and not isinstance(record, model.EventVersion)

    @connection_field(
        "The versions of this event, the first one first.",
        REVISIONS,
        cost=10,
        feeds=[EVENT_SEQUENCE],
        reads=["revision"],
    )
    @staticmethod
    async def revisions(event: strawberry.Parent[model.Event], info: Info, page: PageRequest) -> Page[EventRevision]:
        return await info.context.service(Catalogue).revisions(event, page.paging)

    @connection_field(
        "Other events near this one in space and time, newest first.",
        model.BY_TIME,
        size=PAGE_SIZE,
        cost=10,  # its plan; what it reads besides is charged as it is read
        feeds=[EVENT_SEQUENCE],
        reads=["lat", "lon"],
    )
    @staticmethod
    async def nearby(
        event: strawberry.Parent[model.Event],
        info: Info,
        page: PageRequest,
        radius_km: Annotated[float, "Great-circle distance, km, 0 … 40,100."] = 100,
        days: Annotated[float, "At most so many days before or after, 0 … 3,653."] = 30,
    ) -> Neighbourhood:
        found = await event_page(info, Selection.around(event, radius_km=radius_km, days=days), page)
        return Neighbourhood(**vars(found), centre=event)


@record_type(model.EventVersion, load=load_by(Catalogue, Catalogue.versions), scope=EVENTS_READ, feeds=[EVENT_SEQUENCE])
class EventVersion(relay.Node, SeismicEvent):
    @field("The event as it is now.", cost=2, feeds=[EVENT_SEQUENCE], reads=[])
    @staticmethod
    async def event(version: strawberry.Parent[model.EventVersion], info: Info) -> model.Event:
        attributes = selected_attributes(info, model.Event)
        found = await info.context.loader(Event.found_by.load, attributes).load(version.event_id)
        return cast("model.Event", found)  # an event is never removed, only deleted


@strawberry.type
class _PageOfCatalogue(relay.Connection[relay.NodeType]):
    total_count = relay.total_count(
        "The exact number of matching events on all pages. Null if counting would read too many days: "
        "over a long time, if the filter has more than time and magnitude, or a magnitude that is not on a tenth. Null "
        "also of versions, or with deleted events, while versions are stored too fast to count them.",
    )

    @field(
        "The page as a GeoJSON FeatureCollection in the form of USGS's feeds: each with the event's id, "
        "longitude and latitude in degrees, depth in km if known, and the other fields by USGS's names.",
        cost=16,  # of each event: it takes as long as so many fields
        feeds=[],
        reads=geojson.READ,
    )
    @staticmethod
    def as_geo_json(page: strawberry.Parent[EventPage]) -> JSON:
        return cast("JSON", geojson.feature_collection(page.records))

    @field("Day buckets read for this page.", feeds=[], reads=[])
    @staticmethod
    def buckets_scanned(page: strawberry.Parent[EventPage]) -> int:
        return page.partitions


def _neighbours(page: strawberry.Parent[Neighbourhood]) -> Any:
    return page.neighbours


@record_type(EventPage, "A page of events.")
class EventConnection(_PageOfCatalogue[Event]):
    pass


@strawberry.type(description="A page of events as they were.")
class EventVersionConnection(_PageOfCatalogue[EventVersion]):
    pass


@record_type(Neighbour, "An event near another one, with its cursor.")
class NearbyEventEdge:
    cursor: str = shows("The node's position: pass it back unchanged as `after` or `before`.", metadata=needs())
    node: Event = shows("The event.", metadata=passes_records_on())
    distance_km: float = shows("The great-circle distance of the epicentres, km.", metadata=needs("lat", "lon"))
    azimuth: float = shows(
        "The direction from the other event to this one along the great circle, degrees clockwise from north, from 0 "
        "to below 360; 0 at the same place.",
        metadata=needs("lat", "lon"),
    )


@record_type(Neighbourhood, "A page of events near an event.")
class NearbyEventConnection(_PageOfCatalogue[Event]):
    edges: list[NearbyEventEdge] = shows(  # type: ignore[assignment]  # an edge with more fields
        "The page's events with their distances, in order.",
        resolver=_neighbours,
        metadata=relay.OF_RECORDS,
    )


async def event_page(
    info: Info,
    selection: Selection,
    page: PageRequest,
    order: EventOrder = EventOrder.TIME_DESC,
    view: View = PRESENT,
) -> EventPage:
    """A page of the selected events. It is not read where only its total is selected."""
    catalogue = info.context.service(Catalogue)
    if relay.selects_only_total(info):
        return catalogue.unread_page(selection, view)
    read = catalogue.page_by_magnitude if order.by_magnitude else catalogue.page
    return await read(selection, page.paging, ascending=order.ascending, attributes=page.attributes, view=view)
