"""Ingesting recent events again and again, in the background of a serving process."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from graph.clock import Clock
from graph.earthquakes.ingest import Ingest
from graph.earthquakes.usgs import RecentEvents, UsgsFeed
from graph.errors import DatabaseUnavailable, GraphError
from graph.store.contract import Table

# A day, as many events reach USGS hours after their origin time; what is stored already costs a look-up.
POLLED = RecentEvents(feed=UsgsFeed.ALL_DAY)

logger = logging.getLogger(__name__)


@asynccontextmanager
async def polling(
    ingest: Ingest,
    table: Table,
    every_s: float,
    clock: Clock,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncIterator[None]:
    """Poll for as long as this is open. Of many processes on one table, one has each turn."""

    async def poll_forever() -> None:
        while True:
            try:
                if await _has_turn(table, every_s, clock):
                    report = await ingest.recent(POLLED)
                    logger.info("Polled USGS: %d new events of %d", report.upserted, report.fetched)
            except DatabaseUnavailable as error:
                logger.warning("Polling failed, and goes on in %g s: %s", every_s, error.detail)
            except GraphError as error:
                logger.warning("Polling failed, and goes on in %g s: %s", every_s, error)
            except Exception:  # a defect in one round must not end all later ones
                logger.exception("Polling failed, and goes on in %g s", every_s)
            await sleep(every_s)

    task = asyncio.create_task(poll_forever())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _has_turn(table: Table, every_s: float, clock: Clock) -> bool:
    """Take the lease of this turn, which expires with it, unless another process has it."""
    until = int(clock() / 1000 + every_s)
    return await table.put({"pk": "LEASE#POLL", "sk": "LEASE", "entity": "LEASE", "ttl": until}, if_absent=True)
