"""The frames that all WebSockets of an event loop may handle in one iteration, in rotation."""

import asyncio
from collections.abc import Callable

FRAMES_PER_ITERATION = 30  # a ping takes 30 µs

ReadOn = Callable[[], None]
"""Handles what waits at one connection, as far as frames are left."""


class FrameBudget:
    """Shares an allowance of frames among connections, which begins anew in each iteration of the loop."""

    def __init__(self) -> None:
        self.left = FRAMES_PER_ITERATION
        self._waiting: dict[ReadOn, None] = {}  # in the order in which they began to wait
        self._next: asyncio.Handle | None = None

    def spend(self, frames: int) -> None:
        """Take frames from the allowance."""
        self.left -= frames
        if self._next is None:
            self._next = asyncio.get_running_loop().call_soon(self._begin)

    def wait(self, read_on: ReadOn) -> None:
        """Have a connection read on in a later iteration."""
        self._waiting[read_on] = None
        self.spend(0)

    def forget(self, read_on: ReadOn) -> None:
        """Drop a connection that has ended."""
        self._waiting.pop(read_on, None)

    def _begin(self) -> None:
        self._next = None
        self.left = FRAMES_PER_ITERATION
        for read_on in list(self._waiting):
            if self.left <= 0:
                break
            del self._waiting[read_on]
            read_on()
        if self._waiting:
            self.spend(0)
