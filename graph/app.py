"""The application: the only place where the parts meet.

settings → store → access patterns → schema → endpoint → routes
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any, cast

import httpx
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from graph.access.authentication import authentication
from graph.access.rate import rates
from graph.api.context import Context
from graph.api.documents.limits import Limits
from graph.api.documents.persisted import persisted
from graph.api.documents.prepared import Documents
from graph.api.schema import schema
from graph.core.clock import Clock, now_ms
from graph.core.errors import BadRequest, DatabaseUnavailable, InternalServerError
from graph.core.paging import PageSizes
from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.domains.earthquakes import entities as earthquakes
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.ingest.poll_state import LEASE_MS
from graph.domains.earthquakes.ingest.polling import polling
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.ingest.status import IngestStatus, Upkeep, watched
from graph.domains.earthquakes.live import EventBroadcast
from graph.domains.earthquakes.usgs.client import UsgsClient
from graph.domains.request_logs import entities as request_logs
from graph.domains.request_logs.access_patterns import RequestLogs
from graph.domains.request_logs.budget import LogLimits
from graph.domains.request_logs.buffer import log_buffer
from graph.observability.logs import get_logger
from graph.observability.metrics import Metrics
from graph.observability.requests import Telemetry
from graph.observability.scrape import Scrape, sampled
from graph.observability.tracing import Tracing, Untraced, open_tracing
from graph.pages import dashboard, graphiql
from graph.settings import Settings
from graph.store.contract import Database
from graph.store.location import StoreLocation
from graph.store.meter import MeteredDatabase
from graph.transport.admission import Admission, ExecutionLimits
from graph.transport.endpoint import GraphQLEndpoint
from graph.transport.errors import told
from graph.transport.request import PREFLIGHTED
from graph.transport.request_ids import RequestIds
from graph.transport.streams import Streams
from graph.transport.websocket import SocketLimits, WebSocketEndpoint
from graph.work.account import Work, WorkLimits
from graph.work.loop_watch import loop_watched
from graph.work.slots import OperationSlots
from graph.work.threads import FairThreads

GRAPH_PATH = "/graphql"
_TO_THE_GRAPH = Route("/", lambda request: RedirectResponse(GRAPH_PATH))
ENTITIES = (*earthquakes.ENTITIES, *request_logs.ENTITIES)
SAMPLE = files("graph.domains.earthquakes") / "sample" / "usgs_all_week_2023-08-03.geojson.gz"

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of the service that a command uses too, open for as long as it runs."""

    database: Database
    catalogue: Catalogue
    ingest: Ingest
    request_logs: RequestLogs


@asynccontextmanager
async def open_parts(
    settings: Settings,
    clock: Clock = now_ms,
    metrics: Metrics | None = None,
    tracing: Tracing = Untraced(),  # noqa: B008 - it has no state
) -> AsyncIterator[Parts]:
    """Open the store and the way to USGS.

    Raises:
        DatabaseUnavailable: The store does not answer, or has no such table.
    """
    location = StoreLocation.of(settings.store)
    async with (
        location.open(
            ENTITIES,
            environment=settings.environment,
            clock=clock,
            meter=metrics,
            timeout_s=settings.store_timeout,
        ) as database,
        httpx.AsyncClient() as http,
    ):
        if spans := tracing.store(location.engine, EARTHQUAKE_EVENTS.name):
            database = MeteredDatabase(database, spans)
        logs = RequestLogs(database, clock)
        usgs = UsgsClient(http, settings.usgs_url, timeout_s=settings.usgs_timeout, clock=clock)
        yield Parts(
            database=database,
            catalogue=Catalogue(database, most_days_counted=settings.max_days_counted),
            ingest=Ingest(database, usgs, logs, clock, *([metrics.ingest] if metrics else [])),
            request_logs=logs,
        )


async def load_sample(parts: Parts) -> IngestReport | None:
    """Store the packaged week of real events, if the catalogue is empty."""
    if not await parts.catalogue.is_empty():
        return None
    with SAMPLE.open("rb") as stream:
        return await parts.ingest.file(stream)


