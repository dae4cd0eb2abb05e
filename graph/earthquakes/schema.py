"""The catalogue in the graph: types that describe its records, and resolvers that translate and ask."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, cast

import strawberry
from strawberry.scalars import JSON
from strawberry.types import Info

from graph import relay
from graph.access.callers import Scope
from graph.access.requires import RequiresScope
from graph.context import Context
from graph.earthquakes import gutenberg_richter, ingest, model, statistics, upkeep, usgs
from graph.earthquakes.catalogue import EventPage
from graph.earthquakes.feature_collection import feature_collection
from graph.earthquakes.magnitudes import GREATEST_BIN, LEAST_BIN, MagnitudeRange
from graph.earthquakes.selection import Box, Circle, Selection
from graph.logged import Logged
from graph.operations.sizes import Cost, ListSize
from graph.paging import Paging
from graph.request_log.analytics import CATALOGUE_ROUTE
from graph.scalars import EpochMillis, describe_enum, millis_ceil, millis_floor


def _describe(feed: usgs.UsgsFeed) -> str:
    least, period = feed.value.split("_")
    events = {"all": "All events", "significant": "Significant events"}.get(
        least, f"Events of magnitude {least} and more"
    )
    return f"{events} of the past {period}."


describe_enum(usgs.UsgsFeed, "A summary feed of USGS, renewed every minute.", _describe)


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
    place: str = strawberry.field(description="Where it was, in words; the coordinates where no name is known.")
    lat: float = strawberry.field(description="Latitude, degrees north, -90 … 90.")
    lon: float = strawberry.field(description="Longitude, degrees east, -180 … 180.")
    depth: float | None = strawberry.field(
        description="Depth, km below sea level; 0 for events above it, null where not measured."
    )
    day_bucket: str = strawberry.field(description="UTC day of the origin time, `YYYYMMDD`.")
    source: str = strawberry.field(description="Where the record came from, `USGS`.")
    ingested_at: EpochMillis = strawberry.field(description="When it was stored, epoch milliseconds.")
    mag_type: str | None = strawberry.field(description="How the magnitude was measured, such as `ml` or `mww`.")
    type: str | None = strawberry.field(description="What shook, such as `earthquake` or `quarry blast`.")
    status: str | None = strawberry.field(description="`automatic` or `reviewed`, as of the ingest.")
    updated: EpochMillis | None = strawberry.field(
        description="USGS's last change before the ingest, epoch milliseconds."
    )
    url: str | None = strawberry.field(description="The event's page at USGS.")
    tsunami: bool | None = strawberry.field(description="Whether USGS linked it to a tsunami message.")
    felt: int | None = strawberry.field(description="Number of felt reports, as of the ingest.")
    alert: str | None = strawberry.field(description="PAGER alert level: `green`, `yellow`, `orange` or `red`.")
    sig: int | None = strawberry.field(description="USGS's significance, 0 to about 1000.")

    @strawberry.field(
        description="Other events around this one, in space and on either side in time, newest first.",
        graphql_type=Annotated["EventConnection", strawberry.lazy("graph.earthquakes.schema")],
        directives=[PAGE_SIZE, Cost(weight="10")],
    )
    @staticmethod
    async def nearby(
        event: strawberry.Parent[model.Event],
        info: Info[Context, None],
        radius_km: Annotated[float, strawberry.argument(description="Great-circle distance, km, 0 … 40,100.")] = 100,
        days: Annotated[float, strawberry.argument(description="At most so long before or after, 0 … 36,525.")] = 30,
        first: relay.First = None,
        after: relay.After = None,
        last: relay.Last = None,
        before: relay.Before = None,
    ) -> EventPage:
        paging = Paging.of(model.EVENTS, info.context.page_sizes, first=first, after=after, last=last, before=before)
        selection = Selection.around(event, radius_km=radius_km, days=days)
        if relay.asks_for_total_alone(info):
            return info.context.catalogue.unread_page(selection)
        return await info.context.catalogue.page(selection, paging)

    @classmethod
    def is_type_of(cls, record: object, info: object) -> bool:
        return isinstance(record, model.Event)


@strawberry.type(description="A page of events.")
class EventConnection(relay.Connection[Event]):
    @strawberry.field(
        description="How many events match on all pages, exactly. Null where counting would read too many days: "
        "when the filter names more than time and magnitude, or a magnitude that is not on a tenth, over a long time.",
        directives=[Cost(weight="10")],  # it may read the summaries of many days, or some days' events
    )
    @staticmethod
    async def total_count(page: strawberry.Parent[EventPage]) -> int | None:
        return await page.total()

    @strawberry.field(
        description="The page as a GeoJSON FeatureCollection in the form of USGS's feeds: each with the event's id, "
        "longitude and latitude in degrees, depth in km where it is known, and the other fields by USGS's names.",
        directives=[Cost(weight="16")],  # of each event: as many values
    )
    @staticmethod
    def as_geo_json(page: strawberry.Parent[EventPage]) -> JSON:
        return cast("JSON", feature_collection(page.records))

    @strawberry.field(description="Day buckets read for this page.")
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


@strawberry.input(description="Which events are meant: those that fulfil everything that is given.")
class EventFilter:
    start_time: datetime | None = strawberry.field(default=None, description="Earliest origin time, inclusive.")
    end_time: datetime | None = strawberry.field(default=None, description="Latest origin time, inclusive.")
    min_magnitude: float | None = strawberry.field(default=None, description="Least magnitude, inclusive.")
    max_magnitude: float | None = strawberry.field(default=None, description="Greatest magnitude, inclusive.")
    min_depth: float | None = strawberry.field(
        default=None, description="Least depth, km, inclusive; leaves out events without a depth."
    )
    max_depth: float | None = strawberry.field(
        default=None, description="Greatest depth, km, inclusive; leaves out events without a depth."
    )
    box: BoxInput | None = strawberry.field(default=None, description="An area between latitudes and longitudes.")
    circle: CircleInput | None = strawberry.field(default=None, description="An area around a point.")
    types: list[str] | None = strawberry.field(
        default=None, description="What shook, any of these, such as `earthquake`; at most 50."
    )

    @property
    def selection(self) -> Selection:
        """The filter in the catalogue's words. Times are rounded into the bounds, to the millisecond."""
        return Selection(
            start_ms=millis_ceil(self.start_time) if self.start_time else None,
            end_ms=millis_floor(self.end_time) if self.end_time else None,
            magnitudes=MagnitudeRange(self.min_magnitude, self.max_magnitude),
            min_depth=self.min_depth,
            max_depth=self.max_depth,
            box=Box(**asdict(self.box)) if self.box else None,
            circle=Circle(**asdict(self.circle)) if self.circle else None,
            types=tuple(self.types) if self.types is not None else None,
        )


