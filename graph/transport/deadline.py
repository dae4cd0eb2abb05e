"""Work that ends with its time or with its client: what nobody waits for is cancelled, and has ended by then.

Most queries never wait: what they read is there at once. So a callback of the loop sets up the watch over the
work, and it runs when the work waits for the first time, if it ever does. A query that does not wait takes
1 µs more; with `asyncio.timeout` and a task around every query, it took 15 µs more, and a small one takes 90.

    python -m benchmarks.micro
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar, cast

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from graph.core.errors import ExecutionTimeout

T = TypeVar("T")


async def run_with_timeout(seconds: float, work: Coroutine[Any, Any, T], *, unless_gone: Receive | None = None) -> T:
    """The result of the work.

    Args:
        seconds: that it may take.
        unless_gone: the channel of the request, its body read already; the work goes on only
            while the client is there.

    Raises:
        ExecutionTimeout: It took longer.
        ClientDisconnect: The client went away first.
    """
    watch: asyncio.Task[bool] | None = None
    task = cast("asyncio.Task[Any]", asyncio.current_task())

    def begin_watch() -> None:
        nonlocal watch
        watch = asyncio.ensure_future(_cancel_late(task, seconds, unless_gone))

    first_wait = asyncio.get_running_loop().call_soon(begin_watch)
    try:
        return await work
    except BaseException as error:  # whatever the work makes of being cancelled
        if watch and watch.done() and task.cancelling() == 1:
            raise ClientDisconnect if watch.result() else ExecutionTimeout(seconds) from error
        raise
    finally:
        first_wait.cancel()
        if watch:
            if watch.done():
                task.uncancel()
            watch.cancel()
            await asyncio.wait((watch,))


async def _cancel_late(task: asyncio.Task[Any], seconds: float, unless_gone: Receive | None) -> bool:
    """Cancel a task when its client is gone or its time is over. Returns whether the client is gone."""
    is_gone = False
    try:
        async with asyncio.timeout(seconds):
            await (_until_gone(unless_gone) if unless_gone else asyncio.Event().wait())
            is_gone = True
    except TimeoutError:
        pass
    task.cancel()
    return is_gone


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
