"""A subscriber: its filter, and its bounded backlog."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

BACKLOG = 2000  # the most records that wait for one subscriber; a whole change fits if at most half is in use

R = TypeVar("R")

Test = Callable[[R], bool]

Sent = tuple[R, bool]
"""A record, and whether what it is about passes the filter now."""


def always(record: object) -> bool:
    """What a record is about passes the filter, since it never changes."""
    return True


class Subscriber(Generic[R]):
    """One subscriber of a broadcast.

    The broadcast hands it records, and its own iteration takes them. Once a record is dropped, all further
    ones are too, until the subscriber receives their number. So it knows of every gap.
    """

    def __init__(self, wants: Test[R], number: int, capacity: int = BACKLOG, matches: Test[R] = always) -> None:
        self.number = number  # of the last change that was seen
        self.backlog: deque[Sent[R]] = deque()
        self.dropped = 0  # since the backlog was full; all further records are dropped until it receives their number
        self.woken = asyncio.Event()
        self.roomy = asyncio.Event()  # whether no more than half of the backlog is in use
        self.roomy.set()
        self.failure: Exception | None = None  # of its filter
        self.slow = False  # the broadcast does not wait for it until its backlog is empty
        self._wants = wants
        self._matches = matches
        self._capacity = capacity

    def wanted(self, records: Iterable[R]) -> list[Sent[R]]:
        """The records to send."""
        return [(record, self._matches(record)) for record in records if self._wants(record)]

    def hand(self, records: Sequence[Sent[R]]) -> int:
        """Put records to send into the backlog. Returns the number of dropped ones."""
        room = 0 if self.dropped else self._capacity - len(self.backlog)
        self.backlog.extend(records[:room])
        dropped = max(len(records) - room, 0)
        self.dropped += dropped
        self.woken.set()
        if len(self.backlog) > self._capacity // 2:
            self.roomy.clear()
        return dropped

    def fail(self, defect: Exception) -> None:
        """End with an error of the filter, after the records of the backlog."""
        self.failure = defect
        self.woken.set()

    def take(self) -> Sent[R]:
        """Take the next record of the backlog."""
        sent = self.backlog.popleft()
        if len(self.backlog) <= self._capacity // 2:
            self.roomy.set()
        if not self.backlog:
            self.slow = False
        return sent

    def notify(self) -> int:
        """The number of dropped records. The subscriber receives it now."""
        dropped, self.dropped = self.dropped, 0
        return dropped

    def end(self) -> None:
        """Leave the broadcast, which no longer waits for it."""
        self.roomy.set()
