"""Work ends with its time, with its client, or by itself; whichever it is, nothing of it is left behind."""

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any

import pytest
from starlette.requests import ClientDisconnect

from graph.core.errors import ExecutionTimeout
from graph.transport.deadline import Deadlines

LONG = 3600.0


class Work:
    """Something that takes until it is told to end, and says how it ended."""

    def __init__(self) -> None:
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()
        self.ended: str | None = None

    async def run(self) -> str:
        self.begun.set()
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)  # letting go of something takes its time too
            self.ended = "cancelled"
            raise
        self.ended = "done"
        return "answer"


async def stays() -> Any:
    """The channel of a client that waits."""
    await asyncio.Event().wait()


async def run_with_timeout(seconds: float, work: Coroutine[Any, Any, Any], while_connected: Any = None) -> Any:
    with Deadlines().within(seconds, while_connected):
        return await work


def others() -> set[Any]:
    return {task for task in asyncio.all_tasks() - {asyncio.current_task()} if not task.cancelling()}


async def test_work_that_ends_in_time_gives_its_answer_or_raises_its_error() -> None:
    work = Work()
    work.may_end.set()

    async def fail() -> None:
        raise KeyError("place")

    assert await run_with_timeout(LONG, work.run(), while_connected=stays) == "answer"
    with pytest.raises(KeyError, match="place"):
        await run_with_timeout(LONG, fail(), while_connected=stays)
    assert others() == set()


async def test_work_that_takes_too_long_is_cancelled_and_waited_for() -> None:
    work = Work()

    with pytest.raises(ExecutionTimeout, match="longer than 0 s"):
        await run_with_timeout(0.0, work.run())
    with pytest.raises(ExecutionTimeout):
        await run_with_timeout(0.01, work.run(), while_connected=stays)

    assert (work.ended, others()) == ("cancelled", set())


async def test_errors_of_abandoned_work_are_not_reported() -> None:
    """A store that fails as its call is cancelled is not reported as a defect."""
    reported: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))

    async def fail_at_the_end() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise KeyError("place")

    with pytest.raises(ExecutionTimeout):
        await run_with_timeout(0.0, fail_at_the_end())

    gc.collect()
    assert reported == []


async def test_work_is_cancelled_when_its_client_disconnects() -> None:
    work = Work()
    messages = [{"type": "http.request"}, {"type": "http.disconnect"}]

    async def goes() -> Any:
        await work.begun.wait()
        return messages.pop(0)

    with pytest.raises(ClientDisconnect):
        await run_with_timeout(LONG, work.run(), while_connected=goes)

    assert (work.ended, others()) == ("cancelled", set())


async def test_cancelling_the_caller_cancels_the_work() -> None:
    work = Work()
    outer = asyncio.create_task(run_with_timeout(LONG, work.run(), while_connected=stays))
    await work.begun.wait()

    outer.cancel()

    with pytest.raises(asyncio.CancelledError):
        await outer
    assert (work.ended, others()) == ("cancelled", set())
