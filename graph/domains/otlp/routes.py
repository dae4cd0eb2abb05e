"""`POST /v1/logs`, the path of OTLP for logs.

A refusal has one of the statuses that OTLP names, in the format of the request: 429 and 503 make the sender try again,
all others make it drop its logs. A request is finished even if its sender disconnects once its body has arrived.
"""

from collections.abc import Sequence
from sys import maxsize

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from graph.core.errors import BadRequest, GraphError
from graph.core.services import Services
from graph.domains.otlp.answers import code_of, headers_of, message_of
from graph.domains.otlp.bodies import format_of
from graph.domains.otlp.formats import RequestFormat
from graph.domains.otlp.intake import LogIntake
from graph.domains.otlp.json_format import Json
from graph.domains.service_logs.scopes import SERVICE_LOGS_WRITE
from graph.settings import Settings
from graph.transport.bodies import is_gzip
from graph.transport.errors import format_error
from graph.transport.routes import exchange_of, route

PATH = "/v1/logs"
RECORDS_PER_POINT = 10


def otlp_routes(settings: Settings) -> Sequence[BaseRoute]:
    """The route."""
    return [route(PATH, _answer, scope=SERVICE_LOGS_WRITE, methods=["POST"], refuse=_refused)]


async def _answer(request: Request, services: Services) -> Response:
    exchange, headers = exchange_of(request), request.headers
    format_ = _format_of(request)
    compressed = is_gzip(headers.get("content-encoding", ""))
    intake = services.of(LogIntake)
    body = await intake.receive(request.stream(), format_.most_bytes)

    async def charge(records: int) -> None:
        if (points := records // RECORDS_PER_POINT) and (charged := exchange.spend(points)):
            await charged

    with exchange.account(maxsize):
        report = await intake.take(format_, body, charge, is_gzip=compressed)
    exchange.facts |= {"accepted": report.accepted, "skipped": report.skipped, "rejected": report.rejected}
    return Response(
        format_.success(report.rejected, message_of(report, format_.warning)), media_type=format_.media_type
    )


def _refused(request: Request, error: GraphError) -> Response:
    """A refusal as google.rpc.Status. A request of an unknown type gets JSON."""
    try:
        format_ = _format_of(request)
    except BadRequest:
        format_ = Json()
    return Response(
        format_.refusal(code_of(error), format_error(error)["message"]),
        error.status,
        headers_of(error),
        media_type=format_.media_type,
    )


def _format_of(request: Request) -> RequestFormat:
    return format_of(request.headers.get("content-type", ""))
