"""Polling: the feeds of USGS are ingested again and again, in the background of the processes that serve.

It is polite: one process polls at a time, a minute or more apart, asks for what has changed alone,
makes one attempt, and comes back ever later while that fails. It is thorough: after an outage it
takes the feed that reaches back far enough.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from graph.core.clock import Clock
from graph.core.days import DAY_MS
from graph.core.errors import GraphError, UpstreamFailure, outcome_of
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.ingest.turns import TURN_MS, PollState, Turns
from graph.domains.earthquakes.usgs.requests import UsgsFeed
from graph.observability.logs import get_logger
from graph.store.contract import Database

LOOK_EVERY_S = 60.0  # whether it is time, and whether whoever polled still does
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
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    between: Callable[[float, float], float] = random.uniform,  # picks a pause within two bounds
    *,
    turn_ms: int = TURN_MS,
) -> AsyncIterator[None]:
    """Poll for as long as this is open, in turn with the other processes on the database.

    Args:
        turn_ms: that a poll takes at most, from the first byte that is fetched to the last event that is stored.
    """
    poller = _Poller(ingest, Turns(database, turn_ms), every_s, clock, between)

    async def poll_forever() -> None:
        while True:
            await sleep(await poller.look())

    task = asyncio.create_task(poll_forever())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class _Poller:
    """The part of one process."""

    def __init__(
        self, ingest: Ingest, turns: Turns, every_s: float, clock: Clock, between: Callable[[float, float], float]
    ) -> None:
        self._ingest = ingest
        self._turns = turns
        self._every_s = every_s
        self._clock = clock
        self._between = between
        self._blind = False  # The last look failed.

    async def look(self) -> float:
        """Poll if it is time to and nobody else does. Seconds until the next look."""
        try:
            state, now = await self._turns.state(), self._clock()
            due = state.due(now)
            if due <= now and (turn := await self._turns.take(state, now)):
                due = await self._poll(turn, state, now)
            self._blind = False
        except Exception as error:  # the store, or a defect: one look must not end all later ones
            if not self._blind:
                _warn(error)
            self._blind = True
            return LOOK_EVERY_S
        wait_s = (due - self._clock()) / 1000
        return min(wait_s, LOOK_EVERY_S) if wait_s > 0 else LOOK_EVERY_S

    async def _poll(self, turn: str, state: PollState, started: int) -> int:
        """Use a turn. When the next attempt is due, epoch milliseconds."""
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
            await self._turns.fail(turn, state, code, now=now, next_attempt=due)
            return due
        logger.info("Polled USGS", new=report.upserted, fetched=report.fetched, feed=feed.value)
        if state.failures:
            logger.info("Polling USGS works again", failures=state.failures)
        due = max(started + round(1000 * self._every_s), self._clock())
        await self._turns.succeed(turn, state, feed, stored, began=started, next_attempt=due)
        return due

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
