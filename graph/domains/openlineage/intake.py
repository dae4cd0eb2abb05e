"""Takes in the events of requests. Each is judged by itself, and one that came before changes nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from graph.core.errors import BadRequest, BadUserInput, GraphError
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.registering import Registration
from graph.domains.openlineage.checked import Warn
from graph.domains.openlineage.events import NamedDataset, RunEvent, read_event
from graph.domains.openlineage.reports import file_of, report_of
from graph.transport.bodies import BodyIntake, memory_of_json
from graph.transport.json_values import parsed_json
from graph.work.account import give_way

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
