"""Values that several fields need: each is computed when the first asks for it, and kept."""

from asyncio import Lock
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")


def once(compute: Callable[[S], Awaitable[T]]) -> Callable[[S], Awaitable[T]]:
    """A method whose value each object computes at most once. A failure is not kept."""
    name = f"_once_{compute.__name__}"

    @wraps(compute)
    async def kept(owner: S) -> T:
        values: list[T]
        lock, values = vars(owner).setdefault(name, (Lock(), []))
        async with lock:  # fields of one selection are resolved concurrently
            if not values:
                values.append(await compute(owner))
        return values[0]

    return kept
