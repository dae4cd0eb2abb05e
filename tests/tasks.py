"""Ends what a test's own servers still do when the test is over."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def tasks_ended() -> AsyncIterator[None]:
    """Cancel the tasks that began within and still run, such as those of a server's connections."""
    before = asyncio.all_tasks()
    try:
        yield
    finally:
        left = asyncio.all_tasks() - before - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
