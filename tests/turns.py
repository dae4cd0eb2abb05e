"""Counts the iterations of an event loop: work that gives way takes several."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """The number of iterations so far."""

    number = 0


@asynccontextmanager
async def turns_counted() -> AsyncIterator[Turns]:
    """Count the iterations of the running loop."""
    turns = Turns()

    async def count() -> None:
        while True:
            turns.number += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    try:
        yield turns
    finally:
        counting.cancel()
