"""Steps that return what they give at once, or what to wait for: `await done(rates.spend("ada", 1))`."""

from collections.abc import Awaitable
from inspect import isawaitable
from typing import TypeVar

T = TypeVar("T")


async def done(step: T | Awaitable[T]) -> T:
    """What the step gives, once it is done."""
    if isawaitable(step):
        result: T = await step
        return result
    return step
