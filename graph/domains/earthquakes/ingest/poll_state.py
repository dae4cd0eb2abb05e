"""How polling goes: what the process that polls leaves for the next one, beside its lease in one item."""

from collections.abc import Mapping

from graph.core.clock import Clock
from graph.domains.earthquakes.entities import POLL
from graph.domains.earthquakes.usgs.client import NO_VALIDATORS, Validators
from graph.domains.earthquakes.usgs.requests import UsgsFeed
from graph.runtime.lease import Done, Lease, LeaseItem, LeaseState
from graph.store.contract import Database
from graph.store.records import Record, Stored

POLL_LEASE = LeaseItem(POLL.key_for(), holder="turn", due="nextAttempt", unended="unended")
LEASE_MS = 120_000  # at least: a month's feed takes less, and as late is the poll after a process that died


def poll_lease(database: Database, clock: Clock, lease_ms: int = LEASE_MS) -> Lease:
    """The lease of the process that polls."""
    return Lease(database, POLL_LEASE, clock, lasts_ms=lease_ms)


class PollState(Record):
    """How polling goes, whichever process did it."""

    __slots__ = ()

    next_attempt = Stored[int | None]("nextAttempt", optional=True)  # epoch milliseconds; not before this
    last_success = Stored[int | None]("lastSuccess", optional=True)  # when it began, epoch milliseconds
    last_wide_success = Stored[int | None]("lastWideSuccess", optional=True)  # the same, of a feed wider than the day's
    last_error = Stored[str | None]("lastError", optional=True)  # a stable code, which stays when polls succeed again
    last_error_at = Stored[int | None]("lastErrorAt", optional=True)  # epoch milliseconds
    failures_in_a_row = Stored[int | None]("failures", optional=True)  # since the last success
    unended_leases = Stored[int | None]("unended", optional=True)  # since one was ended
    versions = Stored[Mapping[str, Mapping[str, str]] | None]("versions", optional=True)  # name of a feed → validators

    @classmethod
    def of(cls, lease: LeaseState) -> "PollState":
        """The state that stands beside a lease; with nothing in it before the first poll."""
        return cls(lease.attributes)

    @property
    def failures(self) -> int:
        """Failures in a row, up to the latest attempt; to die during a lease is one."""
        return (self.failures_in_a_row or 0) + max((self.unended_leases or 0) - 1, 0)

    def validators(self, feed: UsgsFeed) -> Validators:
        """Of the version of a feed that was stored last."""
        version = (self.versions or {}).get(feed.value)
        return Validators(**version) if version else NO_VALIDATORS

    def succeeded(self, feed: UsgsFeed, stored: Validators, *, began: int, next_attempt: int) -> Done:
        """The end of a poll by which a version of a feed is stored: now, or since it is the latest still."""
        version = {"etag": stored.etag, "last_modified": stored.last_modified}
        versions = {**(self.versions or {}), feed.value: {name: value for name, value in version.items() if value}}
        wide = {} if feed is UsgsFeed.ALL_DAY else {"lastWideSuccess": began}
        return Done(next_attempt, {"lastSuccess": began, "failures": 0, "versions": versions, **wide})

    def failed(self, code: str, *, now: int, next_attempt: int) -> Done:
        """The end of a poll by which nothing was stored, or not all."""
        return Done(next_attempt, {"lastError": code, "lastErrorAt": now, "failures": self.failures + 1})
