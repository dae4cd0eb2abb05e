"""Events: one by its id, pages in time order, and events near another event."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, cast

import strawberry
from strawberry.scalars import JSON
from strawberry.types import Info

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Context
from graph.api.recording import recorded
from graph.api.scalars import EpochMillis, millis_ceil, millis_floor
from graph.api.scopes import RequiresScope
from graph.api.selected import needs, selected_attributes
from graph.api.sizes import Cost, ListSize
from graph.core.paging import TimeOrder
from graph.domains.earthquakes import feature_collection as geojson
from graph.domains.earthquakes import model
from graph.domains.earthquakes.catalogue import Catalogue, EventPage
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.earthquakes.selection import Box, Circle, Selection
from graph.store.ordering import PageRequest


@strawberry.enum(description="The order of events in time.")
class EventOrder(Enum):
    TIME_DESC = strawberry.enum_value("TIME_DESC", description="Newest first.")
    TIME_ASC = strawberry.enum_value("TIME_ASC", description="Oldest first.")


PAGE_SIZE = ListSize(slicing_arguments=["first", "last"], sized_fields=["edges", "nodes", "asGeoJson"])
"""The directive of a field that is a page of events."""


@strawberry.type(description="One seismic event of the catalogue, as first recorded; it never changes.")
class Event(relay.Node):
    event_id: str = strawberry.field(description="USGS event id, at most 64 characters.")
    event_ts_ms: EpochMillis = strawberry.field(description="Origin time, epoch milliseconds.")
    time: datetime = strawberry.field(description="Origin time.")
    mag: float = strawberry.field(description="Magnitude, clamped to -2.0 … 10.0.")
    place: str = strawberry.field(description="The name of the place; the coordinates if it has no name.")
    lat: float = strawberry.field(description="Latitude, degrees north, -90 … 90.")
    lon: float = strawberry.field(description="Longitude, degrees east, -180 … 180.")
    depth: float | None = strawberry.field(
        description="Depth, km below sea level; 0 for events above it, null if not measured."
    )
    day_bucket: str = strawberry.field(description="UTC day of the origin time, `YYYYMMDD`.")
    source: str = strawberry.field(description="The source of the record, `USGS`.")
    ingested_at: EpochMillis = strawberry.field(description="When it was stored, epoch milliseconds.")
    mag_type: str | None = strawberry.field(description="How the magnitude was measured, such as `ml` or `mww`.")
    type: str | None = strawberry.field(description="The type of event, such as `earthquake` or `quarry blast`.")
    status: str | None = strawberry.field(description="`automatic` or `reviewed`, as of the ingest.")
    updated: EpochMillis | None = strawberry.field(
        description="USGS's last change before the ingest, epoch milliseconds."
    )
    url: str | None = strawberry.field(description="The event's page at USGS.")
    tsunami: bool | None = strawberry.field(description="Whether USGS linked it to a tsunami message.")
    felt: int | None = strawberry.field(description="Number of felt reports, as of the ingest.")
    alert: str | None = strawberry.field(description="PAGER alert level: `green`, `yellow`, `orange` or `red`.")
    sig: int | None = strawberry.field(description="USGS's significance, 0 to about 1000.")

    @connection_field(
        Annotated["EventConnection", strawberry.lazy("graph.domains.earthquakes.schema.events")],
        TimeOrder(model.EVENTS),
        model.Event,
        description="Other events near this one in space and time, newest first.",
        directives=[PAGE_SIZE, Cost(weight="10")],  # its plan; what it reads besides is charged as it is read
        metadata=needs("lat", "lon"),
    )
    @staticmethod
    async def nearby(
        event: strawberry.Parent[model.Event],
        info: Info[Context, None],
        page: PageRequest,
        radius_km: Annotated[float, strawberry.argument(description="Great-circle distance, km, 0 … 40,100.")] = 100,
        days: Annotated[
            float, strawberry.argument(description="At most so many days before or after, 0 … 3,653.")
        ] = 30,
    ) -> EventPage:
        return await _page(info, Selection.around(event, radius_km=radius_km, days=days), page)

    @classmethod
    def is_type_of(cls, record: object, info: object) -> bool:
        return isinstance(record, model.Event)


@strawberry.type(description="A page of events.")
class EventConnection(relay.Connection[Event]):
    @strawberry.field(
        description="The exact number of matching events on all pages. Null if counting would read too many days: "
        "over a long time, if the filter has more than time and magnitude, or a magnitude that is not on a tenth.",
        directives=[Cost(weight="10")],  # it may read the summaries of many days, or some days' events
        metadata=needs(),
    )
    @staticmethod
    async def total_count(page: strawberry.Parent[EventPage]) -> int | None:
        return await page.total()

    @strawberry.field(
        description="The page as a GeoJSON FeatureCollection in the form of USGS's feeds: each with the event's id, "
        "longitude and latitude in degrees, depth in km if known, and the other fields by USGS's names.",
        directives=[Cost(weight="16")],  # of each event: as many values
        metadata=needs(*geojson.READ),
    )
    @staticmethod
    def as_geo_json(page: strawberry.Parent[EventPage]) -> JSON:
        return cast("JSON", geojson.feature_collection(page.records))

    @strawberry.field(description="Day buckets read for this page.", metadata=needs())
    @staticmethod
    def buckets_scanned(page: strawberry.Parent[EventPage]) -> int:
        return page.partitions


@strawberry.input(description="An area between two latitudes and two longitudes, edges included.")
class BoxInput:
    min_lat: float = strawberry.field(description="Southern edge, degrees north.")
    max_lat: float = strawberry.field(description="Northern edge, degrees north.")
    min_lon: float = strawberry.field(description="Western edge, degrees east.")
    max_lon: float = strawberry.field(
        description="Eastern edge, degrees east; less than minLon, the area crosses the dateline."
    )


@strawberry.input(description="An area around a point, by great-circle distance, edge included.")
class CircleInput:
    lat: float = strawberry.field(description="Latitude of the centre, degrees north.")
    lon: float = strawberry.field(description="Longitude of the centre, degrees east.")
    radius_km: float = strawberry.field(description="Radius, km, 0 … 40,100.")


@strawberry.input
class TimesAndMagnitudes:
    """The arguments of every filter of events."""

    start_time: datetime | None = strawberry.field(default=None, description="Earliest origin time, inclusive.")
    end_time: datetime | None = strawberry.field(default=None, description="Latest origin time, inclusive.")
    min_magnitude: float | None = strawberry.field(default=None, description="Least magnitude, inclusive.")
    max_magnitude: float | None = strawberry.field(default=None, description="Greatest magnitude, inclusive.")

    @property
    def selection(self) -> Selection:
        """The filter as a selection."""
        return Selection(**self.conditions())

    def conditions(self) -> dict[str, Any]:
        """The arguments of the selection. Times are rounded to the millisecond, towards the inside."""
        return {
            "start_ms": millis_ceil(self.start_time) if self.start_time else None,
            "end_ms": millis_floor(self.end_time) if self.end_time else None,
            "magnitudes": MagnitudeRange(self.min_magnitude, self.max_magnitude),
        }


@strawberry.input(description="The selected events: those that fulfil all given conditions.")
class EventFilter(TimesAndMagnitudes):
    min_depth: float | None = strawberry.field(
        default=None, description="Least depth, km, inclusive; leaves out events without a depth."
    )
    max_depth: float | None = strawberry.field(
        default=None, description="Greatest depth, km, inclusive; leaves out events without a depth."
    )
    box: BoxInput | None = strawberry.field(default=None, description="An area between latitudes and longitudes.")
    circle: CircleInput | None = strawberry.field(default=None, description="An area around a point.")
    types: list[str] | None = strawberry.field(
        default=None, description="Any of these types of event, such as `earthquake`; at most 50."
    )

    def conditions(self) -> dict[str, Any]:
        """The arguments of the selection."""
        return super().conditions() | {
            "min_depth": self.min_depth,
            "max_depth": self.max_depth,
            "box": Box(**asdict(self.box)) if self.box else None,
            "circle": Circle(**asdict(self.circle)) if self.circle else None,
            "types": tuple(self.types) if self.types is not None else None,
        }


def filter_facts(context: Context, arguments: Mapping[str, Any], result: object) -> dict[str, Any]:
    """The facts of a query's filter for its request log."""
    filter_: TimesAndMagnitudes | None = arguments.get("filter")
    if filter_ is None:
        return {}
    return {
        "starttime": millis_ceil(filter_.start_time) if filter_.start_time else None,
        "endtime": millis_floor(filter_.end_time) if filter_.end_time else None,
        "minmagnitude": filter_.min_magnitude,
    }


