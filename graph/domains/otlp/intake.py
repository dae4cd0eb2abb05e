"""Takes in the logs of requests: reads them record by record, and writes them.

Nothing is written before all is read, so a refused request has stored nothing. A request that finds no room is refused
with a status that makes its sender try again.
"""

from collections.abc import Awaitable, Callable
from time import perf_counter

from graph.core.clock import Clock
from graph.core.errors import BadRequest
from graph.domains.otlp.formats import MOST_RECORDS, RecordGroup, RequestFormat, TooManyRecords
from graph.domains.otlp.reading import logs_of
from graph.domains.otlp.values import Unreadable, WrongType
from graph.domains.service_logs.model import NewLog, RejectedLog, WriteReport
from graph.domains.service_logs.writing import LogWriter
from graph.transport.bodies import BodyIntake
from graph.work.account import give_way
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