@strawberry.input(description="Which events are counted: those that fulfil everything that is given.")
class StatisticsFilter:
    start_time: datetime | None = strawberry.field(default=None, description="Earliest origin time, inclusive.")
    end_time: datetime | None = strawberry.field(default=None, description="Latest origin time, inclusive.")
    min_magnitude: float | None = strawberry.field(
        default=None, description="Least magnitude, inclusive; on a tenth, such as 4.5."
    )
    max_magnitude: float | None = strawberry.field(
        default=None, description="Greatest magnitude, inclusive; on a tenth, such as 4.5."
    )

    @property
    def selection(self) -> Selection:
        """The filter in the catalogue's words."""
        return Selection(
            start_ms=millis_ceil(self.start_time) if self.start_time else None,
            end_ms=millis_floor(self.end_time) if self.end_time else None,
            magnitudes=MagnitudeRange(self.min_magnitude, self.max_magnitude),
        )


describe_enum(
    statistics.Interval, "The length of the periods of a series, UTC.", lambda interval: f"A {interval.name.lower()}."
)


@strawberry.type(description="How many events each period has, one after the other without a gap.")
class CountSeries:
    interval: statistics.Interval = strawberry.field(description="The length of a period.")
    start: date | None = strawberry.field(description="First day of the first period, UTC; null where there is none.")
    counts: list[int] = strawberry.field(
        description="The events of each period, zeros included. The window may cut the first and the last one.",
        directives=[ListSize(assumed_size=statistics.MOST_PERIODS), Cost(weight="0.02")],  # numbers, and no more
    )


