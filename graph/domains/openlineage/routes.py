"""`POST /api/v1/lineage` and `/api/v1/lineage/batch`, the paths to which clients of OpenLineage send events.

Both take an event or a list of events. A refusal tells its code in JSON. A client tries again after 429 and 503, and
may send what it has sent.

Source: https://github.com/OpenLineage/OpenLineage/blob/main/spec/OpenLineage.yml
"""

from collections.abc import Sequence
from sys import maxsize

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from graph.core.errors import BadRequest
from graph.core.services import Services
from graph.domains.data_files.scopes import FILES_WRITE
from graph.domains.openlineage.checked import InvalidEvent
from graph.domains.openlineage.intake import MOST_BYTES, LineageIntake, Taken
from graph.settings import Settings
from graph.transport.bodies import is_gzip
from graph.transport.errors import format_error
from graph.transport.routes import exchange_of, route

PATHS = ("/api/v1/lineage", "/api/v1/lineage/batch")
DATASETS_PER_POINT = 10
MOST_NAMED = 100  # refused events in one answer


def lineage_routes(settings: Settings) -> Sequence[BaseRoute]:
    """The routes."""
    return [route(path, _answer, scope=FILES_WRITE, methods=["POST"]) for path in PATHS]


async def _answer(request: Request, services: Services) -> Response:
    exchange, headers = exchange_of(request), request.headers
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise BadRequest("The body must be application/json.", status=415)
    compressed = is_gzip(headers.get("content-encoding", ""))
    intake = services.of(LineageIntake)
    body = await intake.receive(request.stream(), MOST_BYTES)

    async def charge(datasets: int) -> None:
        if (points := datasets // DATASETS_PER_POINT) and (charged := exchange.spend(points)):
            await charged

    with exchange.account(maxsize):
        taken = await intake.take(body, charge, is_gzip=compressed)
    exchange.facts |= {"accepted": taken.received - len(taken.refused), "rejected": len(taken.refused)}
    has_refused_all = taken.received and len(taken.refused) == taken.received
    return JSONResponse(_summary(taken), InvalidEvent.status if has_refused_all else 200)


def _summary(taken: Taken) -> dict[str, object]:
    refused = len(taken.refused)
    return {
        "status": "partial_success" if refused else "success",
        "summary": {"received": taken.received, "successful": taken.received - refused, "failed": refused},
        "failed_events": [{"index": place, **format_error(error)} for place, error in taken.refused[:MOST_NAMED]],
        "warnings": [{"index": place, "message": message} for place, message in taken.warnings],
    }
