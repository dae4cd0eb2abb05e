"""Limits how many subscriptions or connections a client may have open in this process."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from graph.core.errors import TooManySubscriptions


class Streams:
    """The number of open subscriptions or connections of each client."""

    def __init__(self, most: int, what: str) -> None:
        self._most = most  # of one client
        self._what = what
        self._open: Counter[str] = Counter()

    @contextmanager
    def counted(self, client: str) -> Iterator[None]:
        """Count one of a client's while it is open.

        Args:
            client: the name that its points are charged to.

        Raises:
            TooManySubscriptions: The client has reached the limit.
        """
        if self._open[client] >= self._most:
            raise TooManySubscriptions(self._most, self._what)
        self._open[client] += 1
        try:
            yield
        finally:
            self._open[client] -= 1
            if not self._open[client]:
                del self._open[client]