@strawberry.type(description="The events of a magnitude bin of 0.1.")
class MagnitudeBin:
    magnitude: float = strawberry.field(description="Lower edge: a bin 4.5 has the magnitudes from 4.5 to below 4.6.")
    count: int = strawberry.field(description="Events of this bin.")
    cumulative: int = strawberry.field(description="Events of this bin and of all above.")


@strawberry.type(description="From which magnitude on the catalogue has, by all appearance, every event.")
class Completeness:
    magnitude: float | None = strawberry.field(
        description="By maximum curvature, the bin with the most events: Wiemer and Wyss (2000), BSSA 90, 859-869."
    )
    reason: str | None = strawberry.field(description="Why there is none, where there is none.")


@strawberry.type(
    description="The relation log10 N = a - b M, N being the number of events with at least magnitude M, "
    "estimated from the events at and above the magnitude of completeness."
)
class GutenbergRichter:
    b: float | None = strawberry.field(
        description="b-value by maximum likelihood, log10(e) / (mean - (completeness - 0.05)): "
        "Aki (1965), Bull. Earthq. Res. Inst. 43, 237-239, for bins of 0.1 as by Utsu (1966)."
    )
    uncertainty: float | None = strawberry.field(
        description="Standard deviation of b, 2.30 b² times that of the mean: Shi and Bolt (1982), BSSA 72, 1677-1687."
    )
    a: float | None = strawberry.field(description="a-value, of the whole window: log10 N where M is 0.")
    events: int = strawberry.field(description="Events that this is estimated from.")
    reason: str | None = strawberry.field(description="Why there is none, where there is none.")


Corrected = Annotated[
    bool,
    strawberry.argument(
        description="Take a completeness 0.2 higher, as is usual: Woessner and Wiemer (2005), BSSA 95, 684-698."
    ),
]


@strawberry.type(description="What the selected events come to.")
class CatalogueStatistics:
    @strawberry.field(description="How many events there are.")
    @staticmethod
    async def count(asked: strawberry.Parent[statistics.Statistics]) -> int:
        return (await asked.counts()).total()

    @strawberry.field(
        description="The event with the greatest magnitude, the latest of equals. Null where there is none, "
        "or where `maxMagnitude` cuts a bin whose events stand on too many days.",
        graphql_type=Event | None,
        directives=[Cost(weight="10")],
    )
    @staticmethod
    async def largest(asked: strawberry.Parent[statistics.Statistics]) -> model.Event | None:
        return await asked.largest()

    @strawberry.field(
        description="How many events there are in the course of time: from the window's start to its end or, "
        "where it is open, from the first event to the last.",
        graphql_type=CountSeries,
        directives=[Cost(weight="10")],
    )
    @staticmethod
    async def series(
        asked: strawberry.Parent[statistics.Statistics],
        interval: Annotated[
            statistics.Interval, strawberry.argument(description="The length of a period.")
        ] = statistics.Interval.MONTH,
    ) -> statistics.Series:
        return await asked.series(interval)

    @strawberry.field(
        description="How many events there are by magnitude: the bins from the least to the greatest, zeros included.",
        graphql_type=list[MagnitudeBin],
        directives=[ListSize(assumed_size=GREATEST_BIN - LEAST_BIN + 1)],
    )
    @staticmethod
    async def magnitude_frequency(
        asked: strawberry.Parent[statistics.Statistics],
    ) -> list[gutenberg_richter.MagnitudeBin]:
        return gutenberg_richter.distribution(await asked.counts())

    @strawberry.field(description="The magnitude of completeness.", graphql_type=Completeness)
    @staticmethod
    async def completeness(
        asked: strawberry.Parent[statistics.Statistics], corrected: Corrected = False
    ) -> gutenberg_richter.Completeness:
        return gutenberg_richter.completeness(await asked.counts(), corrected=corrected)

    @strawberry.field(description="The Gutenberg-Richter relation.", graphql_type=GutenbergRichter)
    @staticmethod
    async def gutenberg_richter(
        asked: strawberry.Parent[statistics.Statistics], corrected: Corrected = False
    ) -> gutenberg_richter.GutenbergRichter:
        counts = await asked.counts()
        return gutenberg_richter.gutenberg_richter(counts, gutenberg_richter.completeness(counts, corrected=corrected))


