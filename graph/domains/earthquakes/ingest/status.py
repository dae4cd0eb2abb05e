"""The ingest status: how polling and following changes go in all processes, and the age of the newest event."""

import asyncio
import logging
from dataclasses import replace
from typing import Literal

from graph.core.clock import Clock
from graph.core.described import described, instant, optional, value
from graph.core.paging import Paging
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.ingest.changes import ChangesState, changes_lease
from graph.domains.earthquakes.ingest.polling import LEASE_MS, PollState, poll_lease
from graph.domains.earthquakes.selection import Selection
from graph.runtime.lease import FARTHEST_MS
from graph.store.contract import Database
from graph.work.tasks import Sleep, repeat

LOOK_EVERY_S = 30.0  # the greatest age of the metrics' values; a status takes a few reads

# A polling process checks every minute whether a poll is due, and the lease of a dead one ends by itself.
OVERDUE_MS = 2 * LEASE_MS


@value
class IngestStatus:
    """The present ingest status, the same for every process of the service."""

    as_of: int  # epoch milliseconds
    polling: bool = described(
        "Whether any process polls USGS for this catalogue. If none does any more, "
        "the other fields describe the last polls."
    )
    last_success_at: int | None = instant(
        "When a poll last succeeded, with new events or without; null for never.", default=None
    )
    last_error: str | None = optional(
        "Stable code of the last poll that failed, such as `UPSTREAM_UNAVAILABLE`; null for none. "
        "It is kept after later successes."
    )
    last_error_at: int | None = instant("When that poll failed; null for never.", default=None)
    failures: int = described("Polls that failed since the last success; 0 while they succeed.", default=0)
    next_attempt_at: int | None = instant(
        "When the next poll is due; during a poll, when another process would take over. Null before the first poll, "
        "and if USGS is not polled.",
        default=None,
    )
    last_changes_at: int | None = instant(
        "When USGS was last asked with success for what it has changed or deleted; null for never. "
        "It is asked once an hour.",
        default=None,
    )
    changes_failures: int = described(
        "Requests for changes that failed since the last success; 0 while they succeed.", default=0
    )
    newest_event: int | None = None  # its origin time, epoch milliseconds

    @property
    def state(self) -> Literal["off", "ok", "warning"]:
        """Queries are answered in each state, perhaps from an outdated catalogue."""
        if not self.polling:
            return "off"
        return "warning" if self.failures or self.changes_failures else "ok"

    @property
    def newest_event_lag_seconds(self) -> float | None:
        """Time since the origin time of the newest event, seconds; null if there is no event."""
        return None if self.newest_event is None else (self.as_of - self.newest_event) / 1000


class IngestStatusReader:
    """Reads the ingest status of a database, also in a process that does not poll."""

    def __init__(self, database: Database, catalogue: Catalogue, clock: Clock, *, polls: bool) -> None:
        self._lease = poll_lease(database, clock)
        self._changes = changes_lease(database, clock)
        self._catalogue = catalogue
        self._clock = clock
        self._polls = polls
        self._last_read: IngestStatus | None = None

    async def status(self) -> IngestStatus:
        """Read the present status.

        Raises:
            DatabaseUnavailable: The store does not answer.
        """
        state, newest = PollState.of(await self._lease.state()), await self._newest_event()
        changes = ChangesState.of(await self._changes.state())
        now = self._clock()
        overdue = None if state.next_attempt is None else now - state.next_attempt
        expected = overdue is not None and -FARTHEST_MS <= overdue <= OVERDUE_MS
        polling = self._polls or expected
        self._last_read = IngestStatus(
            as_of=now,
            polling=polling,
            last_success_at=state.last_success,
            last_error=state.last_error,
            last_error_at=state.last_error_at,
            failures=state.failures,
            next_attempt_at=state.next_attempt if polling else None,
            last_changes_at=changes.last_success,
            changes_failures=changes.failures,
            newest_event=newest,
        )
        return self._last_read

    @property
    def known(self) -> IngestStatus | None:
        """The last read status, as of now; None before the first read."""
        return replace(self._last_read, as_of=self._clock()) if self._last_read else None

    async def read_forever(self, sleep: Sleep = asyncio.sleep) -> None:
        """Read the status again and again, for `known`."""
        failure = "The ingest status cannot be read"
        await repeat(self.status, LOOK_EVERY_S, failure=failure, level=logging.DEBUG, sleep=sleep)

    async def _newest_event(self) -> int | None:
        """The origin time of the newest event. Future events, which a caller may have stored, do not count."""
        page = await self._catalogue.page(Selection(end_ms=self._clock()), Paging(size=1), attributes=frozenset())
        return page.records[0].event_ts_ms if page.records else None
