"""Cancels work at its timeout, or when its client disconnects, and waits until the work has ended.

Most queries have ended after some milliseconds. So the watch, which is a task, begins only after `UNWATCHED_S`, and
a query that has ended by then takes 2 µs more. A task around every query takes 15 µs; a small query takes 90 µs.

    python -m benchmarks.micro
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar, cast

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from graph.core.errors import ExecutionTimeout

T = TypeVar("T")

UNWATCHED_S = 0.05  # at the beginning


async def run_with_timeout(
    seconds: float | None, work: Coroutine[Any, Any, T], *, while_connected: Receive | None = None
) -> T:
    """Run work, and return its result.

    Args:
        seconds: the longest that the work may take; None for no limit.
        while_connected: the request's channel, after its body was read. The work is cancelled when the
            client disconnects.

    Raises:
        ExecutionTimeout: The work took longer.
        ClientDisconnect: The client disconnected first.
    """
    watch: asyncio.Task[bool] | None = None
    task = cast("asyncio.Task[Any]", asyncio.current_task())

    unwatched = UNWATCHED_S if seconds is None else min(UNWATCHED_S, seconds)

    def begin_watch() -> None:
        nonlocal watch
        left = None if seconds is None else seconds - unwatched
        watch = asyncio.ensure_future(_cancel_late(task, left, while_connected))

    timer = asyncio.get_running_loop().call_later(unwatched, begin_watch)
    try:
        return await work
    except BaseException as error:  # cancelled work may raise anything
        if watch and watch.done() and task.cancelling() == 1:
            raise ClientDisconnect if watch.result() else ExecutionTimeout(seconds or 0) from error
        raise
    finally:
        timer.cancel()
        if watch:
            if watch.done():
                task.uncancel()
            watch.cancel()
            await asyncio.wait((watch,))


async def _cancel_late(task: asyncio.Task[Any], seconds: float | None, while_connected: Receive | None) -> bool:
    """Cancel a task when its client disconnects or its time is over. Returns whether the client disconnected."""
    is_disconnected = False
    try:
        async with asyncio.timeout(seconds):
            await (_wait_for_disconnect(while_connected) if while_connected else asyncio.Event().wait())
            is_disconnected = True
    except TimeoutError:
        pass
    task.cancel()
    return is_disconnected


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
