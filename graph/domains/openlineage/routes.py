"""`POST /api/v1/lineage` and `/api/v1/lineage/batch`, the paths to which clients of OpenLineage send events.

Both take an event or a list of events. A refusal tells its code in JSON. A client tries again after 429 and 503, and
may send what it has sent.

Source: https://github.com/OpenLineage/OpenLineage/blob/main/spec/OpenLineage.yml
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from sys import maxsize
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from graph.core.errors import BadRequest, BadUserInput, GraphError
from graph.core.services import Services
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.registering import Registration
from graph.domains.data_files.scopes import FILES_WRITE
from graph.domains.openlineage.checked import InvalidEvent, Warn
from graph.domains.openlineage.events import NamedDataset, RunEvent, read_event
from graph.domains.openlineage.reports import file_of, report_of
from graph.settings import Settings
from graph.transport.bodies import BodyIntake, is_gzip, memory_of_json
from graph.transport.errors import format_error
from graph.transport.json_values import parsed_json
from graph.transport.routes import exchange_of, route
from graph.work.account import charged_to, give_way

MOST_BYTES = 4 * 1024 * 1024  # of a body, before and after decompression; the plan of a query makes an event large
MOST_EVENTS = 1000
MOST_VALUES = 100_000  # of a body; each takes some 40 bytes
VALUES_ON_THE_LOOP = 1000  # of a body whose events are read there
MOST_WARNINGS = 100  # in one answer
ARRIVING_BYTES = 16 * 1024 * 1024
WORKING_BYTES = 64 * 1024 * 1024

Charge = Callable[[int], Awaitable[None]]
"""Charges the sender for a number of datasets. Raises `RateLimited`."""


@dataclass(slots=True)
class Taken:
    """What became of the events of a request."""

    received: int
    refused: list[tuple[int, GraphError]] = field(default_factory=list)  # by their places, from 0
    warnings: list[tuple[int, str]] = field(default_factory=list)  # the first ones of what was left out or repaired

    def warn_of(self, place: int) -> Warn:
        """Takes warnings of the event at this place."""

        def warn(message: str) -> None:
            if len(self.warnings) < MOST_WARNINGS:
                self.warnings.append((place, message))

        return warn


class LineageIntake(BodyIntake):
    """Takes in events."""

    def __init__(self, files: DataFiles, registration: Registration, runs: Runs) -> None:
        super().__init__(arriving=ARRIVING_BYTES, working=WORKING_BYTES)
        self._files = files
        self._registration = registration
        self._runs = runs

    async def take(self, body: bytes, charge: Charge, *, is_gzip: bool) -> Taken:
        """Take in an event, or a list of them in its order. One that is refused has stored nothing.

        Raises:
            BadRequest: The body is no JSON, or too large.
            GraphError: The body is one event, and it is refused.
            Overloaded: The requests in progress take too much memory.
            DatabaseUnavailable: Some events may be stored. Sending all of them again completes the work.
        """
        with self._working.share() as share:
            if is_gzip:
                body = await self._inflated(body, MOST_BYTES, share)
            share.hold(memory_of_json(body))
            value, values = await parsed_json(body, "The body", MOST_VALUES)
            del body
            is_large = values > VALUES_ON_THE_LOOP
            if not isinstance(value, list):
                taken = Taken(1)
                await self._take(value, charge, taken.warn_of(0), is_large=is_large)
                return taken
            if len(value) > MOST_EVENTS:
                raise BadRequest(f"A request may have {MOST_EVENTS:,} events: send smaller batches.", status=413)
            taken = Taken(len(value))
            for place, each in enumerate(value):
                try:
                    await self._take(each, charge, taken.warn_of(place), is_large=is_large)
                except BadUserInput as error:
                    taken.refused.append((place, error))
            return taken

    async def _take(self, value: Any, charge: Charge, warn: Warn, *, is_large: bool) -> None:
        event = await asyncio.to_thread(read_event, value, warn) if is_large else read_event(value, warn)
        await give_way()
        if isinstance(event, RunEvent):
            await charge(len(event.inputs) + len(event.outputs))
            await self._runs.record(report_of(event, warn))
        elif event is not None:
            await self._register(event)

    async def _register(self, named: NamedDataset) -> None:
        """Register a dataset, unless it is known and the event tells no version of it."""
        file = file_of(named)
        if file.dataset_version is None and await self._files.by_name([file.name], frozenset()):
            return
        report = await self._registration.register([file])
        if report.rejections:
            raise BadUserInput(report.rejections[0].message)


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

    with charged_to(exchange.account(maxsize)):
        taken = await intake.take(body, charge, is_gzip=compressed)
    exchange.facts |= {"accepted": taken.received - len(taken.refused), "rejected": len(taken.refused)}
    return JSONResponse(_summary(taken), _status(taken))


def _status(taken: Taken) -> int:
    return InvalidEvent.status if taken.received and len(taken.refused) == taken.received else 200


def _summary(taken: Taken) -> dict[str, object]:
    refused = len(taken.refused)
    return {
        "status": "partial_success" if refused else "success",
        "summary": {"received": taken.received, "successful": taken.received - refused, "failed": refused},
        "failed_events": [{"index": place, **format_error(error)} for place, error in taken.refused[:MOST_NAMED]],
        "warnings": [{"index": place, "message": message} for place, message in taken.warnings],
    }
