"""Ends long answers, such as subscriptions, before the process ends. Their clients then connect elsewhere."""

import asyncio
from collections.abc import Awaitable, Callable

End = Callable[[float], Awaitable[None]]
"""Ends something, and waits for its end, but no longer than so many seconds."""


class Endings:
    """The functions that end a process's long answers."""

    def __init__(self) -> None:
        self.is_near = False  # whether the process drains: it still answers, and new requests should go elsewhere
        self._ends: list[End] = []

    def add(self, end: End) -> None:
        """Register a function that is called at the shutdown, before requests in progress are finished."""
        self._ends.append(end)

    async def end(self, seconds: float) -> None:
        """End everything at the same time, within so many seconds."""
        await asyncio.gather(*(end(seconds) for end in self._ends))
