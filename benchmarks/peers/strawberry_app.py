"""An ordinary Strawberry server: types, a connection, plain resolvers on `sqlite3`, cached parsing and validation."""

from functools import cached_property

import strawberry
from starlette.applications import Starlette
from starlette.routing import Route
from strawberry.asgi import GraphQL
from strawberry.extensions import ParserCache, ValidationCache

from benchmarks.peers import store
from benchmarks.peers.store import Filter, Row


@strawberry.type
class Event:
    event_id: strawberry.ID
    event_ts_ms: float  # a GraphQL Int has 32 bits
    mag: float | None
    place: str | None
    lat: float | None
    lon: float | None
    depth: float | None
    source: str
    ingested_at: float
    day_bucket: str

    @classmethod
    def of(cls, row: Row) -> "Event":
        event_id, event_ts_ms, mag, place, lat, lon, depth, source, ingested_at, day_bucket = row
        return cls(
            event_id=event_id,
            event_ts_ms=event_ts_ms,
            mag=mag,
            place=place,
            lat=lat,
            lon=lon,
            depth=depth,
            source=source,
            ingested_at=ingested_at,
            day_bucket=day_bucket,
        )


@strawberry.type
class EventEdge:
    cursor: str
    node: Event


@strawberry.type
class PageInfo:
    has_next_page: bool
    end_cursor: str | None


@strawberry.type
class EventConnection:
    filter: strawberry.Private[Filter]
    first: strawberry.Private[int]
    after: strawberry.Private[str | None]

    @cached_property
    def _page(self) -> tuple[list[Row], bool]:
        return store.page(self.filter, self.first, self.after)

    @strawberry.field
    def edges(self) -> list[EventEdge]:
        rows, _ = self._page
        return [EventEdge(cursor=store.cursor_of(row), node=Event.of(row)) for row in rows]

    @strawberry.field
    def page_info(self) -> PageInfo:
        rows, more = self._page
        return PageInfo(has_next_page=more, end_cursor=store.cursor_of(rows[-1]) if rows else None)

    @strawberry.field
    def total_count(self) -> int:
        return store.count(self.filter)


@strawberry.input
class EventInput:
    event_id: strawberry.ID
    event_ts_ms: float
    mag: float | None
    place: str | None
    lat: float | None
    lon: float | None
    depth: float | None
    source: str


@strawberry.type
class IngestResult:
    accepted: int


@strawberry.type
class Query:
    @strawberry.field
    def event(self, event_id: strawberry.ID) -> Event | None:
        row = store.event(event_id)
        return Event.of(row) if row else None

    @strawberry.field
    def events(
        self,
        first: int = 50,
        after: str | None = None,
        start_ms: float | None = None,
        end_ms: float | None = None,
        min_mag: float | None = None,
    ) -> EventConnection:
        return EventConnection(filter=Filter(start_ms, end_ms, min_mag), first=first, after=after)


@strawberry.type
class Mutation:
    @strawberry.mutation
    def ingest_events(self, events: list[EventInput]) -> IngestResult:
        rows = [(e.event_id, e.event_ts_ms, e.mag, e.place, e.lat, e.lon, e.depth, e.source) for e in events]
        return IngestResult(accepted=store.ingest(rows))


schema = strawberry.Schema(
    Query, Mutation, extensions=[lambda: ParserCache(maxsize=100), lambda: ValidationCache(maxsize=100)]
)
app = Starlette(routes=[Route("/graphql", GraphQL(schema, graphql_ide=None))])
