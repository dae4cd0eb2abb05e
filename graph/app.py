"""The application: the only place where the parts meet.

settings → store → access patterns → schema → endpoint → routes
"""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any
from uuid import uuid4

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from graph import graphiql
from graph.clock import Clock, now_ms
from graph.context import Context
from graph.earthquakes.catalogue import Catalogue
from graph.earthquakes.ingest import Ingest, IngestReport
from graph.earthquakes.polling import polling
from graph.earthquakes.table import EARTHQUAKE_EVENTS
from graph.earthquakes.usgs import UsgsClient
from graph.endpoint import GraphQLEndpoint
from graph.errors import DatabaseUnavailable, InternalServerError
from graph.paging import PageSizes
from graph.request_log.access_patterns import RequestLogs
from graph.request_log.buffer import log_buffer
from graph.schema import schema
from graph.settings import Settings
from graph.store.contract import Table
from graph.store.location import StoreLocation

GRAPH_PATH = "/graphql"
SAMPLE = files("graph.earthquakes") / "sample" / "usgs_all_week_2023-08-03.geojson.gz"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of the service that a command uses too, open for as long as it runs."""

    table: Table
    catalogue: Catalogue
    ingest: Ingest
    request_logs: RequestLogs


@asynccontextmanager
async def open_parts(settings: Settings, clock: Clock = now_ms) -> AsyncIterator[Parts]:
    """Open the store and the way to USGS.

    Raises:
        DatabaseUnavailable: The store does not answer, or has no such table.
    """
    async with (
        StoreLocation.of(settings.store).open(EARTHQUAKE_EVENTS, clock=clock) as table,
        httpx.AsyncClient() as http,
    ):
        await table.ping()
        logs = RequestLogs(table, clock)
        usgs = UsgsClient(http, settings.usgs_url, timeout_s=settings.usgs_timeout, clock=clock)
        yield Parts(
            table=table,
            catalogue=Catalogue(table, most_days_counted=settings.max_days_counted),
            ingest=Ingest(table, usgs, logs, clock),
            request_logs=logs,
        )


async def load_sample(parts: Parts) -> IngestReport | None:
    """Store the packaged week of real events, if the catalogue is empty."""
    if not await parts.catalogue.is_empty():
        return None
    with SAMPLE.open("rb") as stream:
        return await parts.ingest.file(stream)


def create_app(settings: Settings | None = None, *, clock: Clock = now_ms) -> Starlette:
    """The service as an ASGI application; without settings, with those of the environment."""
    settings = settings or Settings()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[Mapping[str, Any]]:
        async with AsyncExitStack() as stack:
            parts = await stack.enter_async_context(open_parts(settings, clock))
            buffer = await stack.enter_async_context(log_buffer(parts.request_logs))
            if settings.poll:
                await stack.enter_async_context(polling(parts.ingest, parts.table, settings.poll, clock))
            new_context = partial(
                Context,
                catalogue=parts.catalogue,
                ingest=parts.ingest,
                request_logs=parts.request_logs,
                log_buffer=buffer,
                page_sizes=PageSizes(settings.page_size, settings.max_page_size),
                clock=clock,
            )
            yield {"table": parts.table, "new_context": new_context}

    return Starlette(
        routes=[
            Route(GRAPH_PATH, GraphQLEndpoint(schema)),
            *graphiql.static_routes(),
            Route("/", lambda request: RedirectResponse(GRAPH_PATH)),
            Route("/healthz", lambda request: JSONResponse({"status": "ok"})),
            Route("/readyz", _ready),
        ],
        exception_handlers={Exception: _unforeseen},
        lifespan=lifespan,
    )


async def _ready(request: Request) -> Response:
    """Whether requests can be answered: the store is there."""
    try:
        await request.state.table.ping()
    except DatabaseUnavailable as error:
        logger.error("Not ready: %s", error.detail)
        return JSONResponse({"status": "unavailable", "store": "unreachable"}, 503)
    return JSONResponse({"status": "ok", "store": "ok"})


async def _unforeseen(request: Request, error: Exception) -> Response:
    """Tell a client of a defect as the graph does; the trace is logged by the server."""
    unforeseen = InternalServerError(str(uuid4()))
    logger.error("%s", unforeseen)
    return JSONResponse({"errors": [{"message": str(unforeseen), "extensions": {"code": unforeseen.code}}]}, 500)