@strawberry.type(
    description="How well the catalogue is kept up, as of now and as every process of the service sees it."
)
class IngestStatus:
    polling: bool = strawberry.field(
        description="Whether USGS is polled for this catalogue, by whichever process. Where it no longer is, "
        "the other fields tell how it went."
    )
    last_success: EpochMillis | None = strawberry.field(
        description="When a poll last succeeded, epoch milliseconds, with new events or without; null for never."
    )
    last_error: str | None = strawberry.field(
        description="Stable code of the last poll that failed, such as `UPSTREAM_UNAVAILABLE`; null for none. "
        "It stays when polls succeed again."
    )
    last_error_at: EpochMillis | None = strawberry.field(
        description="When that poll failed, epoch milliseconds; null for never."
    )
    failures: int = strawberry.field(description="Polls that failed since the last success; 0 while they succeed.")
    next_attempt: EpochMillis | None = strawberry.field(
        description="When the next poll is due, epoch milliseconds; while one is under way, when another process "
        "would take over. Null before the first one, and where USGS is not polled."
    )
    newest_event_lag_seconds: float | None = strawberry.field(
        description="Time since the origin time of the newest event, seconds; null where there is no event."
    )


def _facts(context: Context, arguments: Mapping[str, Any], page: EventPage | None) -> dict[str, Any]:
    """What the log of an events query records of its filter and its page."""
    sizes = [size for size in (arguments.get("first"), arguments.get("last")) if size is not None]
    facts: dict[str, Any] = {"page_size": sizes[0] if sizes else context.page_sizes.default}
    facts |= _window_facts(context, arguments, page)
    if page and page.was_read:
        facts["result_count"] = len(page.records)
        facts["has_next_token"] = page.has_more
        facts["buckets_scanned"] = page.partitions
    return facts


def _window_facts(context: Context, arguments: Mapping[str, Any], result: object) -> dict[str, Any]:
    """What the log of a query records of its filter."""
    asked: EventFilter | StatisticsFilter | None = arguments.get("filter")
    if asked is None:
        return {}
    return {
        "starttime": millis_ceil(asked.start_time) if asked.start_time else None,
        "endtime": millis_floor(asked.end_time) if asked.end_time else None,
        "minmagnitude": asked.min_magnitude,
    }


