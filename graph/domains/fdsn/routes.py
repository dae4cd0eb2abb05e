"""The HTTP routes of the service, below `/fdsnws/event/1`.

`dataselect` and `station` have no routes: they answer 404, by which clients learn that there are none.
"""

from collections.abc import Sequence
from functools import partial

import orjson
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute

from graph.core.days import datetime_of
from graph.core.errors import BadRequest, BadUserInput, GraphError
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.fdsn.errors import VERSION, error_text, status_of
from graph.domains.fdsn.history import sources_of
from graph.domains.fdsn.parameters import FORMATS, read_parameters
from graph.domains.fdsn.service import answer_to, count_of
from graph.domains.fdsn.settings import FdsnSettings
from graph.domains.fdsn.wadl import names_xml, usage, wadl
from graph.settings import Settings
from graph.transport.downloads import Answering, Download, download_route
from graph.transport.exchange import process_of
from graph.transport.reads import Reads

ROOT = "/fdsnws/event/1"
XML = "application/xml"
LONGEST_URL = 2000  # characters; of a longer one, refusals repeat the beginning


def fdsn_routes(settings: Settings) -> Sequence[BaseRoute]:
    """The routes, by the settings."""
    own = settings.part(FdsnSettings)
    if not own.fdsn:
        return []
    most = own.fdsn_max_events
    answers: dict[str, Answering] = {
        "query": partial(_query, own, None),
        "count": partial(_count, most),
        "catalogs": partial(_names, "Catalog"),
        "contributors": partial(_names, "Contributor"),
        "version": _version,
        "application.wadl": partial(_wadl, most),
        "": partial(_usage, most),
    }
    route = partial(download_route, scope=EVENTS_READ, refuse=_refused)
    return [
        *(route(f"{ROOT}/{name}", answer) for name, answer in answers.items()),
        # As USGS's search page names a format.
        *(route(f"{ROOT}/query.{name}", partial(_query, own, name), recorded_as=f"{ROOT}/query") for name in FORMATS),
    ]


async def _query(settings: FdsnSettings, format_: str | None, request: Request, reads: Reads) -> Response | Download:
    given = read_parameters(request.scope["query_string"])
    if format_ is not None:
        if given.get("format", format_) != format_:
            raise BadUserInput(f"The path names the format {format_}, and `format` another one.")
        given = {**given, "format": format_}
    reads.facts |= {
        "starttime": given.get("starttime"),
        "endtime": given.get("endtime"),
        "minmagnitude": given.get("minmagnitude"),
        "page_size": given.get("limit"),
    }
    catalogue = reads.context.service(Catalogue)
    answer = answer_to(catalogue, given, settings, url=_url(request), now_ms=reads.context.clock())
    await reads.run(answer.begin)
    reads.exchange.at_end = lambda code: reads.facts.update(result_count=answer.count)
    if not answer.count and ("nodata" in given or not answer.format.is_document_without_events):
        return _no_data(request, given.get("nodata", "204"))
    return Download(answer.format.media_type, answer.pieces(reads.run), is_long=not answer.is_over)


async def _count(most: int, request: Request, reads: Reads) -> Response:
    given = read_parameters(request.scope["query_string"])
    count = await reads.run(partial(count_of, reads.context.service(Catalogue), given))
    match given.get("format", "text"):
        case "xml":
            text = f"<query><count>{count}</count><maxAllowed>{most}</maxAllowed></query>\n"
            return Response(text, media_type=XML)
        case "geojson":
            return Response(orjson.dumps({"count": count, "maxAllowed": most}), media_type="application/json")
        case _:
            return PlainTextResponse(str(count))


async def _names(kind: str, request: Request, reads: Reads) -> Response:
    catalogs, contributors = await reads.run(partial(sources_of, reads.context.service(Catalogue)))
    return Response(names_xml(kind, catalogs if kind == "Catalog" else contributors), media_type=XML)


async def _version(request: Request, reads: Reads) -> Response:
    return PlainTextResponse(VERSION)


async def _wadl(most: int, request: Request, reads: Reads) -> Response:
    return Response(wadl(_base(request), most), media_type=XML)


async def _usage(most: int, request: Request, reads: Reads) -> Response:
    return PlainTextResponse(usage(_base(request), most))


def _base(request: Request) -> str:
    """The address of the service, as the client reached it."""
    return f"{request.base_url}{ROOT[1:]}/"


def _url(request: Request) -> str:
    """The requested address, cut at its greatest length. Its bytes may be anything."""
    query = request.scope["query_string"].decode("latin-1")
    url = f"{request.base_url}{request.scope['path'][1:]}{'?' if query else ''}{query}"
    return url if len(url) <= LONGEST_URL else f"{url[:LONGEST_URL]}…"


def _no_data(request: Request, status: str) -> Response:
    """The answer where no event matches: 204 without a body, or 404."""
    return (
        Response(status_code=204) if status == "204" else _refused(request, BadRequest("No event matches.", status=404))
    )


def _refused(request: Request, error: GraphError) -> Response:
    """A refusal in FDSN's text."""
    text = error_text(
        error, usage=_base(request), url=_url(request), submitted=datetime_of(process_of(request.scope).clock())
    )
    return PlainTextResponse(text, status_of(error), error.headers)
