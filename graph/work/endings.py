"""What has to end before the process does: long answers, such as subscriptions, whose clients then ask elsewhere."""

import asyncio
from collections.abc import Awaitable, Callable

End = Callable[[float], Awaitable[None]]
"""Ends something, and waits until it has ended, but no longer than so many seconds."""


class Endings:
    """The endings of one process. Who opens something long registers how it ends."""

    def __init__(self) -> None:
        self._ends: list[End] = []

    def add(self, end: End) -> None:
        """Have this called when the service ends, before the requests in flight are finished."""
        self._ends.append(end)

    async def end(self, seconds: float) -> None:
        """End everything at the same time, within so many seconds."""
        await asyncio.gather(*(end(seconds) for end in self._ends))