@strawberry.type
class EarthquakeQueries:
    @strawberry.field(
        description="The event with a USGS id; null where the catalogue has none.",
        graphql_type=Event | None,
        directives=[RequiresScope(scope=Scope.EVENTS_READ)],
        extensions=[Logged("/earthquakes/event")],
    )
    async def event(
        self,
        info: Info[Context, None],
        event_id: Annotated[str, strawberry.argument(description="USGS event id, such as `us7000kz6a`.")],
    ) -> model.Event | None:
        return await info.context.catalogue.event(event_id)

    @strawberry.field(
        description="Catalogued events in time order, newest first unless asked otherwise.",
        graphql_type=EventConnection,
        directives=[RequiresScope(scope=Scope.EVENTS_READ), PAGE_SIZE],
        extensions=[Logged(CATALOGUE_ROUTE, _facts)],
    )
    async def events(
        self,
        info: Info[Context, None],
        filter: Annotated[EventFilter | None, strawberry.argument(description="Which events; all without it.")] = None,
        order_by: Annotated[EventOrder, strawberry.argument(description="Their order.")] = EventOrder.TIME_DESC,
        first: relay.First = None,
        after: relay.After = None,
        last: relay.Last = None,
        before: relay.Before = None,
    ) -> EventPage:
        sizes = info.context.page_sizes
        paging = Paging.of(model.EVENTS, sizes, first=first, after=after, last=last, before=before)
        selection = filter.selection if filter else Selection()
        if relay.asks_for_total_alone(info):
            return info.context.catalogue.unread_page(selection)
        return await info.context.catalogue.page(selection, paging, ascending=order_by is EventOrder.TIME_ASC)

    @strawberry.field(
        description="Statistics of the catalogue, from its summaries of each day and year.",
        graphql_type=CatalogueStatistics,
        directives=[RequiresScope(scope=Scope.EVENTS_READ), Cost(weight="10")],
        extensions=[Logged("/earthquakes/statistics", _window_facts)],
    )
    async def catalogue_statistics(
        self,
        info: Info[Context, None],
        filter: Annotated[
            StatisticsFilter | None, strawberry.argument(description="Which events; all without it.")
        ] = None,
    ) -> statistics.Statistics:
        return await info.context.catalogue.statistics(filter.selection if filter else Selection())

    @strawberry.field(
        description="How polling USGS goes, and how old the newest event is.",
        graphql_type=IngestStatus,
        directives=[RequiresScope(scope=Scope.EVENTS_READ), Cost(weight="10")],  # as many reads of the store, at most
        extensions=[Logged("/ingest/status")],
    )
    async def ingest_status(self, info: Info[Context, None]) -> upkeep.IngestStatus:
        return await info.context.upkeep.status()


@strawberry.type(description="Why one event of an ingest was not taken.")
class Rejection:
    event_id: str | None = strawberry.field(description="The event's id; null where it has no usable one.")
    code: str = strawberry.field(description="Stable code, such as `MAGNITUDE_MISSING`.")
    message: str = strawberry.field(description="What is wrong with it.")


@strawberry.type(description="What became of an ingest: fetched = upserted + skipped + rejected.")
class IngestPayload:
    request_id: strawberry.ID = strawberry.field(description="UUID of the ingest in the request logs.")
    fetched: int = strawberry.field(description="Events given, or fetched from USGS.")
    upserted: int = strawberry.field(description="Events inserted.")
    skipped: int = strawberry.field(description="Events that were stored already, or given twice.")
    rejected: int = strawberry.field(description="Events that break a rule of the catalogue.")
    rejections: list[Rejection] = strawberry.field(description="Why, for at most the first 1,000 of these.")
    retries: int = strawberry.field(description="Attempts on USGS after the first.")
    upstream_size: int | None = strawberry.field(description="Bytes of USGS's answer; null where it was not asked.")
    upstream_hash: str | None = strawberry.field(description="SHA-256 of USGS's answer, hexadecimal.")
    latency_ms: int = strawberry.field(description="How long it took, milliseconds.")


