"""`GET /` and `GET /events/<id>`: the dashboard, and the page of an event.

Each event has one address, that of its own id. Its other ids lead there, and so do the ids of events that turned out to
be this one. Browsers send no token when they open a page. So if reading needs one, the page of an event says nothing of
it, not even whether it exists, and the page's scripts ask for it with the token that they have.
"""

from collections.abc import Sequence
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from graph.core.errors import GraphError
from graph.core.services import Services
from graph.domains.dashboard.event_page import EventPages
from graph.domains.dashboard.settings import DashboardSettings
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.revisions.merges import follow_merges
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.pages import dashboard
from graph.pages.dashboard.templates import PageTemplate
from graph.pages.error_page import Link
from graph.settings import Settings
from graph.store.entity import Item
from graph.transport.routes import route

EVENTS_PATH = "/events"


def dashboard_routes(settings: Settings) -> Sequence[BaseRoute]:
    """The routes of the web pages and of their files, by the settings."""
    if not settings.part(DashboardSettings).dashboard:
        return []
    beside = {
        "sightings": settings.serves("sightings"),
        "felt": settings.serves("felt"),
        "watches": settings.serves("watches"),
        "fdsn": getattr(settings, "fdsn", False),  # a setting of the part of this name, if it is on
    }
    served = [name for name, is_on in beside.items() if is_on]
    links = [Link("Dashboard", "/"), *([Link("GraphiQL", "/graphql")] if settings.graphiql else [])]
    pages = EventPages(PageTemplate("event.html", served), links)
    answer, scope = (_page, EVENTS_READ) if settings.public_read else (_unread_page, None)
    return [
        *dashboard.routes(settings.max_page_size, served),
        route(
            f"{EVENTS_PATH}/{{event_id:path}}",  # an id may have a slash
            partial(answer, pages),
            scope=scope,
            refuse=partial(_refused, pages),
            recorded_as=EVENTS_PATH,
        ),
    ]


async def _page(pages: EventPages, request: Request, services: Services) -> Response:
    """The page of an event as it is now."""
    event_id = request.path_params["event_id"]
    event = await _event(services.of(Catalogue), event_id)
    if event is None:
        return pages.missing(request, event_id)
    return pages.page(request, event) if event.event_id == event_id else pages.moved(request, event.event_id)


async def _unread_page(pages: EventPages, request: Request, services: Services) -> Response:
    """A page that is the same for every event."""
    return pages.unread_page(request, request.path_params["event_id"])


async def _event(catalogue: Catalogue, event_id: str) -> Event | None:
    """The event with this id or alias, or the one that it turned out to be."""

    async def read(event_id: str) -> Item | None:
        event = await catalogue.event(event_id)
        return event.item if event else None

    item = await follow_merges(await read(event_id), read)
    return Event(item) if item else None


def _refused(pages: EventPages, request: Request, error: GraphError) -> Response:
    return pages.refused(request, error.status, str(error), **error.headers)
