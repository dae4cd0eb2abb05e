"""The frames that all WebSockets of an event loop may handle in one iteration, in rotation."""

import asyncio
from collections.abc import Callable

FRAMES_PER_ITERATION = 30  # a ping takes 30 µs

ReadOn = Callable[[], None]
"""Handles the waiting frames of one connection, as far as the budget goes."""


class FrameBudget:
    """A number of frames for each iteration of the event loop, which all connections share."""

    def __init__(self) -> None:
        self.left = FRAMES_PER_ITERATION
        self._waiting: dict[ReadOn, None] = {}  # in the order in which they began to wait
        self._next: asyncio.Handle | None = None

    def spend(self, frames: int) -> None:
        """Take frames from the budget."""
        self.left -= frames
        if self._next is None:
            self._next = asyncio.get_running_loop().call_soon(self._begin)

    def wait(self, read_on: ReadOn) -> None:
        """Let a connection read on in a later iteration."""
        self._waiting[read_on] = None
        self.spend(0)

    def forget(self, read_on: ReadOn) -> None:
        """Remove a connection that has ended."""
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
