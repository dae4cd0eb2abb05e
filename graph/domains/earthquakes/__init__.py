"""The catalogue of earthquakes: events, statistics, ingest and subscriptions."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.routing import BaseRoute

from graph.domain import Domain, Node, Resources, Task, WebPage
from graph.domains.earthquakes import background, model
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.commands import demo_option, ingest, poll_option, rebuild
from graph.domains.earthquakes.entities import ENTITIES
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.ingest.status import IngestStatusReader
from graph.domains.earthquakes.live import EventBroadcast
from graph.domains.earthquakes.metrics import IngestMetrics, measure_broadcast, measure_ingest_status
from graph.domains.earthquakes.schema.events import Event, EventQueries, events_by_key
from graph.domains.earthquakes.schema.ingest import IngestMutations, IngestQueries
from graph.domains.earthquakes.schema.live import EventSubscriptions
from graph.domains.earthquakes.schema.statistics import StatisticsQueries
from graph.domains.earthquakes.scopes import EVENTS_READ, EVENTS_WRITE
from graph.domains.earthquakes.settings import EarthquakeSettings
from graph.domains.earthquakes.usgs.client import UsgsClient
from graph.pages import dashboard
from graph.settings import Settings


@asynccontextmanager
async def open_services(resources: Resources) -> AsyncIterator[Sequence[object]]:
    """Open the catalogue, the client of USGS, the broadcast and the ingest status."""
    settings = resources.settings.part(EarthquakeSettings)
    database, clock, metrics = resources.database, resources.clock, resources.metrics
    catalogue = Catalogue(database, most_days_counted=settings.max_days_counted)
    usgs = UsgsClient(resources.http, settings.usgs_url, timeout_s=settings.usgs_timeout, clock=clock)
    broadcast = EventBroadcast(database, catalogue)
    status = IngestStatusReader(database, catalogue, clock, polls=settings.poll > 0)
    measure_broadcast(broadcast, metrics)
    measure_ingest_status(status, metrics)
    resources.endings.add(broadcast.end)
    try:
        yield (
            catalogue,
            Ingest(database, usgs, resources.recording, clock, IngestMetrics(metrics).add),
            broadcast,
            status,
        )
    finally:
        await broadcast.close()


def routes(settings: Settings) -> Sequence[BaseRoute]:
    """The dashboard at the root."""
    return dashboard.routes(settings.max_page_size) if settings.part(EarthquakeSettings).dashboard else ()


def pages(settings: Settings) -> Sequence[WebPage]:
    """The dashboard, which reads events."""
    scopes = () if settings.public_read else (EVENTS_READ,)
    return (WebPage("Dashboard", "/", scopes),) if settings.part(EarthquakeSettings).dashboard else ()


DOMAIN = Domain(
    name="earthquakes",
    entities=ENTITIES,
    scopes=(EVENTS_READ, EVENTS_WRITE),
    settings=EarthquakeSettings,
    open=open_services,
    queries=(EventQueries, StatisticsQueries, IngestQueries),
    mutations=(IngestMutations,),
    subscriptions=(EventSubscriptions,),
    nodes=(Node(Event, record=model.Event, load=events_by_key, scope=EVENTS_READ),),
    routes=routes,
    pages=pages,
    tasks=(Task("polling", background.poll), Task("reading the ingest status", background.read_status)),
    commands=(ingest, rebuild),
    options=(poll_option, demo_option),
    examples=Path(__file__).parent / "examples",
    prepare=background.prepare,
    readiness=background.readiness,
)
