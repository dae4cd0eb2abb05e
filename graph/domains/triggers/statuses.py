"""The statuses of an event, and all transitions between them.

    received ──DELIVER──▶ delivered ◀──DELIVER── retrying
        │                                        ▲     │
        └──FAIL──▶ failed ──────────RETRY────────┘     │
                     ▲                                 │
                     └──────────────FAIL───────────────┘

An event without deliveries is received until its user acknowledges it. An event with deliveries is delivered once all
of them are. An attempt that fails makes it failed, whether it is repeated or not. When it is repeated, the event is
retrying until that attempt ends. If the process ends before, it is retrying until the next attempt does. Of an event
with several deliveries, the status is that of the attempt that began or ended last. A failed event that its user
acknowledges goes the same way as after a successful retry.
"""

from typing import NamedTuple

from graph.core.described import DescribedText


class TriggerEventStatus(DescribedText):
    """How far a trigger event has come."""

    RECEIVED = "received", "It is stored, and was neither acknowledged nor attempted to deliver."
    DELIVERED = "delivered", "It was acknowledged, or all its deliveries have succeeded."
    FAILED = "failed", "An attempt has failed. Its delivery waits for the next attempt, or was given up."
    RETRYING = "retrying", "A delivery that failed is attempted again just now."


class EventProgress(NamedTuple):
    """The status of an event, with what it follows from."""

    status: TriggerEventStatus
    open: int  # deliveries that are neither delivered nor given up
    failed: int  # deliveries that were given up
    retries: int  # attempts after the first of each delivery

    def acknowledged(self) -> "EventProgress":
        """After its user has taken it from the inbox."""
        return self._replace(status=TriggerEventStatus.DELIVERED)

    def retrying(self) -> "EventProgress":
        """When another attempt than the first of a delivery begins."""
        return self._replace(status=TriggerEventStatus.RETRYING) if self.status is TriggerEventStatus.FAILED else self

    def retried(self) -> "EventProgress":
        """After another attempt than the first of a delivery."""
        return self._replace(retries=self.retries + 1)

    def delivered(self) -> "EventProgress":
        """After a delivery has succeeded."""
        left = self._replace(open=_fewer(self.open))
        if not left.open and not left.failed:
            return left.acknowledged()
        return left.postponed() if self.status is TriggerEventStatus.RETRYING else left

    def postponed(self) -> "EventProgress":
        """After an attempt has failed, which will be repeated."""
        is_done = self.status is TriggerEventStatus.DELIVERED
        return self if is_done else self._replace(status=TriggerEventStatus.FAILED)

    def given_up(self) -> "EventProgress":
        """After a delivery has failed for good."""
        return self.postponed()._replace(open=_fewer(self.open), failed=self.failed + 1)

    def replayed(self, *, was_given_up: bool) -> "EventProgress":
        """After a delivery that had ended waits again."""
        return self._replace(open=self.open + 1, failed=_fewer(self.failed) if was_given_up else self.failed)


def _fewer(number: int) -> int:
    """One less. At zero, the delivery has changed since it was read, so that its own condition refuses the change."""
    return max(number - 1, 0)
