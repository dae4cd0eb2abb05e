"""Answers of a function that depends on its argument alone, kept for what was asked lately."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The answers for at least so many keys that were asked for last, and at most twice as many.

    They stand in two generations: when the younger one is full, it becomes the older one, whose
    answers are gone. To find an answer costs a look into a dictionary, and no order is kept. From
    several threads it may forget more than it should, and is never wrong.
    """

    def __init__(self, least: int) -> None:
        self._least = least
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """The answer, if it is still there."""
        value = self._young.get(key)
        if value is None and (value := self._old.get(key)) is not None:
            self.keep(key, value)
        return value

    def keep(self, key: K, value: V) -> None:
        """Keep an answer."""
        if len(self._young) >= self._least:
            self._old, self._young = self._young, {}
        self._young[key] = value

    def all(self, keys: Sequence[K], compute: Callable[[Sequence[K]], Sequence[V]]) -> list[V]:
        """The answers for keys, of which those that are missing are computed together."""
        found: list[V | None] = list(map(self._young.get, keys))
        if None in found:
            found = [self.get(key) for key in keys]
            missing = [key for key, value in zip(keys, found, strict=True) if value is None]
            computed = iter(compute(missing) if missing else ())
            for at, (key, value) in enumerate(zip(keys, found, strict=True)):
                if value is None:
                    found[at] = answer = next(computed)
                    self.keep(key, answer)
        return found  # type: ignore[return-value]  # nothing is missing any more
