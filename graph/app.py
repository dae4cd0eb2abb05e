"""The application, assembled from the domains: settings → store → services → schema → routes."""

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache, partial
from typing import Any, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from graph.access.authentication import authentication
from graph.access.rate import rates
from graph.api.documents.persisted import persisted
from graph.api.documents.prepared import Documents
from graph.api.schema import Schema, build_schema
from graph.core.clock import Clock, now_ms
from graph.core.errors import BadRequest, DatabaseUnavailable, InternalServerError
from graph.core.http_client import http_client
from graph.core.paging import USUAL_SIZES, PageSizes
from graph.domain import Domain, ImproperDomains, Resources, exact_names, in_a_line, routes_of, scopes_of, switched_on
from graph.domains import installed
from graph.feed.adopter import tasks_of
from graph.feed.states import FeedStates
from graph.observability.logs import get_logger
from graph.observability.metrics import Metrics
from graph.observability.requests import timed_requests
from graph.observability.scrape import Scrape, sample_forever
from graph.observability.tracing import open_tracing
from graph.opening import open_services, read_settings
from graph.pages import graphiql
from graph.pages.error_page import Link, error_page
from graph.settings import Settings
from graph.transport.compression import Compression
from graph.transport.deadline import Deadlines
from graph.transport.endpoint import GraphQLEndpoint
from graph.transport.entrance import Entrance
from graph.transport.errors import format_error
from graph.transport.exchange import ExecutionLimits, Process, process_of
from graph.transport.origins import with_cors
from graph.transport.request import Head
from graph.transport.request_ids import RequestIds
from graph.transport.schema_file import SCHEMA_PATH, schema_routes
from graph.transport.sse import HEART_BEAT_S
from graph.transport.validators import Validators
from graph.transport.websocket import SocketLimits, WebSocketEndpoint
from graph.work.account import Work, WorkLimits
from graph.work.loop_watch import loop_watched
from graph.work.metrics import measure_work
from graph.work.slots import Slots
from graph.work.tasks import BackgroundTasks
from graph.work.threads import FairThreads

GRAPH_PATH = "/graphql"
OWN_PATHS = (GRAPH_PATH, SCHEMA_PATH, "/healthz", "/readyz", "/metrics")

logger = get_logger(__name__)


@cache
def schema_of(
    domains: tuple[Domain, ...], sizes: PageSizes = USUAL_SIZES, *, compiled: bool = True, federation: bool = False
) -> Schema:
    """The schema of these domains, built once.

    Raises:
        ImproperDomains: A domain does not fit to those before it.
    """
    try:
        return build_schema(domains, sizes, compiled=compiled, federation=federation)
    except Exception as error:  # Strawberry and graphql-core have many classes for it
        schema_of(domains[:-1])  # raises this error if an earlier domain causes it
        raise ImproperDomains(domains[-1], f"does not fit into the schema: {in_a_line(error)}") from error


