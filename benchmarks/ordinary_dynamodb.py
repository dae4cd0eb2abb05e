"""An ordinary implementation of the same graph on the same table: the peer of our service on DynamoDB.

It uses Strawberry's own types, execution and ASGI application, with its caches of parsed and validated documents,
on an `aioboto3` resource. A page queries one day after the other, from the newest, until it is full. There are no
summaries, so the filter must say how far back the days go.

    TABLE=earthquake-events uvicorn benchmarks.ordinary_dynamodb:app
"""

import os
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NewType

import aioboto3
import strawberry
from boto3.dynamodb.conditions import Attr, Key
from starlette.applications import Starlette
from starlette.routing import Route
from strawberry.asgi import GraphQL
from strawberry.extensions import ParserCache, ValidationCache
from strawberry.schema.config import StrawberryConfig
from strawberry.types import Info

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb.service_resource import Table

EpochMillis = NewType("EpochMillis", int)
Item = dict[str, Any]


@strawberry.type
class Event:
    event_id: str
    event_ts_ms: EpochMillis
    mag: float
    place: str
    lat: float
    lon: float
    depth: float | None
    day_bucket: str
    source: str
    ingested_at: EpochMillis

    @classmethod
    def of(cls, item: Item) -> "Event":
        """The event that an item holds."""
        return cls(
            event_id=item["eventId"],
            event_ts_ms=EpochMillis(int(item["eventTsMs"])),
            mag=float(item["mag"]),
            place=item["place"],
            lat=float(item["lat"]),
            lon=float(item["lon"]),
            depth=float(item["depth"]) if "depth" in item else None,
            day_bucket=item["dayBucket"],
            source=item["source"],
            ingested_at=EpochMillis(int(item["ingestedAt"])),
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
    edges: list[EventEdge]
    page_info: PageInfo


@strawberry.input
class EventFilter:
    start_time: datetime
    end_time: datetime
    min_magnitude: float | None = None


@strawberry.type
class Query:
    @strawberry.field
    async def event(self, info: Info[Any, None], event_id: str) -> Event | None:
        table: Table = info.context["table"]
        answer = await table.get_item(Key={"pk": f"EVENT#{event_id}", "sk": "EVENT"}, ReturnConsumedCapacity="TOTAL")
        return Event.of(answer["Item"]) if "Item" in answer else None

    @strawberry.field
    async def events(
        self, info: Info[Any, None], filter: EventFilter | None = None, first: int = 50, after: str | None = None
    ) -> EventConnection:
        if filter is None:
            raise ValueError("`filter` must name the window")
        items = await page(info.context["table"], filter, first + 1, after)
        edges = [EventEdge(cursor=cursor_of(item), node=Event.of(item)) for item in items[:first]]
        info_ = PageInfo(has_next_page=len(items) > first, end_cursor=edges[-1].cursor if edges else None)
        return EventConnection(edges=edges, page_info=info_)


async def page(table: "Table", filter: EventFilter, wanted: int, after: str | None) -> list[Item]:
    """The newest matching items, `wanted` at most, and older than the cursor if there is one."""
    start_ms, end_ms = millis(filter.start_time), millis(filter.end_time)
    request: dict[str, Any] = {
        "IndexName": "TimeOrderedIndex",
        "ScanIndexForward": False,
        "ReturnConsumedCapacity": "TOTAL",
    }
    if filter.min_magnitude is not None:
        request["FilterExpression"] = Attr("mag").gte(Decimal(str(filter.min_magnitude)))
    if after is not None:
        request["ExclusiveStartKey"] = behind = key_of(after)
        end_ms = min(end_ms, behind["gsi1sk"])
    items: list[Item] = []
    for day in days(end_ms, start_ms):
        request["KeyConditionExpression"] = Key("gsi1pk").eq(f"DAY#{day}") & Key("gsi1sk").between(start_ms, end_ms)
        while True:
            if "FilterExpression" not in request:  # A limit counts items before they are filtered.
                request["Limit"] = wanted - len(items)
            answer = await table.query(**request)
            items += answer["Items"]
            if len(items) >= wanted:
                return items[:wanted]
            if "LastEvaluatedKey" not in answer:
                break
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        request.pop("ExclusiveStartKey", None)
    return items


def days(newest_ms: int, oldest_ms: int) -> Iterator[str]:
    """The day buckets between two times, the newest first."""
    day, last = (datetime.fromtimestamp(at / 1000, UTC).date() for at in (newest_ms, oldest_ms))
    while day >= last:
        yield f"{day:%Y%m%d}"
        day -= timedelta(days=1)


def millis(time: datetime) -> int:
    """Epoch milliseconds."""
    return round(time.timestamp() * 1000)


def cursor_of(item: Item) -> str:
    """The cursor of an item: its time and id."""
    return b64encode(f"{item['eventTsMs']}:{item['eventId']}".encode()).decode()


def key_of(cursor: str) -> dict[str, Any]:
    """The key of a cursor's item in the index."""
    time_ms, _, event_id = b64decode(cursor).decode().partition(":")
    day = datetime.fromtimestamp(int(time_ms) / 1000, UTC)
    return {"gsi1pk": f"DAY#{day:%Y%m%d}", "gsi1sk": int(time_ms), "pk": f"EVENT#{event_id}", "sk": "EVENT"}


class Endpoint(GraphQL[Any, None]):
    """The graph. Resolvers find the table in their context."""

    async def get_context(self, request: Any, response: Any) -> dict[str, Any]:
        """The context of resolvers."""
        return {"table": request.app.state.table}


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Open one DynamoDB resource for the life of the process."""
    async with aioboto3.Session().resource("dynamodb") as dynamodb:
        app.state.table = await dynamodb.Table(os.environ["TABLE"])
        yield


schema = strawberry.Schema(
    Query,
    extensions=[lambda: ParserCache(maxsize=100), lambda: ValidationCache(maxsize=100)],
    config=StrawberryConfig(scalar_map={EpochMillis: strawberry.scalar(name="EpochMillis", serialize=int)}),
)
app = Starlette(routes=[Route("/graphql", Endpoint(schema, graphql_ide=None))], lifespan=lifespan)
