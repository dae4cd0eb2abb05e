"""Checks of the summaries by one process after the other."""

from collections.abc import Callable
from typing import Any

from graph.domains.earthquakes.summaries.check import SummaryCheck
from graph.domains.earthquakes.summaries.state import (
    SUMMARY_CHECK,
    CheckState,
    SummaryStatus,
    SummaryStatusReader,
    check_lease,
)
from graph.store.contract import Database, Update
from tests.domains.earthquakes.ingest.ingests import unlogged_ingest
from tests.held_time import HeldTime

EVERY_S = 300.0


class Checks:
    """Checks by one process after the other, as time passes. Nothing is waited for."""

    def __init__(
        self,
        database: Database,
        time: HeldTime,
        *,
        during_pause: Callable[[], Any] | None = None,
        most_events: int = 5000,
    ) -> None:
        self.pauses: list[float] = []  # seconds between two looks of a check
        self._database = database
        self._time = time
        self._during_pause = during_pause
        self._most_events = most_events

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if self._during_pause:
            await self._during_pause()

    async def once(self) -> None:
        """Move the time to the next check, and do it."""
        adopt = unlogged_ingest(self._database, self._time).intake.adopt
        check = SummaryCheck(
            self._database, adopt, self._time, every_s=EVERY_S, most_events=self._most_events, sleep=self._sleep
        )
        lease = check_lease(self._database, self._time)
        self._time.now = max(self._time.now, (await lease.state()).next_attempt or 0)
        await lease.run_if_due(check.check)

    async def begin_with(self, year: int) -> None:
        """Let the walk over the empty years go on with this one."""
        await self._database.update(Update(SUMMARY_CHECK.key_for(), set={"nextYear": year}))

    async def several(self, number: int) -> None:
        for _ in range(number):
            await self.once()

    async def status(self) -> SummaryStatus:
        return await SummaryStatusReader(self._database, self._time).status()

    async def state(self) -> CheckState:
        return CheckState((await check_lease(self._database, self._time).state()).attributes)
