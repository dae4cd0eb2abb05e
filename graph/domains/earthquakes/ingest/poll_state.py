"""The state of polling, which a process leaves for the next one, in the item of the lease."""

from collections.abc import Mapping

from graph.core.clock import Clock
from graph.domains.earthquakes.entities import POLL
from graph.domains.earthquakes.ingest.attempts import Attempts
from graph.domains.earthquakes.usgs.answers import NO_VALIDATORS, Validators
from graph.domains.earthquakes.usgs.requests import UsgsFeed
from graph.runtime.lease import JobResult, Lease, LeaseItem
from graph.store.contract import Database
from graph.store.records import Stored

POLL_LEASE = LeaseItem(POLL.key_for(), holder="turn", due="nextAttempt", unended="unended")
LEASE_MS = 120_000  # at least; a month's feed takes less. After a process dies, the next poll is as late


def poll_lease(database: Database, clock: Clock, lease_ms: int = LEASE_MS) -> Lease:
    """The lease of the process that polls."""
    return Lease(database, POLL_LEASE, clock, lasts_ms=lease_ms)


class PollState(Attempts):
    """The state of polling by all processes."""

    __slots__ = ()

    next_attempt = Stored[int | None]("nextAttempt", optional=True)  # epoch milliseconds; not before this
    last_wide_success = Stored[int | None]("lastWideSuccess", optional=True)  # the last of a feed wider than the day's
    unended_leases = Stored[int | None]("unended", optional=True)  # since one was properly ended
    versions = Stored[Mapping[str, Mapping[str, str]] | None]("versions", optional=True)  # name of a feed → validators

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
