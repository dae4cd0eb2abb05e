"""The days whose summary does not count their events, as the check of the summaries has found them.

They stand in the item of the check's lease, so every process can report them, and the next check goes on where the
last one stopped, in whichever process.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal
from uuid import uuid4

from graph.core.clock import Clock
from graph.core.days import date_of
from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.domains.earthquakes.model import MILLIS
from graph.runtime.lease import LEASE_ATTRIBUTES, Lease, LeaseItem
from graph.store.attributes import JsonDocument, Text, Whole
from graph.store.conditions import Present
from graph.store.contract import Database, Update
from graph.store.entity import Entity
from graph.store.records import Record, Stored, optional
from graph.work.tasks import Sleep, repeat

LEASE_MS = 120_000  # a check takes some seconds
CONFIRMATIONS = 3  # checks in a row that find a difference: an index may lag behind its table for a while
LOOK_EVERY_S = 60.0  # the greatest age of the metric's value

State = Literal["unknown", "ok", "warning"]


class CheckState(Record):
    """What a check leaves for the next one. It is empty before the first check."""

    last_check = optional("lastCheck", MILLIS)  # its beginning
    next_day = optional("nextDay", Text(unit="YYYYMMDD, UTC"))  # of the walk over the days of the catalogue
    next_year = optional("nextYear", Whole())  # of the walk over the years outside of it
    stored_differences: Stored[Mapping[str, int] | None] = optional("differences", JsonDocument())

    @property
    def differences(self) -> Mapping[str, int]:
        """Day, `YYYYMMDD` → the number of checks in a row that found a difference, at most `CONFIRMATIONS`."""
        return {day: int(times) for day, times in (self.stored_differences or {}).items()}


SUMMARY_CHECK = Entity(
    "SUMMARY_CHECK", EARTHQUAKE_EVENTS, CheckState, key=("CHECK#SUMMARIES", "STATE"), attributes=LEASE_ATTRIBUTES
)
CHECK_LEASE = LeaseItem(SUMMARY_CHECK.key_for())


def check_lease(database: Database, clock: Clock) -> Lease:
    """The lease of the process that checks the summaries."""
    return Lease(database, CHECK_LEASE, clock, lasts_ms=LEASE_MS)


def confirmed(differences: Mapping[str, int]) -> list[str]:
    """The days whose difference was found often enough, in order of time."""
    return sorted(day for day, times in differences.items() if times >= CONFIRMATIONS)


async def forget_differences(database: Database) -> None:
    """Forget all differences, after all summaries were computed anew.

    A check that is in progress loses its lease, so that it does not write down what it found before.
    """
    forgotten = {"differences": {}, CHECK_LEASE.holder: str(uuid4())}
    await database.update(Update(CHECK_LEASE.key, set=forgotten, condition=Present(CHECK_LEASE.holder)))


@dataclass(frozen=True, slots=True)
class SummaryStatus:
    """Whether the summaries count all events, as of the last check by any process."""

    last_check: int | None  # epoch milliseconds; None before the first one
    wrong_days: tuple[date, ...]  # those that are known; there may be more

    @property
    def state(self) -> State:
        """Queries are answered in each state, but pages and totals of wrong days disagree."""
        if self.wrong_days:
            return "warning"
        return "unknown" if self.last_check is None else "ok"


class SummaryStatusReader:
    """Reads the status of the summaries, also in a process that does not check them."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.known: SummaryStatus | None = None  # the last read status
        self._lease = check_lease(database, clock)

    async def status(self) -> SummaryStatus:
        """Read the present status.

        Raises:
            DatabaseUnavailable: The store does not answer.
        """
        state = CheckState((await self._lease.state()).attributes)
        self.known = SummaryStatus(state.last_check, tuple(map(date_of, confirmed(state.differences))))
        return self.known

    async def read_forever(self, sleep: Sleep = asyncio.sleep) -> None:
        """Read the status again and again, for `known`."""
        failure = "The status of the summaries cannot be read"
        await repeat(self.status, LOOK_EVERY_S, failure=failure, level=logging.DEBUG, sleep=sleep)