def _facts(context: Context, arguments: Mapping[str, Any], page: EventPage | None) -> dict[str, Any]:
    """The facts of an events query's filter and page for its request log."""
    sizes = [size for size in (arguments.get("first"), arguments.get("last")) if size is not None]
    facts: dict[str, Any] = {"page_size": sizes[0] if sizes else context.page_sizes.default}
    facts |= filter_facts(context, arguments, page)
    if page and page.was_read:
        facts["result_count"] = len(page.records)
        facts["has_next_token"] = page.has_more
        facts["buckets_scanned"] = page.partitions
    return facts


@strawberry.type
class EventQueries:
    @strawberry.field(
        description="The event with this USGS id; null if the catalogue does not have it.",
        graphql_type=Event | None,
        directives=[RequiresScope(scope=EVENTS_READ)],
        metadata=recorded("/earthquakes/event"),
    )
    async def event(
        self,
        info: Info[Context, None],
        event_id: Annotated[str, strawberry.argument(description="USGS event id, such as `us7000kz6a`.")],
    ) -> model.Event | None:
        return await info.context.service(Catalogue).event(event_id, selected_attributes(info, model.Event))

    @connection_field(
        EventConnection,
        TimeOrder(model.EVENTS),
        model.Event,
        description="Events in time order, by default the newest first.",
        directives=[RequiresScope(scope=EVENTS_READ), PAGE_SIZE],
        metadata=recorded(model.CATALOGUE_ROUTE, facts=_facts),
    )
    async def events(
        self,
        info: Info[Context, None],
        page: PageRequest,
        filter: Annotated[EventFilter | None, strawberry.argument(description="Which events; by default all.")] = None,
        order_by: Annotated[EventOrder, strawberry.argument(description="Their order.")] = EventOrder.TIME_DESC,
    ) -> EventPage:
        selection = filter.selection if filter else Selection()
        return await _page(info, selection, page, ascending=order_by is EventOrder.TIME_ASC)


async def _page(
    info: Info[Context, None], selection: Selection, page: PageRequest, *, ascending: bool = False
) -> EventPage:
    """A page of the selected events. It is not read where only its total is selected."""
    catalogue = info.context.service(Catalogue)
    if relay.selects_only_total(info):
        return catalogue.unread_page(selection)
    return await catalogue.page(selection, page.paging, ascending=ascending, attributes=page.attributes)


async def events_by_key(
    context: Context, keys: Sequence[str], attributes: frozenset[str] | None
) -> Mapping[str, model.Event]:
    """The existing events with these nodes' keys, with the needed attributes."""
    return await context.service(Catalogue).events(keys, attributes)
