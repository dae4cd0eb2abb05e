"""Repeats a write that depends on what was read, until no other writer comes in between."""

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from graph.core.errors import DatabaseUnavailable

MOST_ROUNDS = 50

P = ParamSpec("P")
T = TypeVar("T")
Repeated = Callable[P, Coroutine[Any, Any, T]]


def rounds(others: str, most: int = MOST_ROUNDS) -> Iterator[int]:
    """Numbers the rounds of a loop, from 1. Then it raises DatabaseUnavailable, with what the other writers did."""
    yield from range(1, most + 1)
    raise DatabaseUnavailable(others)


def until_applied(others: str, most: int = MOST_ROUNDS) -> Callable[[Callable[P, Awaitable[T | None]]], Repeated[P, T]]:
    """Repeat the decorated function as long as it returns None: then what it has read was changed before it wrote."""

    def decorated(attempt: Callable[P, Awaitable[T | None]]) -> Repeated[P, T]:
        @wraps(attempt)
        async def repeated(*args: P.args, **kwargs: P.kwargs) -> T:
            further = rounds(others, most - 1)
            while (result := await attempt(*args, **kwargs)) is None:
                next(further)
            return result

        return repeated

    return decorated
