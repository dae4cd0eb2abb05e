"""A watch over the event loop, for debugging: it logs code that blocks the loop for too long.

A thread sends the loop a callback again and again. If the callback does not run in time, the thread
logs the stack of the loop's thread, which names the code that blocks the loop.
"""

import asyncio
import sys
import threading
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter

from graph.observability.logs import get_logger

FRAMES = 5  # innermost ones that are logged

logger = get_logger(__name__)


@asynccontextmanager
async def loop_watched(seconds: float) -> AsyncIterator[None]:
    """Watch the running loop, and log each time that it is blocked for longer than so many seconds."""
    watch = _Watch(asyncio.get_running_loop(), seconds)
    thread = threading.Thread(target=watch.run, name="loop-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        watch.ended.set()
        await asyncio.to_thread(thread.join)


class _Watch:
    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self.ended = threading.Event()
        self._loop = loop
        self._loop_thread = threading.get_ident()
        self._seconds = seconds

    def run(self) -> None:
        while not self.ended.wait(self._seconds / 2):
            alive = threading.Event()
            sent = perf_counter()
            self._loop.call_soon_threadsafe(alive.set)
            if alive.wait(self._seconds):
                continue
            logger.warning(
                "The event loop is held", where=self._stack()
            )  # at once, since the loop may never be free again
            alive.wait()
            logger.warning("The event loop is free again", milliseconds=round((perf_counter() - sent) * 1000, 1))

    def _stack(self) -> list[str]:
        frame = sys._current_frames().get(self._loop_thread)
        stack = traceback.extract_stack(frame)[-FRAMES:] if frame else []
        return [f"{entry.name} ({entry.filename}:{entry.lineno})" for entry in stack]