def create_app(
    settings: Settings | None = None,
    *,
    domains: Sequence[Domain] = (),
    clock: Clock = now_ms,
    socket_limits: SocketLimits | None = None,
    heart_beat_s: float = HEART_BEAT_S,
) -> ASGIApp:
    """The service as an ASGI application.

    Args:
        settings: read from the environment by default; `domains` names the domains that are on.
        domains: all domains, on or off; by default, those that are installed.
        clock: epoch milliseconds.
        socket_limits: of a WebSocket; by default those of the settings.
        heart_beat_s: seconds between two heart beats on a silent stream.

    Raises:
        Misconfigured: A setting cannot be used.
        ImproperDomains: A domain is broken, or contradicts another one.
    """
    domains = domains or installed()
    settings = settings or read_settings(domains)
    on = switched_on(domains, settings.domains)
    settings = settings.model_copy(update={"domains": exact_names(domains, on)})
    metrics = Metrics()
    request_metrics = timed_requests(metrics)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[Mapping[str, Process]]:
        async with AsyncExitStack() as stack:
            stack.callback(metrics.sample)  # runs last, when everything else has ended
            tracing = await stack.enter_async_context(open_tracing(settings.tracing))
            services = await stack.enter_async_context(
                open_services(settings, domains, clock=clock, metrics=metrics, tracing=tracing)
            )
            resources = services.of(Resources)
            tasks = await stack.enter_async_context(BackgroundTasks())
            tasks.start("sampling metrics", partial(sample_forever, metrics))
            for task in (task for domain in on for task in domain.tasks):
                tasks.start(task.name, partial(task.work, services))
            adoptions = [adoption for domain in on for adoption in domain.adoptions]
            for name, adopt in tasks_of(adoptions, services, resources.database, clock, metrics).items():
                tasks.start(name, adopt)
            work = Work(WorkLimits.of(settings.max_heavy_operations))
            measure_work(work, metrics)
            preparing = FairThreads(1, "documents")  # more threads would only compete for the interpreter
            stack.callback(preparing.close)
            if settings.loop_watch:
                await stack.enter_async_context(loop_watched(settings.loop_watch / 1000))
            http = await stack.enter_async_context(http_client())
            yield {
                "process": Process(
                    services=services,
                    recording=resources.recording,
                    page_sizes=settings.page_sizes,
                    clock=clock,
                    requests=request_metrics,
                    tracing=tracing,
                    authenticate=authentication(settings, scopes_of(on), http),
                    rates=rates(settings),
                    limits=ExecutionLimits.of(settings),
                    work=work,
                    preparing=preparing,
                    deadlines=Deadlines(),
                    subscriptions=Slots(of_caller=settings.max_subscriptions),
                    downloads=Slots(of_caller=settings.max_heavy_operations),
                    sockets=Slots(of_caller=settings.max_subscriptions),
                    endings=resources.endings,
                    feeds=FeedStates(resources.database, sole_writer=settings.sole_writer),
                )
            }

    entrance = build_entrance(settings, domains)
    examples = [example for domain in on if domain.examples for example in graphiql.examples_of(domain.examples)]
    links = [Link(page.name, page.path) for domain in on for page in domain.pages(settings)]
    links += [Link("GraphiQL", GRAPH_PATH)] if settings.graphiql else []
    graph = GraphQLEndpoint(
        entrance,
        examples=examples if settings.graphiql else None,
        schema_path=SCHEMA_PATH if settings.introspection else None,
        heart_beat_s=heart_beat_s,
    )
    limits = socket_limits or SocketLimits(settings.max_socket_operations)
    app: ASGIApp = Starlette(
        routes=[
            Route(GRAPH_PATH, graph),  # of requests that are mounted below another path
            WebSocketRoute(GRAPH_PATH, WebSocketEndpoint(entrance, limits, settings.cors_origins)),
            *(graphiql.routes() if settings.graphiql else []),
            Route("/healthz", lambda request: JSONResponse({"status": "ok"})),  # this process runs
            Route("/readyz", partial(_readyz, on)),
            Route("/metrics", Scrape(metrics).answer),
            *(schema_routes(_served_schema(settings, on).printed) if settings.introspection else ()),
            *routes_of(on, settings, OWN_PATHS),
            Route("/", lambda request: RedirectResponse(GRAPH_PATH)),  # unless a domain has a page there
        ],
        exception_handlers={HTTPException: partial(_not_found, links), Exception: _unexpected},
        lifespan=lifespan,
    )
    app = _led_past(app, ServerErrorMiddleware(graph, handler=_unexpected))
    if settings.compression:
        app = Compression(app)
    return RequestIds(with_cors(app, settings.cors_origins, settings.cors_headers))


def _led_past(app: ASGIApp, graph: ASGIApp) -> ASGIApp:
    """Lead the graph's requests past Starlette's routes and middleware, which take 12 µs: a tenth of a lookup."""

    def lead(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        is_direct = scope["type"] == "http" and scope["path"] == GRAPH_PATH
        return (graph if is_direct else app)(scope, receive, send)

    return lead


def build_entrance(settings: Settings, domains: Sequence[Domain] = ()) -> Entrance:
    """Build the entrance of operations. What they run with is the process's, which opens it at its start.

    Raises:
        UnusableList: The list of documents cannot be used.
    """
    served = switched_on(domains or installed(), settings.domains)
    schema = _served_schema(settings, served)
    documents = Documents(schema.graphql, settings)
    validators = Validators(schema.printed, settings, (domain.origin for domain in served))
    return Entrance(documents, persisted(settings.allowed_documents, documents), validators)


def _served_schema(settings: Settings, served: Sequence[Domain]) -> Schema:
    return schema_of(served, settings.page_sizes, compiled=settings.compiled, federation=settings.federation)


async def _readyz(domains: Sequence[Domain], request: Request) -> Response:
    """Answer `/readyz`: 200 if the store answers and this process is not ending, else 503."""
    process = process_of(request.scope)
    if process.endings.is_near:
        return JSONResponse({"status": "draining"}, 503)
    services = process.services
    try:
        await services.of(Resources).database.ping()
    except DatabaseUnavailable as error:
        logger.error("Not ready", cause=error.detail)
        return JSONResponse({"status": "unavailable", "store": "unreachable"}, 503)
    ready: dict[str, Any] = {"status": "ok", "store": "ok"}
    for domain in domains:
        ready |= await domain.readiness(services)
    return JSONResponse(ready)


async def _not_found(links: Sequence[Link], request: Request, error: Exception) -> Response:
    """Answer that a path or its method does not exist: browsers with a web page, programs with a GraphQL error."""
    http = cast("HTTPException", error)
    headers = {**(http.headers or {}), "Vary": "Accept"}
    if "text/html" in Head(request.scope).accepted:
        text = "This service has nothing at this address." if http.status_code == 404 else f"{http.detail}."
        return error_page(request, http.status_code, text, links=links, headers=headers)
    return JSONResponse({"errors": [format_error(BadRequest(http.detail))]}, http.status_code, headers)


async def _unexpected(request: Request, error: Exception) -> Response:
    """Answer with a GraphQL error after a defect. The server logs its trace."""
    return JSONResponse({"errors": [format_error(InternalServerError(request.state.request_id))]}, 500)
