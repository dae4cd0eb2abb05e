"""A value that several fields need: it is computed when the first asks for it, and kept."""

from asyncio import Lock
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """Keeps a value that is computed at most once. A failure is not kept.

    The function is given with each call: an owner that kept a value made by its own method here would be a
    cycle, which only the garbage collector frees.
    """

    def __init__(self) -> None:
        self._lock = Lock()  # fields of one selection are resolved concurrently
        self._values: list[T] = []

    async def __call__(self, compute: Callable[[], Awaitable[T]]) -> T:
        """The value."""
        async with self._lock:
            if not self._values:
                self._values.append(await compute())
            return self._values[0]
