"""How much of a kind each caller has open in this process, which may not be more than so many."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from graph.core.errors import TooManySubscriptions


class Streams:
    """The open subscriptions or connections, by caller."""

    def __init__(self, most: int, what: str) -> None:
        self._most = most  # of one caller
        self._what = what
        self._open: Counter[str] = Counter()

    @contextmanager
    def one_of(self, who: str) -> Iterator[None]:
        """Around one of a caller.

        Raises:
            TooManySubscriptions: The caller has as many as one may have.
        """
        if self._open[who] >= self._most:
            raise TooManySubscriptions(self._most, self._what)
        self._open[who] += 1
        try:
            yield
        finally:
            self._open[who] -= 1
            if not self._open[who]:
                del self._open[who]
