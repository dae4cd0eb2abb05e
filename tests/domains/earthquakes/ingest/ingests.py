"""Ingests for tests, and the contents of their databases: events, logs, and summaries with a recount."""

import ssl
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import ROUND_FLOOR, Decimal
from functools import cache
from io import BytesIO
from typing import Any

import httpx
import orjson

from graph.api.recording import Recording
from graph.core.clock import Clock
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.entities import DAY_SUMMARY, EVENT, YEAR_SUMMARY
from graph.domains.earthquakes.ingest.ingest import Ingest, Observer, unobserved
from graph.domains.earthquakes.ingest.reconcile import LookUpPace, Reconciler
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.model import is_listed
from graph.domains.earthquakes.usgs.client import UsgsClient
from graph.domains.request_logs.entities import LOG
from graph.observability.metrics import Metrics
from graph.store.contract import Database
from graph.store.entity import Item, Key
from graph.store.query import Query
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.entities import ENTITIES, documented
from tests.domains.request_logs.recorder import logging_to
from tests.store.engines import empty_database

NOW = 1_691_118_537_000  # 2023-08-04T03:08:57Z, when USGS generated the sample; every ingest here runs then
TODAYS_LOGS = "LOG#20230804"
TTL = NOW // 1000 + 7 * 86_400

ORIGIN = {"geometry": {"type": "Point", "coordinates": [-117.6, 35.6, 8.25]}}


NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients of servers without TLS: to load the certificates of authorities takes 20 ms of a processor."""


def always_now() -> int:
    """A clock that always says `NOW`."""
    return NOW


def plain_http() -> httpx.AsyncClient:
    """A client of servers without TLS."""
    return httpx.AsyncClient(trust_env=False, verify=NO_CERTIFICATES)


@cache
def unused_usgs() -> UsgsClient:
    """What an ingest of files and given events needs and never uses."""
    return UsgsClient(plain_http(), "http://127.0.0.1:9", timeout_s=1)


def unlogged_ingest(database: Database, clock: Clock, **options: Any) -> Ingest:
    """An ingest of files and given events, which records nothing."""
    return Ingest(database, unused_usgs(), Recording(Metrics()), clock, **options)


@dataclass(frozen=True)
class Station:
    """An empty database, a USGS server, and an ingest between them whose pauses take no time."""

    database: Database
    usgs: UsgsServer
    ingest: Ingest
    http: httpx.AsyncClient
    clock: Clock
    pauses: list[float] = field(default_factory=list)  # seconds that it would have waited before each retry

    def ingest_into(self, database: Database) -> Ingest:
        """Another ingest, into another database or through another connection to the same one."""
        return an_ingest(database, self.http, self.usgs.url, self.pauses, self.clock)


@asynccontextmanager
async def a_station(engine: str, usgs: UsgsServer, clock: Clock = always_now) -> AsyncIterator[Station]:
    """A station on an engine, with an empty database."""
    usgs.forget()
    async with empty_database(engine, ENTITIES, clock=clock) as database, plain_http() as http:
        pauses: list[float] = []
        yield Station(database, usgs, an_ingest(database, http, usgs.url, pauses, clock), http, clock, pauses)


def an_ingest(
    database: Database,
    http: httpx.AsyncClient,
    url: str,
    pauses: list[float],
    clock: Clock = always_now,
    observe: Observer = unobserved,
) -> Ingest:
    """An ingest that records its pauses instead of waiting."""

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    usgs = UsgsClient(http, url, timeout_s=60, clock=clock, sleep=sleep, jitter=longest)
    return Ingest(database, usgs, logging_to(database, clock), clock, observe)


async def no_pause(seconds: float) -> None:
    """Return at once."""


def a_reconciler(
    database: Database,
    ingest: Ingest,
    usgs: UsgsServer,
    http: httpx.AsyncClient,
    clock: Clock,
    pace: Callable[[], LookUpPace] = lambda: LookUpPace(1e9),
    *,
    copies: bool = False,
) -> Reconciler:
    """A reconciler that does not wait, unless its pace does."""
    client = UsgsClient(http, usgs.url, timeout_s=60, copies=copies, sleep=no_pause)
    return Reconciler(database, Catalogue(database, most_days_counted=100), client, ingest, clock, pace=pace)


def longest(low: float, high: float) -> float:
    """The longest pause within two bounds."""
    return high


def a_feature(event_id: Any = "us7000abcd", **properties: Any) -> dict[str, Any]:
    """A valid feature as USGS sends it."""
    given = {"mag": 4.5, "place": "10 km S of Here", "time": NOW, **properties}
    return {"type": "Feature", "id": event_id, "properties": given, **ORIGIN}


def located(event_id: str, *coordinates: Any) -> dict[str, Any]:
    """A valid feature with other coordinates: longitude, latitude, depth."""
    return a_feature(event_id) | {"geometry": {"type": "Point", "coordinates": list(coordinates)}}


def file_of(features: Iterable[Any]) -> BytesIO:
    """A GeoJSON file."""
    return BytesIO(orjson.dumps({"type": "FeatureCollection", "features": list(features)}))


def counts(report: IngestReport) -> tuple[int, int, int, int]:
    """Fetched, upserted, skipped, rejected, of an ingest that revised nothing."""
    assert report.revised == 0
    return report.fetched, report.upserted, report.skipped, report.rejected


async def events_in(database: Database) -> dict[str, Item]:
    """Every event's item by the event's id."""
    return {item["eventId"]: documented(EVENT, item) async for item in database.scan(EVENT)}


async def logs_in(database: Database) -> list[Item]:
    """The items of the request logs."""
    page = await database.query(Query(entity=LOG, partitions=[("20230804",)]))
    return [documented(LOG, item) for item in page.items]


async def summaries_in(database: Database) -> dict[Key, Item]:
    """Every summary's counts by its key."""
    beside = {"year", "day", "revision", "changedAt"}
    years = (await database.query(Query(entity=YEAR_SUMMARY, partitions=[()]))).items
    days = [item async for item in database.scan(DAY_SUMMARY)]
    return {
        summary.key_of(item): {name: value for name, value in item.items() if name not in beside}
        for summary, items in ((DAY_SUMMARY, days), (YEAR_SUMMARY, years))
        for item in items
    }


async def counted_in(database: Database) -> dict[Key, Item]:
    """Every summary's counts of events by its key, without zeros."""
    counts = {
        key: {
            name: number
            for name, number in item.items()
            if number and name.startswith(("events", "bin", "edge", "type:"))
        }
        for key, item in (await summaries_in(database)).items()
    }
    return {key: item for key, item in counts.items() if item}


async def recounted(database: Database) -> dict[Key, Item]:
    """The counts that the summaries must have, from the events alone."""
    return recount((await events_in(database)).values())


def recount(events: Iterable[Item]) -> dict[Key, Item]:
    """The counts that the summaries of these events must have."""
    counts: dict[Key, Counter[str]] = {}
    for item in events:
        if not is_listed(item):
            continue
        day = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=item["eventTsMs"])).date()
        tenths = Decimal(str(item["mag"])) * 10
        floor = tenths.to_integral_value(ROUND_FLOOR)
        bins = ["events", f"bin{floor}", *([f"edge{floor}"] if tenths == floor else []), f"type:{item.get('type', '')}"]
        year = f"{day.year:04}"
        for key in (DAY_SUMMARY.key_for(year, f"{year}{day:%m%d}"), YEAR_SUMMARY.key_for(year)):
            counts.setdefault(key, Counter()).update(bins)
    return {key: dict(counter) for key, counter in counts.items()}
