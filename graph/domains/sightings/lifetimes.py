"""When sightings expire, and how that ranks them. No I/O.

They expire on whole minutes, so that the sightings of a minute can be counted together.
"""

from dataclasses import dataclass

from graph.domains.sightings.confidence import rank
from graph.domains.sightings.tiers import tier_named
from graph.store.entity import Item

MINUTE_S = 60


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long sightings are active, in seconds."""

    new: int  # after the report
    refreshed: int  # at least so long after a confirmation
    longest: int  # after the report, whatever is confirmed

    @property
    def longest_kept(self) -> int:
        """The longest time from a report to its sighting's expiry."""
        return self.longest + MINUTE_S

    def ranked(self, item: Item) -> Item:
        """A sighting with the rank that follows from its other attributes."""
        confirmations, tier = item["confirmationCount"], tier_named(item["reporterTier"])
        of = rank(expires_at=item["expiresAt"], confirmations=confirmations, tier=tier, lifetime=self.new)
        return {**item, "rank": of}

    def first_expiry(self, reported_at: int) -> int:
        """When a new sighting expires; all times in epoch seconds."""
        return _minute(reported_at + self.new)

    def next_expiry(self, expires_at: int, *, reported_at: int, now: int) -> int:
        """When a sighting expires that is confirmed now."""
        return max(expires_at, min(_minute(now + self.refreshed), self.last_expiry(reported_at)))

    def last_expiry(self, reported_at: int) -> int:
        """When a sighting expires at the latest."""
        return _minute(reported_at + self.longest)


def _minute(seconds: int) -> int:
    return -(-seconds // MINUTE_S) * MINUTE_S
