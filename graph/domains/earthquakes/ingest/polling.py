"""Polling: the serving processes ingest the feeds of USGS again and again in the background.

It is polite: one process polls at a time, at most once a minute, fetches only changed feeds, makes one
attempt, and waits longer after each failure. It is thorough: after an outage it fetches the feed that
reaches back far enough.
"""

import asyncio
import random
from collections.abc import Mapping
from functools import partial

from graph.core.clock import Clock
from graph.core.days import DAY_MS
from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.domains.earthquakes.ingest.attempts import Attempts, Between, warn
from graph.domains.earthquakes.ingest.ingest import Ingest
from graph.domains.earthquakes.model import MILLIS
from graph.domains.earthquakes.usgs.answers import NO_VALIDATORS, Validators
from graph.domains.earthquakes.usgs.requests import UsgsFeed
from graph.observability.logs import get_logger
from graph.runtime.lease import JobResult, Lease, LeaseItem, LeaseState
from graph.store.attributes import JsonDocument, Text, Whole
from graph.store.contract import Database
from graph.store.entity import Entity
from graph.store.records import Stored, optional
from graph.work.tasks import Sleep

LEASE_MS = 120_000  # at least; a month's feed takes less. After a process dies, the next poll is as late


class PollState(Attempts):
    """The state of polling by all processes."""

    next_attempt = optional("nextAttempt", MILLIS)  # not before this
    last_wide_success = optional("lastWideSuccess", MILLIS)  # the last of a feed wider than the day's
    unended_leases = optional("unended", Whole())  # since one was properly ended
    # Name of a feed → validators.
    versions: Stored[Mapping[str, Mapping[str, str]] | None] = optional("versions", JsonDocument())

    @property
    def failures(self) -> int:
        """Failures in a row, up to the latest attempt. A process that died during its lease counts as one."""
        return super().failures + max((self.unended_leases or 0) - 1, 0)

    def validators(self, feed: UsgsFeed) -> Validators:
        """The validators of a feed's last stored version."""
        version = (self.versions or {}).get(feed.value)
        return Validators(**version) if version else NO_VALIDATORS

    def succeeded(self, feed: UsgsFeed, stored: Validators, *, began: int, next_attempt: int) -> JobResult:
        """The result of a successful poll: a version of the feed was stored, or is still the latest."""
        version = {"etag": stored.etag, "last_modified": stored.last_modified}
        versions = {**(self.versions or {}), feed.value: {name: value for name, value in version.items() if value}}
        wide = {} if feed is UsgsFeed.ALL_DAY else {"lastWideSuccess": began}
        return JobResult(next_attempt, {"lastSuccess": began, "failures": 0, "versions": versions, **wide})


POLL = Entity(
    "POLL", EARTHQUAKE_EVENTS, PollState, key=("POLL#USGS", "STATE"), attributes=(Text("turn", optional=True),)
)
POLL_LEASE = LeaseItem(POLL.key_for(), holder="turn", due="nextAttempt", unended="unended")


def poll_lease(database: Database, clock: Clock, lease_ms: int = LEASE_MS) -> Lease:
    """The lease of the process that polls."""
    return Lease(database, POLL_LEASE, clock, lasts_ms=lease_ms)


# A network publishes automatic events within minutes, and events of analysts within hours. The event
# then stands in a feed by its origin time. So the feed of the hour would miss many, and a feed must
# reach back this much further than to the last success.
LATE_MS = DAY_MS // 2
REACH_MS = {UsgsFeed.ALL_DAY: DAY_MS, UsgsFeed.ALL_WEEK: 7 * DAY_MS}

logger = get_logger(__name__)


def feed_after(outage_ms: int | None) -> UsgsFeed:
    """The narrowest feed with all events since the last success, or the widest feed.

    Args:
        outage_ms: the time since the last success; None before the first poll, which fetches a month.
    """
    for feed, reach_ms in REACH_MS.items():
        if outage_ms is not None and 0 <= outage_ms <= reach_ms - LATE_MS:
            return feed
    return UsgsFeed.ALL_MONTH


async def poll_forever(
    ingest: Ingest,
    database: Database,
    every_s: float,
    clock: Clock,
    sleep: Sleep = asyncio.sleep,
    between: Between = random.uniform,  # picks a pause within two bounds
    *,
    lease_ms: int = LEASE_MS,
) -> None:
    """Poll again and again, under one lease with the other processes on the table.

    Args:
        lease_ms: the longest time of a poll, from the first fetched byte to the last stored event.
    """
    poll = partial(_poll, ingest, every_s, clock, between)
    await poll_lease(database, clock, lease_ms).run_forever(poll, failed=_warn, sleep=sleep)


async def _poll(
    ingest: Ingest, every_s: float, clock: Clock, between: Between, lease: LeaseState, started: int
) -> JobResult:
    """Poll once, from the epoch millisecond `started` on."""
    state = PollState.of(lease)
    feed = feed_after(None if state.last_success is None else started - state.last_success)
    if feed is UsgsFeed.ALL_DAY and started - (state.last_wide_success or 0) >= DAY_MS:
        feed = UsgsFeed.ALL_WEEK  # for what was published more than a day after its origin time
    try:
        report, stored = await ingest.feed(feed, state.validators(feed))
    except Exception as error:  # also a defect, which should be met less often too
        if not state.failures:
            _warn(error)
        return state.failed(error, now=clock(), every_s=every_s, between=between)
    logger.info("Polled USGS", **report.log_facts, feed=feed.value)
    if state.failures:
        logger.info("Polling USGS works again", failures=state.failures)
    due = max(started + round(1000 * every_s), clock())
    return state.succeeded(feed, stored, began=started, next_attempt=due)


def _warn(error: Exception) -> None:
    """Log the first failure in a row. The metrics show for how long polls fail."""
    warn(logger.warning, "A poll failed, and will be tried again", error)
