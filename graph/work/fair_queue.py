"""A queue that serves callers in rotation, one entry at a time. Each caller's entries keep their order."""

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Waiting entries. A caller with a thousand of them delays another caller's first entry by only one."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()  # the caller that is served next comes first
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def waiting_of(self, caller: str) -> int:
        """How many entries of a caller wait."""
        return len(self._waiting.get(caller, ()))

    def put(self, caller: str, entry: T) -> None:
        """Add an entry behind the caller's others."""
        self._waiting.setdefault(caller, deque()).append(entry)
        self._length += 1

    def take(self, may_go_on: Callable[[str], bool] = lambda _: True) -> tuple[str, T] | None:
        """Remove the oldest entry of the caller that has waited longest since its last one.

        Args:
            may_go_on: whether a caller may be served. The others keep their place.

        Returns:
            The caller and the entry; None if no caller is served.
        """
        caller = next(filter(may_go_on, self._waiting), None)
        if caller is None:
            return None
        entries = self._waiting[caller]
        entry = entries.popleft()
        self._waiting.move_to_end(caller)
        self._length -= 1
        if not entries:
            del self._waiting[caller]
        return caller, entry

    def discard(self, caller: str, entry: T) -> None:
        """Remove an entry, if it still waits."""
        entries = self._waiting.get(caller)
        if entries is None or entry not in entries:
            return
        entries.remove(entry)
        self._length -= 1
        if not entries:
            del self._waiting[caller]
