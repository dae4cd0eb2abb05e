"""A lease: one process of many does a job at a time, and another takes over when it dies.

A lease is one item of a table. A process that takes it moves the next attempt to the end of the
lease, so that no other process begins. If the process dies, the lease ends by itself. A process that
has done the job ends the lease: it sets the time of the next attempt, and leaves attributes of the job
for the next holder. Both are conditional writes. If two processes take a lease, one of them succeeds.
A process that outlasted its lease changes nothing. Work without end is done by `holding.hold_forever`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from graph.core.clock import Clock
from graph.core.errors import GraphError
from graph.observability.logs import get_logger
from graph.store.attributes import Attribute, Text, Whole
from graph.store.conditions import Compare, Condition, unchanged
from graph.store.contract import Database, Update
from graph.store.entity import Item, Key
from graph.work.tasks import Sleep

LOOK_EVERY_S = 60.0  # checks whether the job is due, and whether its holder still lives
LONGEST_MS = 1_800_000  # the longest lease, after several holders that died
FARTHEST_MS = 25 * 3_600_000  # a next attempt farther off was set by a wrong clock
DOUBLINGS = 8

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LeaseItem:
    """The item of a lease, and the names of its attributes. All other attributes belong to the job."""

    key: Key
    holder: str = "holder"  # id of the latest lease
    due: str = "due"  # the next attempt, epoch milliseconds; while the lease is held, its end
    unended: str = "unended"  # leases taken since one was properly ended


LEASE_ATTRIBUTES: tuple[Attribute, ...] = (
    Text("holder", optional=True),
    Whole("due", unit="epoch ms", optional=True),
    Whole("unended", unit="leases", optional=True),
)
"""The attributes that the entity of a lease declares, unless a domain chooses other names."""


@dataclass(frozen=True, slots=True)
class LeaseState:
    """A lease as it was read. It is empty before the first one is taken."""

    holder: str | None
    next_attempt: int | None  # epoch milliseconds
    unended: int  # the latest of them may still be held
    attributes: Item  # all attributes, including the job's

    def due(self, now: int) -> int:
        """The time of the next attempt, epoch milliseconds."""
        due = self.next_attempt or 0
        return now if due - now > FARTHEST_MS else due


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a job."""

    next_attempt: int  # epoch milliseconds
    attributes: Mapping[str, Any] = field(default_factory=dict)  # for the next holder


Job = Callable[[LeaseState, int], Awaitable[JobResult]]
"""Does the job. It receives the state that earlier holders have left, and the time in epoch milliseconds.

If it raises, its lease ends by itself, as if its holder had died.
"""


class Failures:
    """Reports the first of several errors in a row."""

    def __init__(self, report: Callable[[Exception], None]) -> None:
        self._report = report
        self._failing = False

    def add(self, error: Exception) -> None:
        """Report an error, unless one came before it."""
        if not self._failing:
            self._report(error)
        self._failing = True

    def end(self) -> None:
        """Note that something succeeded."""
        self._failing = False


@dataclass(eq=False)
class Lease:
    """Takes, renews and ends the leases of one job."""

    database: Database
    item: LeaseItem
    clock: Clock
    lasts_ms: int  # longer than the job ever takes; it is doubled for each holder that died, up to `LONGEST_MS`

    async def state(self) -> LeaseState:
        """Read the lease."""
        stored = await self.database.get(self.item.key) or {}
        names = self.item
        return LeaseState(stored.get(names.holder), stored.get(names.due), stored.get(names.unended, 0), stored)

    async def take(self, state: LeaseState, now: int) -> str | None:
        """Take the lease and return its id; None if another process has changed it since `state` was read."""
        names, holder = self.item, str(uuid4())
        lasts_ms = max(self.lasts_ms, min(self.lasts_ms * 2 ** min(state.unended, DOUBLINGS), LONGEST_MS))
        taken = {names.holder: holder, names.due: now + lasts_ms, names.unended: state.unended + 1}
        as_read = unchanged(state.attributes, names.holder, names.due)
        return holder if await self._change(taken, as_read) else None

    async def renew(self, holder: str, end: int) -> bool:
        """Let a lease last until another time. False, without a change, if another one was taken."""
        return await self._change_own(holder, {self.item.due: end})

    async def end(self, holder: str, done: JobResult) -> bool:
        """End a lease. False, without a change, if it had ended by itself and another one was taken."""
        names = self.item
        return await self._change_own(holder, {**done.attributes, names.due: done.next_attempt, names.unended: 0})

    async def run_if_due(self, job: Job) -> int:
        """Do the job if it is due and no other process does it. Returns its next time, epoch milliseconds."""
        state, now = await self.state(), self.clock()
        due = state.due(now)
        if due > now:
            return due
        if not (holder := await self.take(state, now)):
            return (await self.state()).due(now)
        done = await job(state, now)
        await self.end(holder, done)
        return done.next_attempt

    async def run_forever(
        self, job: Job, *, failed: Callable[[Exception], None] | None = None, sleep: Sleep = asyncio.sleep
    ) -> None:
        """Do the job whenever it is due and no other process does it.

        Args:
            failed: called with the error of a check or of the job; only with the first of several errors in a
                row. By default the error is logged.
        """
        failures = Failures(failed or self.log)
        while True:
            wait_s = LOOK_EVERY_S
            try:
                due = await self.run_if_due(job)
            except Exception as error:  # of the store, or a defect; it must not end the loop
                failures.add(error)
            else:
                failures.end()
                wait_s = (due - self.clock()) / 1000
            await sleep(max(0.0, min(wait_s, LOOK_EVERY_S)))

    async def _change_own(self, holder: str, attributes: Mapping[str, Any]) -> bool:
        return await self._change(attributes, Compare(self.item.holder, "=", holder))

    async def _change(self, attributes: Mapping[str, Any], condition: Condition) -> bool:
        return await self.database.update(Update(self.item.key, set=attributes, condition=condition))

    def log(self, error: BaseException) -> None:
        """Log an error of the job or of the store."""
        entity, values = self.item.key
        job = "#".join((entity.name, *map(str, values)))
        known = isinstance(error, GraphError)
        cause = (error.detail or str(error)) if isinstance(error, GraphError) else repr(error)
        trace = None if known else error
        logger.warning("A job under a lease failed, and will be tried again", job=job, cause=cause, exc_info=trace)
