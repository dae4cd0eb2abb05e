"""Answers of a function that depends on its argument alone, kept for what was asked lately."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The answers for at least so many keys that were asked for last, and at most twice as many.

    They stand in two generations: when the younger one is full, it becomes the older one, whose
    answers are gone; what is asked again returns to the younger one. To find an answer costs a look
    into a dictionary, and no order is kept. From several threads it may forget more than it should,
    and is never wrong.
    """

    def __init__(self, least: int) -> None:
        self._least = least
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def all(self, keys: Sequence[K], compute: Callable[[Sequence[K]], Sequence[V]]) -> list[V]:
        """The answers for keys, of which those that are missing are computed together."""
        found = list(map(self._young.get, keys))
        if None not in found:
            return found  # type: ignore[return-value]  # nothing is missing
        missing = [key for key, value in zip(keys, found, strict=True) if value is None]
        old = self._old  # which another thread may change meanwhile
        known = {key: old[key] for key in missing if key in old}
        if unknown := [key for key in missing if key not in known]:
            known.update(zip(unknown, compute(unknown), strict=True))
        self._keep_all(known)
        return [known[key] if value is None else value for key, value in zip(keys, found, strict=True)]

    def _keep_all(self, answers: dict[K, V]) -> None:
        if len(self._young) + len(answers) > self._least:
            self._old, self._young = self._young, {}
        too_many = max(len(answers) - self._least, 0)
        self._young.update(islice(answers.items(), too_many, None))
