"""Ends abandoned runs: runs of this service whose process was killed, or lost its store.

Nobody can tell whether another process lives. But a run is in the index of open runs until it ends. One that has been
there for longer than an ingest takes counts as abandoned. If its process still lives, its own end replaces this one.
"""

from graph.core.clock import Clock
from graph.core.days import DAY_MS
from graph.domains.data_files.entities import ENDING_RUNS, OPEN_RUNS, RUN
from graph.domains.data_files.model import RunState
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.provenance.reports import RunReport
from graph.domains.data_files.times import text_of_ms
from graph.runtime.lease import JobResult, Lease, LeaseItem, LeaseState
from graph.store.contract import Database
from graph.store.query import Query

LONGEST_MS = DAY_MS  # of an ingest: a mutation takes an hour at most, a large file some hours
EVERY_MS = 3_600_000
RUNS_AT_ONCE = 100
LEASE_MS = 120_000  # so many runs take some seconds


class AbandonedRuns:
    """Ends abandoned runs, one process at a time."""

    def __init__(self, database: Database, runs: Runs, clock: Clock) -> None:
        self._database = database
        self._runs = runs
        self.lease = Lease(database, LeaseItem(ENDING_RUNS.key_for()), clock, lasts_ms=LEASE_MS)

    async def end(self, _: LeaseState, now: int) -> JobResult:
        """End those of an epoch millisecond, the oldest first. If there may be more, the next attempt is due at once.

        When they have ended is unknown, so they have no such time.
        """
        since = text_of_ms(now - LONGEST_MS)
        query = Query(entity=RUN, index=OPEN_RUNS, between=(None, since), limit=RUNS_AT_ONCE)
        found = (await self._database.query(query)).items
        for run in found:
            report = RunReport(algorithm=run["algorithm"], run_id=run["run-id"], state=RunState.ABORTED)
            await self._runs.record(report)
        return JobResult(now if len(found) == RUNS_AT_ONCE else now + EVERY_MS)

    async def end_forever(self) -> None:
        """End abandoned runs again and again, under one lease with the other processes on the table."""
        await self.lease.run_forever(self.end)