@strawberry.input(description="What to fetch from USGS: the latest events, a feed, or a window of time.")
class IngestRecentInput:
    limit: int | None = strawberry.field(
        default=None, description="At most so many, the latest first, 1 … 20,000; default 100, with a window 20,000."
    )
    feed: usgs.UsgsFeed | None = strawberry.field(
        default=None, description="A summary feed, without any other argument."
    )
    start_time: datetime | None = strawberry.field(default=None, description="Earliest origin time, inclusive.")
    end_time: datetime | None = strawberry.field(default=None, description="Latest origin time, inclusive.")
    min_magnitude: float | None = strawberry.field(default=None, description="Least magnitude, inclusive.")

    @property
    def asked(self) -> usgs.RecentEvents:
        """The input in the words of the USGS client."""
        return usgs.RecentEvents(
            limit=self.limit,
            feed=self.feed,
            start_ms=millis_ceil(self.start_time) if self.start_time else None,
            end_ms=millis_floor(self.end_time) if self.end_time else None,
            min_magnitude=self.min_magnitude,
        )


@strawberry.input(description="An event as a caller gives it, by the rules of the catalogue.")
class EventInput:
    event_id: str = strawberry.field(description="Event id, 1 to 64 characters, none of them a control.")
    event_ts_ms: EpochMillis = strawberry.field(description="Origin time, epoch milliseconds.")
    mag: float = strawberry.field(description="Magnitude; clamped to -2.0 … 10.0.")
    place: str | None = strawberry.field(
        default=None, description="Where it was, in words; cut after 512 characters; the coordinates without it."
    )
    lat: float = strawberry.field(description="Latitude, degrees north, -90 … 90.")
    lon: float = strawberry.field(description="Longitude, degrees east, -180 … 180.")
    depth: float | None = strawberry.field(default=None, description="Depth, km; negative is stored as 0.")
    source: str = strawberry.field(default="USGS", description="Where the record comes from.")
    mag_type: str | None = strawberry.field(default=None, description="How the magnitude was measured.")
    type: str | None = strawberry.field(default=None, description="What shook, such as `earthquake`.")
    status: str | None = strawberry.field(default=None, description="`automatic` or `reviewed`.")
    updated: EpochMillis | None = strawberry.field(default=None, description="Last change, epoch milliseconds.")
    url: str | None = strawberry.field(default=None, description="The event's page.")
    tsunami: bool | None = strawberry.field(default=None, description="Whether a tsunami message was linked.")
    felt: int | None = strawberry.field(default=None, description="Number of felt reports.")
    alert: str | None = strawberry.field(default=None, description="PAGER alert level.")
    sig: int | None = strawberry.field(default=None, description="Significance, 0 to about 1000.")


@strawberry.input(description="Events to store.")
class IngestEventsInput:
    events: list[EventInput] = strawberry.field(description="At most 1,000.")


@strawberry.type
class EarthquakeMutations:
    @strawberry.mutation(
        description="Fetch events from USGS and store those that are new.",
        graphql_type=IngestPayload,
        directives=[
            RequiresScope(scope=Scope.EVENTS_WRITE),
            Cost(weight="100"),  # another service has to answer first
            ListSize(assumed_size=ingest.REJECTIONS_TOLD, sized_fields=["rejections"]),
        ],
    )
    async def ingest_recent(
        self,
        info: Info[Context, None],
        input: Annotated[
            IngestRecentInput | None, strawberry.argument(description="What to fetch; the latest 100 without it.")
        ] = None,
    ) -> ingest.IngestReport:
        return await info.context.ingest.recent(input.asked if input else usgs.RecentEvents())

    @strawberry.mutation(
        description="Store events that are new.",
        graphql_type=IngestPayload,
        directives=[
            RequiresScope(scope=Scope.EVENTS_WRITE),
            ListSize(slicing_arguments=["input.events"], sized_fields=["rejections"]),
        ],
    )
    async def ingest_events(
        self,
        info: Info[Context, None],
        input: Annotated[IngestEventsInput, strawberry.argument(description="The events.")],
    ) -> ingest.IngestReport:
        return await info.context.ingest.events([vars(event) for event in input.events])


async def events_by_key(context: Context, keys: Sequence[str]) -> Mapping[str, model.Event]:
    """The events that nodes' keys name, as far as they exist."""
    return await context.catalogue.events(keys)
