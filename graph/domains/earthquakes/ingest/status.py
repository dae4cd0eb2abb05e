"""How well the catalogue is kept up: what polling last met, in whichever process, and how old its newest event is."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Literal

from graph.core.clock import Clock
from graph.core.paging import Paging
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.ingest.poll_state import LEASE_MS, PollState, poll_lease
from graph.domains.earthquakes.selection import Selection
from graph.runtime.lease import FARTHEST_MS
from graph.store.contract import Database
from graph.work.tasks import BackgroundTasks, Sleep, attempt, repeat

LOOK_EVERY_S = 30.0  # as old may be what metrics tell; a look is a handful of reads

# A process that polls looks every minute whether it is time, and the lease of one that died ends by itself.
OVERDUE_MS = 2 * LEASE_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestStatus:
    """How it goes. Times are epoch milliseconds; None is what is not known."""

    as_of: int
    polling: bool  # some process polls, if not this one
    last_success: int | None = None
    last_error: str | None = None  # a stable code; it stays when polls succeed again
    last_error_at: int | None = None
    failures: int = 0  # in a row, up to the latest attempt
    next_attempt: int | None = None
    newest_event: int | None = None  # its origin time

    @property
    def word(self) -> Literal["off", "ok", "warning"]:
        """In a word: queries are answered either way, but perhaps from a catalogue that is not kept up."""
        if not self.polling:
            return "off"
        return "warning" if self.failures else "ok"

    @property
    def newest_event_lag_seconds(self) -> float | None:
        """Time since the newest event."""
        return None if self.newest_event is None else (self.as_of - self.newest_event) / 1000


class Upkeep:
    """Reads the state of one database, whether this process polls or not."""

    def __init__(self, database: Database, catalogue: Catalogue, clock: Clock, *, polls: bool) -> None:
        self._lease = poll_lease(database, clock)
        self._catalogue = catalogue
        self._clock = clock
        self._polls = polls
        self._last_read: IngestStatus | None = None

    async def status(self) -> IngestStatus:
        """The state now.

        Raises:
            DatabaseUnavailable: The store does not answer.
        """
        state, newest = PollState.of(await self._lease.state()), await self._newest_event()
        now = self._clock()
        overdue = None if state.next_attempt is None else now - state.next_attempt
        expected = overdue is not None and -FARTHEST_MS <= overdue <= OVERDUE_MS
        polling = self._polls or expected
        self._last_read = IngestStatus(
            as_of=now,
            polling=polling,
            last_success=state.last_success,
            last_error=state.last_error,
            last_error_at=state.last_error_at,
            failures=state.failures,
            next_attempt=state.next_attempt if polling else None,
            newest_event=newest,
        )
        return self._last_read

    @property
    def known(self) -> IngestStatus | None:
        """What was last read, as of now; None where nothing was."""
        return replace(self._last_read, as_of=self._clock()) if self._last_read else None

    async def _newest_event(self) -> int | None:
        """Its origin time. One that is yet to come, as a caller may have given it, hides no gap before it."""
        page = await self._catalogue.page(Selection(end_ms=self._clock()), Paging(size=1), attributes=frozenset())
        return page.records[0].event_ts_ms if page.records else None


@asynccontextmanager
async def watched(upkeep: Upkeep, sleep: Sleep = asyncio.sleep) -> AsyncIterator[None]:
    """Read the state at once, and again and again for as long as this is open."""

    failure = "The state of polling cannot be read"
    await attempt(upkeep.status, failure=failure, level=logging.DEBUG)

    async def look_later() -> None:
        await sleep(LOOK_EVERY_S)
        await repeat(upkeep.status, LOOK_EVERY_S, failure=failure, level=logging.DEBUG, sleep=sleep)

    async with BackgroundTasks() as tasks:
        tasks.start("reading the ingest status", look_later)
        yield
