"""Follows the changes of USGS: beside polling, one process asks for all that was changed or deleted since.

Feeds list the events of a month by origin time, and no deleted ones. So only the FDSN service tells of a
late revision of an older event, of a deletion, and of what happened during an outage of more than a month.
It is asked once an hour, by a query or a few, since USGS wants programs to read the feeds where they can.
An answer beyond USGS's limit is fetched in parts, as a back-fill: what was stored of it is not fetched again.

What was older than the feeds reach at the last success is revised if it is stored, and not inserted: a
catalogue that began with a month of events would otherwise have a few events of each year.
"""

import asyncio
import random
from functools import partial

from graph.core.clock import Clock
from graph.core.days import DAY_MS
from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.domains.earthquakes.ingest.attempts import Attempts, Between, warn
from graph.domains.earthquakes.ingest.backfill import BackfillProgress
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.ingest.report import IngestReport
from graph.domains.earthquakes.usgs.requests import changes_since
from graph.observability.logs import get_logger
from graph.runtime.lease import LEASE_ATTRIBUTES, JobResult, Lease, LeaseItem, LeaseState
from graph.store.contract import Database
from graph.store.entity import Entity
from graph.work.tasks import Sleep

EVERY_MS = 3_600_000
MARGIN_MS = 6 * 3_600_000  # before the last success: a product reaches USGS's index some time after its own time
REACH_MS = 30 * DAY_MS  # of the widest feed; and how far the first query looks back
LEASE_MS = 1_800_000  # a run ends itself then, and the next one goes on with the rest
FIRST_PAUSE_S = 60.0  # after a failure

logger = get_logger(__name__)


class ChangesState(Attempts):
    """How following goes. A success begins with its first query, which an earlier run may have sent."""

    def since(self, now: int) -> int:
        """The time after which changes are new, epoch milliseconds. It stays the same until the next success."""
        if self.last_success is None:
            return (now - REACH_MS) // DAY_MS * DAY_MS
        return min(self.last_success, now) - MARGIN_MS

    def reached(self, now: int) -> int:
        """The origin time, epoch milliseconds, since which the feeds would have listed all that was new until now."""
        return min(now if self.last_success is None else self.last_success, now) - REACH_MS


CHANGES = Entity(
    "CHANGES", EARTHQUAKE_EVENTS, ChangesState, key=("POLL#USGS", "CHANGES"), attributes=LEASE_ATTRIBUTES, label="POLL"
)
CHANGES_LEASE = LeaseItem(CHANGES.key_for())


def changes_lease(database: Database, clock: Clock) -> Lease:
    """The lease of the process that asks for changes."""
    return Lease(database, CHANGES_LEASE, clock, lasts_ms=LEASE_MS)


async def follow_forever(
    ingest: Ingest,
    database: Database,
    clock: Clock,
    sleep: Sleep = asyncio.sleep,
    between: Between = random.uniform,
    *,
    runs_s: float = LEASE_MS / 1000,
) -> None:
    """Ask for changes again and again, under one lease with the other processes on the table.

    Args:
        runs_s: the longest time of a run. What it has not fetched by then, the next one does.
    """
    follow = partial(_follow, ingest, clock, between, runs_s)
    await changes_lease(database, clock).run_forever(follow, failed=_warn, sleep=sleep)


async def _follow(
    ingest: Ingest, clock: Clock, between: Between, runs_s: float, lease: LeaseState, started: int
) -> JobResult:
    """Ask once for what changed, from the epoch millisecond `started` on."""
    state = ChangesState.of(lease)
    progress = BackfillProgress()

    def advanced(_: IngestReport, latest: BackfillProgress) -> None:
        nonlocal progress
        progress = latest

    running = asyncio.timeout(runs_s)
    try:
        async with running:
            query = changes_since(state.since(started))
            report = await ingest.window(query, advanced, only_stored_before=state.reached(started))
    except Exception as error:  # also a defect, which should be met less often too
        if running.expired():
            logger.info("Following the changes of USGS takes long, and goes on later")
            return JobResult(clock())
        if not state.failures:
            _warn(error)
        return state.failed(error, now=clock(), every_s=FIRST_PAUSE_S, between=between)
    logger.info("Followed the changes of USGS", **report.log_facts)
    return JobResult(max(started + EVERY_MS, clock()), {"lastSuccess": progress.began_ms, "failures": 0})


def _warn(error: Exception) -> None:
    """Log the first failure in a row."""
    warn(logger.warning, "USGS cannot be asked for changes, and will be asked again", error)
