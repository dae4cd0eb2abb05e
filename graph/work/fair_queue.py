"""A queue that serves callers in rotation: each caller's entries in their order, one at a time."""

from collections import OrderedDict, deque
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Entries that wait. A caller with a thousand of them delays another caller's first entry by one."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()  # the caller whose turn is next stands first
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def put(self, caller: str, entry: T) -> None:
        """Add an entry behind the caller's others."""
        self._waiting.setdefault(caller, deque()).append(entry)
        self._length += 1

    def take(self) -> T:
        """Remove the oldest entry of the caller that has waited longest since its last one.

        Raises:
            IndexError: The queue is empty.
        """
        if not self._waiting:
            raise IndexError("the queue is empty")
        caller, entries = self._waiting.popitem(last=False)
        entry = entries.popleft()
        if entries:
            self._waiting[caller] = entries
        self._length -= 1
        return entry

    def discard(self, caller: str, entry: T) -> None:
        """Remove an entry, if it still waits."""
        entries = self._waiting.get(caller)
        if entries is None or entry not in entries:
            return
        entries.remove(entry)
        self._length -= 1
        if not entries:
            del self._waiting[caller]
