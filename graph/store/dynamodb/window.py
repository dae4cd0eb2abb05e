"""Runs a bounded number of coroutines at the same time, and returns their results in order."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from itertools import chain, islice
from typing import Any, TypeVar

T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, T]]


async def in_order(work: Iterable[Work[T]], at_once: int) -> AsyncGenerator[T, None]:
    """The results of `work` in order. At most `at_once` pieces run at the same time.

    A piece begins once the result `at_once` places before it has been taken. Closing the generator
    early (`contextlib.aclosing`) begins no further piece, cancels the running ones and waits for
    their end.
    """
    waiting = iter(work)
    first = list(islice(waiting, 2))
    if len(first) == 1:  # which needs no task
        yield await first[0]()
        return
    waiting = chain(first, waiting)
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
