"""The dashboard: a web page that shows the newest events, at the root of the service, and a page for each event.

It is plain HTML, CSS and JavaScript modules, the files of `page/`, and queries only the public graph of this service.
The map and the plots are drawn by third-party packages (`graph/pages/packages/`), which `third_party.js` loads.
"""

from collections.abc import Sequence
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from graph.pages import packages
from graph.pages.dashboard.sources import VERSION
from graph.pages.dashboard.templates import FILES, PATH, THIRD_PARTY, PageTemplate
from graph.pages.kept_file import files_route

__all__ = ["FILES", "PAGE_SIZE", "PATH", "THIRD_PARTY", "VERSION", "routes"]

PAGE_SIZE = 500  # events of one query: a quarter of what an operation may cost by default


def routes(most_on_page: int, served: Sequence[str]) -> list[BaseRoute]:
    """The routes of the web page at the root, and of the files of all pages.

    Args:
        most_on_page: the most events on a page of the graph's connections.
        served: what the service has beside events, such as `sightings`.
    """
    page = PageTemplate("index.html", served, page_size=str(min(PAGE_SIZE, most_on_page)))
    return [
        Route("/", partial(_page, page)),
        files_route(f"{PATH}/{VERSION}", FILES),
        *packages.routes("dashboard"),
    ]


async def _page(page: PageTemplate, request: Request) -> Response:
    return page.answer(request)
