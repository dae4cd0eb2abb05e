"""Holds a lease for as long as its holder lives: for work that goes on without end, in one process of many.

    await hold_forever(Lease(database, item, clock, lasts_ms=15_000), deliver_forever)

The holder renews its lease every third of it. If the holder dies, the lease ends by itself, and another process
takes it. It lasts as long as before: a death says nothing about how long the work takes.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

from graph.runtime.lease import Failures, JobResult, Lease
from graph.work.tasks import Sleep

RENEWALS = 3  # in the time of a lease, so that one of them may fail
ENDING = 1 / 10  # of a lease, the time that cancelled work has to end before another process may begin
PAUSE_S = 10.0  # after work that ended, and while the store does not answer

EndlessWork = Callable[[], Coroutine[Any, Any, object]]


async def hold_forever(lease: Lease, work: EndlessWork, *, sleep: Sleep = asyncio.sleep) -> None:
    """Do work whenever this process holds the lease, and wait while another one does.

    - The work is cancelled when another process has taken the lease, or when the lease runs out because the store
      answered no renewal.
    - If the work returns or raises, which is logged, the lease is given up. This process pauses before it tries again.
    - If this is cancelled, the work is cancelled and then the lease is given up.

    A process that waits looks as often as a holder renews, and when the lease ends. So it takes over a lease that was
    given up after a third of its time at most, and that of a dead holder as soon as it has run out.

    Two processes do the work at the same time only if one of them was stopped for longer than its lease, if their
    clocks differ by half of a lease, or if cancelled work takes long to end. So the work must bear to be done twice.

    Args:
        work: a coroutine function that does not return.
    """
    failures = Failures(lease.log)
    while True:
        wait_s = PAUSE_S
        try:
            state, now = await lease.state(), lease.clock()
            due = state.due(now)
            # Without the deaths of earlier holders, it lasts as long as always.
            holder = await lease.take(replace(state, unended=0), now) if due <= now else None
        except Exception as error:  # of the store; it must not end the loop
            failures.add(error)
        else:
            failures.end()
            if holder:
                holding = _Holding(lease, holder, now + lease.lasts_ms, failures, sleep)
                if await holding.is_lost_during(work):
                    continue
            elif due > now:
                wait_s = min(due - now, _renewed_every_ms(lease)) / 1000
            else:
                continue  # another process was faster
        await sleep(wait_s)


def _renewed_every_ms(lease: Lease) -> float:
    return lease.lasts_ms / RENEWALS


@dataclass(slots=True)
class _Holding:
    """A lease that this process holds."""

    lease: Lease
    holder: str
    end: int  # of the lease, epoch milliseconds
    failures: Failures
    sleep: Sleep

    async def is_lost_during(self, work: EndlessWork) -> bool:
        """Do the work until it ends or the lease is lost. Returns whether it was lost."""
        tasks = [asyncio.create_task(each) for each in (work(), self._renew_until_refused(), self._wait_for_end())]
        working, *losing = tasks
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended, lost = working.done(), any(task.done() for task in losing)
            for task in tasks:
                task.cancel()
            outcome, *_ = await asyncio.gather(*tasks, return_exceptions=True)
            if ended or not isinstance(outcome, asyncio.CancelledError):
                self.lease.log(outcome if isinstance(outcome, BaseException) else RuntimeError("the work has returned"))
            if not lost:
                await self._give_up()
        return lost

    async def _renew_until_refused(self) -> None:
        """Renew the lease again and again. Returns when another process has taken it."""
        while True:
            await self.sleep(_renewed_every_ms(self.lease) / 1000)
            end = self.lease.clock() + self.lease.lasts_ms
            try:
                renewed = await self.lease.renew(self.holder, end)
            except Exception as error:  # of the store; there is time for another attempt
                self.failures.add(error)
            else:
                self.failures.end()
                if not renewed:
                    return
                self.end = end

    async def _wait_for_end(self) -> None:
        """Return when the lease runs out."""
        while (left_ms := self.end - self.lease.lasts_ms * ENDING - self.lease.clock()) > 0:
            await self.sleep(left_ms / 1000)

    async def _give_up(self) -> None:
        """Let another process take the lease at once."""
        try:
            await self.lease.end(self.holder, JobResult(self.lease.clock()))
        except Exception as error:  # of the store; the lease ends by itself
            self.failures.add(error)
