"""The catalogue of earthquakes: events, ingest and subscriptions."""

from collections.abc import Sequence
from pathlib import Path

from graph.domain import Domain, Resources, Task
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.entities import ENTITIES, EVENT, EVENT_ADOPTION
from graph.domains.earthquakes.ingest.changes import CHANGES
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.ingest.polling import POLL
from graph.domains.earthquakes.ingest.reconcile import Reconciler
from graph.domains.earthquakes.ingest.status import IngestStatusReader
from graph.domains.earthquakes.operations import background
from graph.domains.earthquakes.operations.commands import demo_option, ingest, poll_option, rebuild, reconcile
from graph.domains.earthquakes.operations.metrics import (
    IngestMetrics,
    measure_broadcast,
    measure_ingest_status,
    measure_summaries,
)
from graph.domains.earthquakes.revisions.live import EventBroadcast
from graph.domains.earthquakes.schema.event_queries import EventQueries
from graph.domains.earthquakes.schema.events import Event, EventVersion
from graph.domains.earthquakes.schema.ingest import IngestMutations, IngestQueries
from graph.domains.earthquakes.schema.live import EventSubscriptions
from graph.domains.earthquakes.scopes import EVENTS_READ, EVENTS_WRITE
from graph.domains.earthquakes.settings import EarthquakeSettings
from graph.domains.earthquakes.summaries import SUMMARY_CHECK, SummaryStatusReader
from graph.domains.earthquakes.usgs.client import UsgsClient
from graph.feed.adoption import Adoption, adopt_by
from graph.store.conditions import Absent


async def open_services(resources: Resources) -> Sequence[object]:
    """Open the catalogue, the client of USGS, the broadcast, the ingest status and the status of the summaries."""
    settings = resources.settings.part(EarthquakeSettings)
    database, clock, metrics = resources.database, resources.clock, resources.metrics
    catalogue = Catalogue(database, most_days_counted=settings.max_days_counted)
    usgs = UsgsClient(resources.http, settings.usgs_url, timeout_s=settings.usgs_timeout, clock=clock)
    broadcast = EventBroadcast(database)
    status = IngestStatusReader(database, catalogue, clock, polls=settings.poll > 0)
    measure_broadcast(broadcast, metrics)
    measure_ingest_status(status, metrics)
    summaries = SummaryStatusReader(database, clock)
    measure_summaries(summaries, metrics)
    resources.endings.add(broadcast.end)
    revises = settings.revisions == "keep"
    observe = IngestMetrics(metrics).add
    ingest = Ingest(database, usgs, resources.recording, clock, observe, revises=revises)
    resources.closing.push_async_callback(broadcast.close)
    reconciler = Reconciler(database, catalogue, usgs, ingest, clock)
    return catalogue, ingest, reconciler, broadcast, status, summaries


DOMAIN = Domain(
    name="earthquakes",
    entities=(*ENTITIES, POLL, CHANGES, SUMMARY_CHECK),
    scopes=(EVENTS_READ, EVENTS_WRITE),
    settings=EarthquakeSettings,
    open=open_services,
    queries=(EventQueries, IngestQueries),
    mutations=(IngestMutations,),
    subscriptions=(EventSubscriptions,),
    nodes=(Event, EventVersion),
    tasks=(
        Task("polling", background.poll),
        Task("following the changes of USGS", background.follow_changes),
        Task("reading the ingest status", lambda services: services.of(IngestStatusReader).read_forever()),
        Task("checking the summaries", background.check_summaries),
        Task("reading the status of the summaries", lambda services: services.of(SummaryStatusReader).read_forever()),
    ),
    commands=(ingest, reconcile, rebuild),
    options=(poll_option, demo_option),
    examples=Path(__file__).parent / "examples",
    adoptions=(Adoption(EVENT, EVENT_ADOPTION, Absent("arrival"), adopt_by(Ingest, Ingest.adopt)),),
    prepare=background.prepare,
    readiness=background.readiness,
)
