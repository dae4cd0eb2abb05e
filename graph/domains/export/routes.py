"""`GET /export/events.<format>`: the events of a filter in one answer. `/events.<format>` leads there."""

from collections.abc import Sequence
from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from graph.core.errors import BadUserInput
from graph.core.times import rfc3339_of_millis
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.export.exporting import Export, ExportMetrics, Exports
from graph.domains.export.formats import PATH, ExportFormat
from graph.domains.export.parameters import export_request
from graph.settings import Settings
from graph.transport.downloads import Download, download_route
from graph.transport.reads import Reads

OF_CSV = ("comments", "spreadsheet")  # parameters that are 0 or 1


def export_routes(settings: Settings) -> Sequence[BaseRoute]:
    """The routes of each format, by the settings."""
    return [
        *(
            download_route(format_.path, partial(_answer, format_), scope=EVENTS_READ, recorded_as=PATH)
            for format_ in ExportFormat
        ),
        *(Route(f"/events.{format_.value}", partial(_redirect, format_)) for format_ in ExportFormat),
    ]


async def _redirect(format_: ExportFormat, request: Request) -> Response:
    """Lead to the export with the same parameters, relative to the path: the service may stand below another one."""
    query = request.scope["query_string"].decode("latin-1")
    target = format_.path.removeprefix("/")
    return RedirectResponse(f"{target}?{query}" if query else target, 308)


async def _answer(format_: ExportFormat, request: Request, reads: Reads) -> Download:
    export: Export | None = None

    def count(code: str) -> None:
        if export:
            reads.facts["result_count"] = export.count
        reads.context.service(ExportMetrics).add(format_.value, code, export.count if export else 0)

    reads.exchange.at_end = count
    reads.facts["format"] = format_.value
    parameters = request.query_params.multi_items()
    of_csv = {name: _truth(name, [value for each, value in parameters if each == name]) for name in OF_CSV}
    asked = export_request([each for each in parameters if each[0] not in OF_CSV])
    reads.facts |= {
        "starttime": asked.selection.start_ms,
        "endtime": asked.selection.end_ms,
        "minmagnitude": asked.selection.magnitudes.minimum,
    }
    encoder = format_.encoder(**of_csv)
    if request.method == "GET":
        reads.begin_download()  # counts it, however long it is
    export = await reads.run(partial(reads.context.service(Exports).begin, asked, encoder))
    if request.method == "GET":
        await reads.run(export.write_page)  # before the head is sent, so that a failure is an answer
    headers = {
        "content-disposition": f'attachment; filename="events.{format_.value}"',
        "x-as-of": rfc3339_of_millis(export.source.as_of_ms),
    }
    return Download(format_.media_type, export.chunks(reads.run), is_long=False, headers=headers)


def _truth(name: str, values: list[str]) -> bool:
    if values not in ([], ["0"], ["1"]):
        raise BadUserInput(f"`{name}` must be 0 or 1.")
    return values == ["1"]
