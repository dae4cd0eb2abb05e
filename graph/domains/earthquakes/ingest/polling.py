"""Polling: the feeds of USGS are ingested again and again, in the background of the processes that serve.

It is polite: one process polls at a time, a minute or more apart, asks for what has changed alone,
makes one attempt, and comes back ever later while that fails. It is thorough: after an outage it
takes the feed that reaches back far enough.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from graph.core.clock import Clock
from graph.core.days import DAY_MS
from graph.core.errors import GraphError, UpstreamFailure, outcome_of
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.ingest.poll_state import LEASE_MS, PollState, poll_lease
from graph.domains.earthquakes.usgs.requests import UsgsFeed
from graph.observability.logs import get_logger
from graph.runtime.lease import Done, LeaseState
from graph.store.contract import Database
from graph.work.tasks import BackgroundTasks, Sleep

LONGEST_PAUSE_S = 1800.0  # between attempts that fail, unless polls are further apart anyway
LONGEST_WAIT_S = 86_400.0  # that USGS may ask for: a wrong header must not end polling

# A network publishes what it finds by itself within minutes, and what an analyst has to find within
# hours; then the event is in a feed by its origin time, as if it had been there all along. So the feed
# of the hour would miss many, and a feed has to reach back so much further than to the last success.
LATE_MS = DAY_MS // 2
REACH_MS = {UsgsFeed.ALL_DAY: DAY_MS, UsgsFeed.ALL_WEEK: 7 * DAY_MS}

logger = get_logger(__name__)


def feed_after(outage_ms: int | None) -> UsgsFeed:
    """The narrowest feed that has all events since the last success, or the widest.

    Args:
        outage_ms: the time since then. None where nothing was ever polled: an empty catalogue begins with a month.
    """
    for feed, reach_ms in REACH_MS.items():
        if outage_ms is not None and 0 <= outage_ms <= reach_ms - LATE_MS:
            return feed
    return UsgsFeed.ALL_MONTH


@asynccontextmanager
async def polling(
    ingest: Ingest,
    database: Database,
    every_s: float,
    clock: Clock,
    sleep: Sleep = asyncio.sleep,
    between: Callable[[float, float], float] = random.uniform,  # picks a pause within two bounds
    *,
    lease_ms: int = LEASE_MS,
) -> AsyncIterator[None]:
    """Poll for as long as this is open, under one lease with the other processes on the database.

    Args:
        lease_ms: that a poll takes at most, from the first byte that is fetched to the last event that is stored.
    """
    lease, poller = poll_lease(database, clock, lease_ms), _Poller(ingest, every_s, clock, between)
    async with BackgroundTasks() as tasks:
        tasks.start("polling", partial(lease.run_forever, poller.poll, failed=_warn, sleep=sleep))
        yield


class _Poller:
    """The part of one process."""

    def __init__(self, ingest: Ingest, every_s: float, clock: Clock, between: Callable[[float, float], float]) -> None:
        self._ingest = ingest
        self._every_s = every_s
        self._clock = clock
        self._between = between

    async def poll(self, lease: LeaseState, started: int) -> Done:
        """Poll once, from that epoch millisecond on."""
        state = PollState.of(lease)
        feed = feed_after(None if state.last_success is None else started - state.last_success)
        if feed is UsgsFeed.ALL_DAY and started - (state.last_wide_success or 0) >= DAY_MS:
            feed = UsgsFeed.ALL_WEEK  # for what was published more than a day after its origin time
        try:
            report, stored = await self._ingest.feed(feed, state.validators(feed))
        except Exception as error:  # a defect too, which is as well met less often
            if not state.failures:
                _warn(error)
            now, code = self._clock(), str(outcome_of(error)[1])
            due = now + round(1000 * self._pause_s(state.failures, error))
            return state.failed(code, now=now, next_attempt=due)
        logger.info("Polled USGS", new=report.upserted, fetched=report.fetched, feed=feed.value)
        if state.failures:
            logger.info("Polling USGS works again", failures=state.failures)
        due = max(started + round(1000 * self._every_s), self._clock())
        return state.succeeded(feed, stored, began=started, next_attempt=due)

    def _pause_s(self, failures: int, error: Exception) -> float:
        """Half to all of an exponential pause after so many failures before this one, or what USGS asks for."""
        longest = min(self._every_s * 2 ** min(failures + 1, 16), LONGEST_PAUSE_S)
        asked = error.retry_after_s if isinstance(error, UpstreamFailure) else None
        return max(self._every_s, self._between(longest / 2, longest), min(asked or 0.0, LONGEST_WAIT_S))


def _warn(error: Exception) -> None:
    """Say that polls begin to fail. How long they do is for the metrics to tell."""
    known = isinstance(error, GraphError)
    cause = (error.detail or str(error)) if isinstance(error, GraphError) else repr(error)
    logger.warning("Polling fails, and goes on", code=outcome_of(error)[1], cause=cause, exc_info=not known)
