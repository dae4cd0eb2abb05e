"""Ingesting recent events again and again, in the background of a serving process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from graph.clock import Clock
from graph.earthquakes.ingest import Ingest
from graph.earthquakes.usgs import RecentEvents, UsgsFeed
from graph.errors import GraphError, outcome_of
from graph.store.contract import Table
from graph.telemetry.logs import get_logger

# A day, as many events reach USGS hours after their origin time; what is stored already costs a look-up.
POLLED = RecentEvents(feed=UsgsFeed.ALL_DAY)

logger = get_logger(__name__)


@dataclass(slots=True)
class Polling:
    """How it goes. One warning is logged when polls begin to fail, however long they do, and a line when they end."""

    last_success: int | None = None  # epoch milliseconds
    failing_since: int | None = None  # epoch milliseconds; None while polls succeed
    failures: int = 0  # since then
    error: str | None = None  # the code of the last one

    @property
    def status(self) -> str:
        """In a word: queries are answered either way, but from a catalogue that is not kept up."""
        return "ok" if self.failing_since is None else "warning"

    def succeeded(self, now: int) -> None:
        """A poll went well."""
        if self.failing_since is not None:
            logger.info("Polling USGS works again", failures=self.failures)
        self.last_success, self.failing_since, self.failures, self.error = now, None, 0, None

    def failed(self, now: int, error: Exception) -> None:
        """A poll did not."""
        _, self.error = outcome_of(error)
        self.failures += 1
        if self.failing_since is None:
            self.failing_since = now
            known = isinstance(error, GraphError)
            cause = (error.detail or str(error)) if isinstance(error, GraphError) else repr(error)
            logger.warning("Polling fails, and goes on", code=self.error, cause=cause, exc_info=not known)


@asynccontextmanager
async def polling(
    ingest: Ingest,
    table: Table,
    every_s: float,
    clock: Clock,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncIterator[Polling]:
    """Poll for as long as this is open. Of many processes on one table, one has each turn."""
    state = Polling()

    async def poll_forever() -> None:
        while True:
            try:
                if await _has_turn(table, every_s, clock):
                    report = await ingest.recent(POLLED)
                    logger.info("Polled USGS", new=report.upserted, fetched=report.fetched)
                    state.succeeded(clock())
            except Exception as error:  # a defect too: one round must not end all later ones
                state.failed(clock(), error)
            await sleep(every_s)

    task = asyncio.create_task(poll_forever())
    try:
        yield state
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _has_turn(table: Table, every_s: float, clock: Clock) -> bool:
    """Take the lease of this turn, which expires with it, unless another process has it."""
    until = int(clock() / 1000 + every_s)
    return await table.put({"pk": "LEASE#POLL", "sk": "LEASE", "entity": "LEASE", "ttl": until}, if_absent=True)
