"""A subscriber: its filter, its bounded backlog, and its state."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from graph.feed.states import State, Transition, after

BACKLOG = 2000  # records that wait for one subscriber at most; a change finds room where no more than half are left

R = TypeVar("R")


class Subscriber(Generic[R]):
    """One subscriber of a broadcast.

    The broadcast hands it records, and its own iteration takes them. Once a record is dropped, so are all
    others, until the subscriber was told how many: what it gets never has a gap that it does not know of.
    """

    def __init__(self, wants: Callable[[R], bool], number: int, capacity: int = BACKLOG) -> None:
        self.state = State.REPLAYING
        self.number = number  # of the last change that was seen
        self.backlog: deque[R] = deque()
        self.dropped = 0  # since the backlog was full
        self.woken = asyncio.Event()
        self.roomy = asyncio.Event()  # whether no more than half of the backlog is in use
        self.roomy.set()
        self.failure: Exception | None = None  # of its filter
        self.slow = False  # not worth waiting for, until it has taken everything
        self._wants = wants
        self._capacity = capacity

    def wanted(self, records: Iterable[R]) -> list[R]:
        """Those of the records that pass the filter."""
        return [record for record in records if self._wants(record)]

    def join(self) -> None:
        """Take part in the broadcast from now on."""
        self._move(Transition.JOIN)

    def hand(self, records: Sequence[R]) -> int:
        """Put records that pass the filter into the backlog; how many were dropped."""
        room = self._capacity - len(self.backlog) if self.state is State.JOINED else 0
        self.backlog.extend(records[:room])
        dropped = max(len(records) - room, 0)
        if dropped and self.state is not State.OVERFLOWING:
            self._move(Transition.OVERFLOW)
        self.dropped += dropped
        self.woken.set()
        if len(self.backlog) > self._capacity // 2:
            self.roomy.clear()
        return dropped

    def fail(self, defect: Exception) -> None:
        """End with an error of the filter, behind what the backlog holds."""
        self._move(Transition.FAIL)
        self.failure = defect
        self.woken.set()

    def take(self) -> R:
        """The next record of the backlog."""
        record = self.backlog.popleft()
        if len(self.backlog) <= self._capacity // 2:
            self.roomy.set()
        if not self.backlog:
            self.slow = False
        return record

    def notify(self) -> int:
        """How many records were dropped, of which the subscriber is told now."""
        self._move(Transition.NOTIFY)
        dropped, self.dropped = self.dropped, 0
        return dropped

    def end(self) -> None:
        """Take part no longer. Nobody waits for it any more."""
        self._move(Transition.END)
        self.roomy.set()

    def _move(self, transition: Transition) -> None:
        self.state = after(self.state, transition)
