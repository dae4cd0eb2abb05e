"""A plain model of an event: its status follows from what became of its deliveries, as document 004 says."""

from dataclasses import dataclass, field

from graph.domains.triggers.statuses import EventProgress, TriggerEventStatus

RECEIVED, DELIVERED, FAILED, RETRYING = (
    TriggerEventStatus.RECEIVED,
    TriggerEventStatus.DELIVERED,
    TriggerEventStatus.FAILED,
    TriggerEventStatus.RETRYING,
)

# Document 004, "Status Transitions".
DOCUMENTED = {
    (RECEIVED, DELIVERED),
    (RECEIVED, FAILED),
    (FAILED, RETRYING),
    (RETRYING, DELIVERED),
    (RETRYING, FAILED),
}


def led_to(begin: TriggerEventStatus) -> set[TriggerEventStatus]:
    """The statuses that documented transitions lead to from one, and itself."""
    found = {begin}
    for _ in DOCUMENTED:
        found |= {to for status, to in DOCUMENTED if status in found}
    return found


@dataclass
class ModelEvent:
    """An event and its deliveries, each of which is waiting, delivered or failed."""

    deliveries: list[str]
    ever_failed: bool = False  # whether any attempt did, or any delivery was given up
    is_done: bool = False  # whether it was ever delivered to all, or acknowledged
    retries: int = 0
    attempts: list[int] = field(init=False)  # of each delivery

    def __post_init__(self) -> None:
        self.attempts = [0] * len(self.deliveries)

    @property
    def status(self) -> TriggerEventStatus:
        if self.is_done:
            return DELIVERED
        if "failed" in self.deliveries:
            return FAILED
        return RETRYING if self.ever_failed else RECEIVED

    @property
    def progress(self) -> EventProgress:
        of = self.deliveries.count
        return EventProgress(self.status, of("waiting"), of("failed"), self.retries)

    def at(self, state: str) -> list[int]:
        """The deliveries in a state."""
        return [at for at, each in enumerate(self.deliveries) if each == state]

    def attempt(self, at: int) -> None:
        self.retries += self.attempts[at] > 0
        self.attempts[at] += 1

    def postpone(self) -> None:
        self.ever_failed = True

    def end(self, at: int, state: str) -> None:
        self.deliveries[at] = state
        self.ever_failed |= state == "failed"
        self.is_done |= set(self.deliveries) == {"delivered"}

    def replay(self, at: int) -> None:
        self.deliveries[at] = "waiting"

    def acknowledge(self) -> None:
        self.is_done = True