def create_app(settings: Settings | None = None, *, clock: Clock = now_ms) -> ASGIApp:
    """The service as an ASGI application; without settings, with those of the environment."""
    settings = settings or Settings()
    page_sizes = PageSizes(settings.page_size, settings.max_page_size)
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[Mapping[str, Any]]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(sampled(metrics))
            tracing = await stack.enter_async_context(open_tracing(settings.tracing))
            parts = await stack.enter_async_context(open_parts(settings, clock, metrics, tracing))
            buffer = await stack.enter_async_context(log_buffer(parts.request_logs, LogLimits.of(settings)))
            metrics.log_buffer(buffer)
            upkeep = Upkeep(parts.database, parts.catalogue, clock, polls=settings.poll > 0)
            metrics.upkeep(upkeep)
            await stack.enter_async_context(watched(upkeep))
            if settings.poll:
                lease_ms = round(2000 * settings.usgs_timeout) + 60_000  # to fetch, with redirects, and to store
                polls = polling(parts.ingest, parts.database, settings.poll, clock, lease_ms=max(lease_ms, LEASE_MS))
                await stack.enter_async_context(polls)
            live = EventBroadcast(parts.database, parts.catalogue)
            stack.push_async_callback(live.close)
            metrics.live(live)
            work = Work(WorkLimits.of(settings.max_heavy_operations))
            metrics.work(work)
            preparing = FairThreads(1, "documents")  # more would only contend for the interpreter
            stack.callback(preparing.close)
            if settings.loop_watch:
                await stack.enter_async_context(loop_watched(settings.loop_watch / 1000))
            new_context = partial(
                Context,
                catalogue=parts.catalogue,
                ingest=parts.ingest,
                live=live,
                upkeep=upkeep,
                request_logs=parts.request_logs,
                log_buffer=buffer,
                page_sizes=page_sizes,
                clock=clock,
                observe_field=metrics.field,
            )
            yield {
                "database": parts.database,
                "upkeep": upkeep,
                "live": live,
                "streams": Streams(settings.max_subscriptions, "subscriptions"),
                "sockets": Streams(settings.max_subscriptions, "connections"),
                "new_context": new_context,
                "authenticate": authentication(settings, await stack.enter_async_context(httpx.AsyncClient())),
                "rates": rates(settings),
                "work": work,
                "operations": OperationSlots.beside(work.limits),
                "preparing": preparing,
                "telemetry": Telemetry(metrics, tracing),
            }

    entrance = admission(settings)
    endpoint = GraphQLEndpoint(entrance, with_graphiql=settings.graphiql)
    sockets = WebSocketEndpoint(entrance, SocketLimits(settings.max_socket_operations), settings.cors_origins)
    others = Starlette(
        routes=[
            Route(GRAPH_PATH, endpoint),
            *(graphiql.static_routes() if settings.graphiql else []),
            *(dashboard.routes(settings.max_page_size) if settings.dashboard else [_TO_THE_GRAPH]),
            Route("/healthz", lambda request: JSONResponse({"status": "ok"})),
            Route("/readyz", _ready),
            Route("/metrics", Scrape(metrics).answer),
        ],
        exception_handlers={HTTPException: _not_found, Exception: _unforeseen},
        lifespan=lifespan,
    )

    app = Application(endpoint, sockets, others)
    return RequestIds(_cors(app, settings.cors_origins) if settings.cors_origins else app)


@dataclass(frozen=True, slots=True)
class Application:
    """The graph and, by a router, whatever else there is.

    The path that is asked most needs none: routing takes half as long as a small query.
    """

    graph: ASGIApp
    sockets: ASGIApp
    others: Starlette

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        app: ASGIApp = self.others
        if scope["type"] != "lifespan" and scope["path"] == GRAPH_PATH:
            app = self.graph if scope["type"] == "http" else self.sockets
        await app(scope, receive, send)


def admission(settings: Settings) -> Admission:
    """What lets operations in. It finds in the state of the application what is open only while that runs.

    Raises:
        UnusableList: The list of documents cannot be served.
    """
    page_sizes = PageSizes(settings.page_size, settings.max_page_size)
    documents = Documents(schema, Limits.of(settings), page_sizes, introspection=settings.introspection)
    limits = ExecutionLimits(settings.max_cost, settings.execution_timeout, settings.ingest_timeout)
    known = persisted(settings.allowed_documents, documents)
    return Admission(documents, known, limits, suggesting=settings.introspection)


def _cors(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """Lets pages of these origins ask. Credentials are the pages' own to send: there are no cookies here."""
    return CORSMiddleware(
        app,
        allow_origins=origins,
        allow_methods=["GET", "POST"],
        allow_headers=["Authorization", *PREFLIGHTED],
        expose_headers=["Retry-After", "X-Request-Id"],
    )


async def _ready(request: Request) -> Response:
    """Whether requests can be answered: the store is there, and this process does not end."""
    if getattr(request.state, "draining", False):
        return JSONResponse({"status": "draining"}, 503)
    try:
        await request.state.database.ping()
    except DatabaseUnavailable as error:
        logger.error("Not ready", cause=error.detail)
        return JSONResponse({"status": "unavailable", "store": "unreachable"}, 503)
    ready: dict[str, Any] = {"status": "ok", "store": "ok"}
    with suppress(DatabaseUnavailable):  # It has just answered.
        ready["polling"] = _told(await request.state.upkeep.status())
    return JSONResponse(ready)


def _told(status: IngestStatus) -> Mapping[str, Any]:
    """How the catalogue is kept up, for operators; times in epoch milliseconds."""
    return {
        "status": status.word,
        "last_success": status.last_success,
        "last_error": status.last_error,
        "last_error_at": status.last_error_at,
        "failures": status.failures,
        "next_attempt": status.next_attempt,
        "newest_event_lag_seconds": status.newest_event_lag_seconds,
    }


async def _not_found(request: Request, error: Exception) -> Response:
    """Tell in the graph's way that a path is not there, or not by that method."""
    http = cast("HTTPException", error)
    return JSONResponse({"errors": [told(BadRequest(http.detail))]}, http.status_code, http.headers)


async def _unforeseen(request: Request, error: Exception) -> Response:
    """Tell a client of a defect in the graph's way; the trace is logged by the server."""
    return JSONResponse({"errors": [told(InternalServerError(request.state.request_id))]}, 500)
