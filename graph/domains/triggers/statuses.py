"""The statuses of an event, and all transitions between them.

    received ──DELIVER──▶ delivered ◀──DELIVER── retrying
        │                                        ▲     │
        └──FAIL──▶ failed ──────────RETRY────────┘     │
                     ▲                                 │
                     └──────────────FAIL───────────────┘

An event without deliveries is received until its user acknowledges it. An event with deliveries is delivered once all
of them are, and failed once one of them is given up. Between a failed attempt and the next one it is retrying. A failed
event that its user acknowledges goes the same way as after a successful retry.
"""

from typing import NamedTuple

from graph.core.described import DescribedText


class TriggerEventStatus(DescribedText):
    """How far a trigger event has come."""

    RECEIVED = "received", "It is stored, and was neither acknowledged nor attempted to deliver."
    DELIVERED = "delivered", "It was acknowledged, or all its deliveries have succeeded."
    FAILED = "failed", "One of its deliveries was given up."
    RETRYING = "retrying", "An attempt has failed, and will be repeated."


class EventProgress(NamedTuple):
    """The status of an event, with what it follows from."""

    status: TriggerEventStatus
    open: int  # deliveries that are neither delivered nor given up
    failed: int  # deliveries that were given up
    retries: int  # attempts after the first of each delivery

    def acknowledged(self) -> "EventProgress":
        """After its user has taken it from the inbox."""
        return self._replace(status=TriggerEventStatus.DELIVERED)

    def retried(self) -> "EventProgress":
        """After another attempt than the first of a delivery."""
        return self._replace(retries=self.retries + 1)

    def delivered(self) -> "EventProgress":
        """After a delivery has succeeded."""
        left = self._replace(open=_fewer(self.open))
        return left if left.open or left.failed else left.acknowledged()

    def postponed(self) -> "EventProgress":
        """After an attempt has failed, which will be repeated."""
        return self._retrying() if self.status is TriggerEventStatus.RECEIVED else self

    def given_up(self) -> "EventProgress":
        """After a delivery has failed for good."""
        is_done = self.status is TriggerEventStatus.DELIVERED
        status = self.status if is_done else TriggerEventStatus.FAILED
        return self._replace(status=status, open=_fewer(self.open), failed=self.failed + 1)

    def replayed(self, *, was_given_up: bool) -> "EventProgress":
        """After a delivery that had ended begins again."""
        failed = _fewer(self.failed) if was_given_up else self.failed
        again = self._replace(open=self.open + 1, failed=failed)
        return again._retrying() if self.status is TriggerEventStatus.FAILED and not failed else again

    def _retrying(self) -> "EventProgress":
        return self._replace(status=TriggerEventStatus.RETRYING)


def _fewer(number: int) -> int:
    """One less. At zero, the delivery has changed since it was read, so that its own condition refuses the change."""
    return max(number - 1, 0)
