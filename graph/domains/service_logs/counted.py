"""Which logs are counted for certain, where other programs write logs too.

Filtered pages leave out parts of time by their counters, and logs that are not adopted yet are not counted.
"""

from dataclasses import dataclass

from graph.core.clock import Clock
from graph.domains.service_logs.entities import ADOPTION, LOGS
from graph.feed.adoption import adopted_until
from graph.store.contract import Database

LATE_MS = 300_000  # from a log's time until it is written, by most programs
KEPT_MS = 10_000  # for which a process does not ask again how far logs are adopted


@dataclass(eq=False)
class CountedLogs:
    """The counted logs of a database."""

    database: Database
    clock: Clock

    def __post_init__(self) -> None:
        self._end: int | None = None
        self._read_at: int | None = None

    async def end(self) -> int | None:
        """The first slot whose logs may not be counted yet; None where all are counted.

        Logs that were written before the adoption's time are counted. Those that were written later may have earlier
        times: a filter finds such a log once it is adopted.
        """
        now = self.clock()
        if self.database.other_writers is not None and (self._read_at is None or now - self._read_at >= KEPT_MS):
            until = await adopted_until(self.database, ADOPTION, LOGS)
            self._end, self._read_at = max(until - LATE_MS, 0) * 1000, now
        return self._end
