"""Cancels work at its timeout, or when its client disconnects, and waits until the work has ended.

Most queries never wait: what they read is there at once. So the timer and the watch for a disconnect start only when
the work waits for the first time. With `asyncio.timeout` and a task around every query, a small query of 90 µs took
15 µs more.

    python -m benchmarks.micro
"""

import asyncio
from collections.abc import Coroutine, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from graph.core.errors import ExecutionTimeout

T = TypeVar("T")


async def run_with_timeout(
    seconds: float, work: Coroutine[Any, Any, T], *, while_connected: Receive | None = None
) -> T:
    """Run work, and return its result.

    Args:
        seconds: the longest that the work may take.
        while_connected: the request's channel, after its body was read. The work is cancelled when the
            client disconnects.

    Raises:
        ExecutionTimeout: The work took longer.
        ClientDisconnect: The client disconnected first.
    """
    try:
        awaited = work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    task = cast("asyncio.Task[Any]", asyncio.current_task())
    watch = asyncio.ensure_future(_cancel_late(task, seconds, while_connected))
    try:
        return await _Waiting(work, awaited)
    except BaseException as error:  # cancelled work may raise anything
        if watch.done() and task.cancelling() == 1:
            raise ClientDisconnect if watch.result() else ExecutionTimeout(seconds) from error
        raise
    finally:
        if watch.done():
            task.uncancel()
        watch.cancel()
        await asyncio.wait((watch,))


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[T]):
    """Work that waits for the first time, as an awaitable."""

    work: Coroutine[Any, Any, T]
    awaited: Any  # what the work waits for, as the event loop takes it

    def __await__(self) -> Generator[Any, Any, T]:
        awaited = self.awaited
        while True:
            try:
                try:
                    sent = yield awaited
                except BaseException as error:
                    awaited = self.work.throw(error)
                else:
                    awaited = self.work.send(sent)
            except StopIteration as end:
                result: T = end.value
                return result


async def _cancel_late(task: asyncio.Task[Any], seconds: float, while_connected: Receive | None) -> bool:
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
