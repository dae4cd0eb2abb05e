"""Work that ends with its time or with its client: what nobody waits for is cancelled, and has ended by then."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from graph.errors import ExecutionTimeout

T = TypeVar("T")


async def within(seconds: float, work: Awaitable[T], *, unless_gone: Receive | None = None) -> T:
    """What the work comes to.

    Args:
        seconds: that it may take.
        unless_gone: the channel of the request, its body read already; the work goes on only
            while the client is there.

    Raises:
        ExecutionTimeout: It took longer.
        ClientDisconnect: The client went away first.
    """
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(unless_gone)) if unless_gone else None
    try:
        await asyncio.wait({task, gone} if gone else {task}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if gone and gone.done():
            raise ClientDisconnect
        raise ExecutionTimeout(seconds)
    finally:
        await _ended(task, gone)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _ended(*tasks: "asyncio.Future[Any] | None") -> None:
    """Cancel what still runs, and wait until it has let go of what it held."""
    running = [task for task in tasks if task and not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running)
    for task in running:
        if not task.cancelled():
            task.exception()  # looked at, else asyncio would report that nobody did
