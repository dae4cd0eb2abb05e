"""`POST /v1/logs`, the path of OTLP for logs.

A refusal has one of the statuses that OTLP names, in the format of the request: 429 and 503 make the sender try again,
all others make it drop its logs. A request is finished even if its sender disconnects once its body has arrived.

Takes in the logs of requests: reads them record by record, and writes them.

Nothing is written before all is read, so a refused request has stored nothing. A request that finds no room is refused
with a status that makes its sender try again.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import islice
from sys import maxsize
from time import perf_counter

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from graph.core.clock import Clock
from graph.core.errors import BadRequest, GraphError
from graph.core.services import Services
from graph.domains.otlp.formats import MOST_RECORDS, RecordGroup, RequestFormat, TooManyRecords
from graph.domains.otlp.json_format import Json
from graph.domains.otlp.protobuf import Protobuf
from graph.domains.otlp.reading import logs_of
from graph.domains.otlp.values import Unreadable, WrongType
from graph.domains.service_logs.model import NewLog, RejectedLog, WriteReport
from graph.domains.service_logs.scopes import SERVICE_LOGS_WRITE
from graph.domains.service_logs.writing import LogWriter
from graph.settings import Settings
from graph.transport.bodies import BodyIntake, is_gzip
from graph.transport.errors import format_error
from graph.transport.routes import exchange_of, route
from graph.work.account import charged_to, give_way
from graph.work.room import Share

ARRIVING_BYTES = 32 * 1024 * 1024  # for bodies that arrive: two of the largest, or many usual ones
WORKING_BYTES = 64 * 1024 * 1024  # for requests that are read and written
PIECE_S = 0.0005  # of reading, before giving way to other work; some 100 records

Charge = Callable[[int], Awaitable[None]]
"""Charges the sender for a number of records. Raises `RateLimited`."""


class LogIntake(BodyIntake):
    """Takes in logs."""

    def __init__(
        self, writer: LogWriter, clock: Clock, *, arriving: int = ARRIVING_BYTES, working: int = WORKING_BYTES
    ) -> None:
        super().__init__(arriving=arriving, working=working)
        self._writer = writer
        self._clock = clock

    async def take(self, format_: RequestFormat, body: bytes, charge: Charge, *, is_gzip: bool) -> WriteReport:
        """Write the logs of a request.

        Raises:
            BadRequest: The body cannot be read, or is too large.
            RateLimited: The sender has too few points left.
            Overloaded: The requests in progress take too much memory.
            DatabaseUnavailable: Some logs may be stored. Sending all of them again completes the work.
        """
        with self._working.share() as share:
            if is_gzip:
                body = await self._inflated(body, format_.most_bytes, share)
            share.hold(format_.memory_of(body))
            try:
                groups = await format_.groups(body)
            except Unreadable as error:
                raise BadRequest(str(error)) from error
            del body
            number = sum(len(group.records) for group in groups)
            if number > MOST_RECORDS:
                raise TooManyRecords
            await charge(number)
            logs = await self._read(format_, groups, share)
            del groups
            return await self._writer.write(logs)

    async def _read(
        self, format_: RequestFormat, groups: list[RecordGroup], share: Share
    ) -> list[NewLog | RejectedLog]:
        """The logs of all groups, in order. A rejection stands for one that cannot be read."""
        logs: list[NewLog | RejectedLog] = []
        began = perf_counter()
        try:
            for log in logs_of(format_, groups, 1_000_000 * self._clock(), share.hold, is_strict=True):
                logs.append(log)
                if perf_counter() - began > PIECE_S:
                    await give_way()
                    began = perf_counter()
        except WrongType as error:
            raise BadRequest(f"A resource or scope: {error}") from error
        return logs


FORMATS: Mapping[str, Callable[[], RequestFormat]] = {each.media_type: each for each in (Protobuf, Json)}


def format_of(content_type: str) -> RequestFormat:
    """The format of one body, by its header; BadRequest for any other."""
    if found := FORMATS.get(content_type.partition(";")[0].strip().lower()):
        return found()
    raise BadRequest(f"The body must be {' or '.join(FORMATS)}.", status=415)


MOST_NAMED = 10  # rejected records in one answer, and as many that were changed

# Codes of google.rpc by the status of HTTP, as its `code.proto` maps them.
_CODES = {400: 3, 401: 16, 403: 7, 404: 5, 408: 4, 413: 3, 415: 3, 429: 8, 503: 14}
_INTERNAL = 13


def message_of(report: WriteReport, warning: str) -> str:
    """The first rejected and changed records, by their place in the request, with reasons, and what was ignored."""
    reasons = (f"record {each.index}: {each.code.value}: {each.message}" for each in report.rejections)
    rejected = _listed(reasons, report.rejected)
    changed = _listed((f"record {index}: {what}" for index, what in report.changed.items()), len(report.changed))
    return "; ".join(filter(None, [*rejected, *changed, warning]))


def _listed(given: Iterable[str], number: int) -> list[str]:
    """The first of them, and how many more there are."""
    rest = number - MOST_NAMED
    return [*islice(given, MOST_NAMED), f"and {rest:,} more" if rest > 0 else ""]


def code_of(error: GraphError) -> int:
    """The code of an error, as google.rpc numbers them."""
    return _CODES.get(error.status, _INTERNAL)


def headers_of(error: GraphError) -> dict[str, str]:
    """The headers of an error. A sender that may try again learns when."""
    retry = {"Retry-After": "1"} if error.status in (429, 503) else {}
    return {**retry, **error.headers}


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

    with charged_to(exchange.account(maxsize)):
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
