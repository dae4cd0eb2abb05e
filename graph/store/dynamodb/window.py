"""Doing several things at the same time, a bounded number of them, with the results in order."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, T]]


async def in_order(work: Iterable[Work[T]], at_once: int) -> AsyncGenerator[T, None]:
    """The results of `work`, of which at most `at_once` pieces are under way.

    A piece begins only once the one `at_once` places before it has been taken. Closing the
    generator early, for which `contextlib.aclosing` is there, begins no more, cancels what
    is under way and waits for its end.
    """
    waiting = iter(work)
    running: deque[asyncio.Task[T]] = deque()
    try:
        running.extend(asyncio.create_task(piece()) for piece in islice(waiting, at_once))
        while running:
            result = await running[0]
            running.popleft()
            yield result
            running.extend(asyncio.create_task(piece()) for piece in islice(waiting, 1))
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
