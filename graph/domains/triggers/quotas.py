"""How many events the watches of a user make within an hour.

One change of a feed may be wanted by a thousand watches of one user, so the number of events does not follow from what
the user does. A process counts by itself what it makes: the next process that follows the feeds begins anew.
"""

from collections import Counter
from dataclasses import dataclass, field

from graph.core.clock import Clock

HOUR_MS = 3_600_000
MOST = 10_000


@dataclass(eq=False)
class WatchQuota:
    """Counts the events of watches."""

    clock: Clock
    most: int = MOST  # events of a user within an hour of the clock
    _hour: int = 0
    _made: Counter[str] = field(default_factory=Counter)  # by user, and one more for the notice of what is left out

    @property
    def ends(self) -> int:
        """When the hour ends, epoch milliseconds."""
        return (self.clock() // HOUR_MS + 1) * HOUR_MS

    def is_spent(self, user_id: str) -> bool:
        """Whether a user gets nothing more within this hour."""
        if (hour := self.clock() // HOUR_MS) != self._hour:
            self._hour = hour
            self._made.clear()
        return self._made[user_id] > self.most

    def take(self, user_id: str) -> bool:
        """Take one of a user who gets something more. False if it is the notice that further events are left out."""
        self._made[user_id] += 1
        return self._made[user_id] <= self.most
