"""How many subscriptions each caller has open in this process, which may not be more than so many."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from graph.errors import TooManySubscriptions


class Streams:
    """The open subscriptions, by caller."""

    def __init__(self, most: int) -> None:
        self._most = most  # of one caller
        self._open: Counter[str] = Counter()

    @contextmanager
    def one_of(self, who: str) -> Iterator[None]:
        """Around a subscription of a caller.

        Raises:
            TooManySubscriptions: The caller has as many as one may have.
        """
        if self._open[who] >= self._most:
            raise TooManySubscriptions(self._most, "subscriptions")
        self._open[who] += 1
        try:
            yield
        finally:
            self._open[who] -= 1
            if not self._open[who]:
                del self._open[who]
