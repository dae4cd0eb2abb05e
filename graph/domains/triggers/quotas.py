"""How many events the watches of a user make within an hour.

One change of a feed may be wanted by a thousand watches of one user, so the number of events does not follow from what
the user does. A process counts by itself what it makes: the next process that follows the feeds begins anew.
"""

from collections import Counter

from graph.core.clock import Clock

HOUR_MS = 3_600_000
MOST = 10_000


class WatchQuota:
    """Counts the events of watches."""

    def __init__(self, clock: Clock, *, most: int = MOST) -> None:
        """Prepare to count.

        Args:
            most: events of a user within an hour of the clock.
        """
        self.most = most
        self._clock = clock
        self._hour = 0
        self._made: Counter[str] = Counter()  # by user, and one more for the notice of what is left out

    @property
    def ends(self) -> int:
        """When the hour ends, epoch milliseconds."""
        return (self._clock() // HOUR_MS + 1) * HOUR_MS

    def is_spent(self, user_id: str) -> bool:
        """Whether a user gets nothing more within this hour."""
        if (hour := self._clock() // HOUR_MS) != self._hour:
            self._hour = hour
            self._made.clear()
        return self._made[user_id] > self.most

    def take(self, user_id: str) -> bool:
        """Take one of a user who gets something more. False if it is the notice that further events are left out."""
        self._made[user_id] += 1
        return self._made[user_id] <= self.most
