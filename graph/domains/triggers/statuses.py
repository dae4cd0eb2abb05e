"""The statuses of an event, and all transitions between them, as one table.

    received ──DELIVER──▶ delivered ◀──DELIVER── retrying
        │                                        ▲     │
        └──FAIL──▶ failed ──────────RETRY────────┘     │
                     ▲                                 │
                     └──────────────FAIL───────────────┘

An event without deliveries is received until its user acknowledges it. An event with deliveries is delivered once all
of them are, and failed once one of them is given up. Between a failed attempt and the next one it is retrying.
"""

from collections.abc import Mapping
from enum import Enum, auto
from typing import NamedTuple

from graph.domains.triggers.errors import Conflict


class TriggerEventStatus(Enum):
    """How far an event has come."""

    RECEIVED = "received"
    DELIVERED = "delivered"
    FAILED = "failed"
    RETRYING = "retrying"


class EventTransition(Enum):
    """What happens to an event."""

    DELIVER = auto()
    FAIL = auto()
    RETRY = auto()


TRANSITIONS: Mapping[TriggerEventStatus, Mapping[EventTransition, TriggerEventStatus]] = {
    TriggerEventStatus.RECEIVED: {
        EventTransition.DELIVER: TriggerEventStatus.DELIVERED,
        EventTransition.FAIL: TriggerEventStatus.FAILED,
    },
    TriggerEventStatus.FAILED: {EventTransition.RETRY: TriggerEventStatus.RETRYING},
    TriggerEventStatus.RETRYING: {
        EventTransition.DELIVER: TriggerEventStatus.DELIVERED,
        EventTransition.FAIL: TriggerEventStatus.FAILED,
    },
    TriggerEventStatus.DELIVERED: {},
}


def after(status: TriggerEventStatus, *transitions: EventTransition) -> TriggerEventStatus:
    """The status that transitions lead to, one after the other.

    Raises:
        Conflict: The table has no such transition.
    """
    for transition in transitions:
        try:
            status = TRANSITIONS[status][transition]
        except KeyError:
            raise Conflict(f"An event that is {status.value} cannot {transition.name.lower()}.") from None
    return status


class EventProgress(NamedTuple):
    """The status of an event, with what it follows from."""

    status: TriggerEventStatus
    open: int  # deliveries that are neither delivered nor given up
    failed: int  # deliveries that were given up
    retries: int  # attempts after the first of each delivery

    def acknowledged(self) -> "EventProgress":
        """After its user has taken it from the inbox. A failed event takes the same way as after a successful retry."""
        if self.status is TriggerEventStatus.DELIVERED:
            return self
        first = (EventTransition.RETRY,) if self.status is TriggerEventStatus.FAILED else ()
        return self._replace(status=after(self.status, *first, EventTransition.DELIVER))

    def retried(self) -> "EventProgress":
        """After another attempt than the first of a delivery."""
        return self._replace(retries=self.retries + 1)

    def delivered(self) -> "EventProgress":
        """After a delivery has succeeded."""
        left = self._replace(open=_fewer(self.open))
        if left.open or left.failed or self.status is TriggerEventStatus.DELIVERED:
            return left
        return left._replace(status=after(self.status, EventTransition.DELIVER))

    def postponed(self) -> "EventProgress":
        """After an attempt has failed, which will be repeated."""
        if self.status is not TriggerEventStatus.RECEIVED:
            return self
        return self._replace(status=after(self.status, EventTransition.FAIL, EventTransition.RETRY))

    def given_up(self) -> "EventProgress":
        """After a delivery has failed for good."""
        left = self._replace(open=_fewer(self.open), failed=self.failed + 1)
        if self.status in (TriggerEventStatus.FAILED, TriggerEventStatus.DELIVERED):
            return left
        return left._replace(status=after(self.status, EventTransition.FAIL))

    def replayed(self, *, was_given_up: bool) -> "EventProgress":
        """After a delivery that had ended begins again."""
        failed = _fewer(self.failed) if was_given_up else self.failed
        again = self._replace(open=self.open + 1, failed=failed)
        if again.failed or self.status is not TriggerEventStatus.FAILED:
            return again
        return again._replace(status=after(self.status, EventTransition.RETRY))


def _fewer(number: int) -> int:
    """One less. At zero, the delivery has changed since it was read, so that its own condition refuses the change."""
    return max(number - 1, 0)
