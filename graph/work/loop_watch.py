"""A watch over the event loop, for debugging: it logs what held the loop for too long, and where.

A thread asks the loop for a sign of life again and again. While none comes, it looks at the stack of
the loop's thread. So it names the code that holds the loop, which the loop itself cannot see.
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
    """Watch the running loop, and log each time that it is held for longer than so many seconds."""
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
            asked = perf_counter()
            self._loop.call_soon_threadsafe(alive.set)
            if alive.wait(self._seconds):
                continue
            logger.warning("The event loop is held", where=self._stack())  # now, as it may never be free again
            alive.wait()
            logger.warning("The event loop is free again", milliseconds=round((perf_counter() - asked) * 1000, 1))

    def _stack(self) -> list[str]:
        frame = sys._current_frames().get(self._loop_thread)
        stack = traceback.extract_stack(frame)[-FRAMES:] if frame else []
        return [f"{entry.name} ({entry.filename}:{entry.lineno})" for entry in stack]
