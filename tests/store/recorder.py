"""A meter that keeps what it is told."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

from graph.store.meter import PoolUse


class Recorder:
    """What a store reported."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []  # operation, outcome
        self.consumed: list[tuple[str, float]] = []
        self.pools: dict[str, tuple[int, Callable[[], PoolUse]]] = {}

    @contextmanager
    def call(self, operation: str, tables: Iterable[str] = ()) -> Iterator[None]:
        """Keep the outcome of a call."""
        try:
            yield
        except BaseException as error:
            self.calls.append((operation, type(error).__name__))
            raise
        self.calls.append((operation, "OK"))

    def units(self, kind: Literal["read", "write"], count: float) -> None:
        """Keep consumed units."""
        self.consumed.append((kind, count))

    def pool(self, name: str, size: int, use: Callable[[], PoolUse]) -> None:
        """Keep a pool."""
        self.pools[name] = size, use
