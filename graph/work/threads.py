"""A few threads for blocking work. They serve callers in rotation."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from time import thread_time
from typing import TypeVar

from graph.work.account import charge_time, slot_of
from graph.work.slots import Slots

T = TypeVar("T")


class FairThreads:
    """A number of threads. They belong to one event loop."""

    def __init__(self, number: int, name: str) -> None:
        self.slots = Slots(number)
        self._threads = ThreadPoolExecutor(number, thread_name_prefix=name)

    async def run(self, job: Callable[[], T]) -> T:
        """Do the job on a thread. If it is cancelled while it waits, it never begins.

        Raises:
            Overloaded: Too many operations wait already.
        """
        caller = await slot_of(self.slots)
        loop, context, took = asyncio.get_running_loop(), copy_context(), 0.0

        def timed() -> T:
            nonlocal took
            began = thread_time()
            try:
                return job()
            finally:
                took = thread_time() - began

        future = self._threads.submit(timed)
        # A job that is cancelled keeps its thread busy until it has ended.
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._end, caller, took, context=context))
        try:
            return await asyncio.wrap_future(future)
        finally:
            del future  # breaks a cycle: the exception holds this frame, and the future holds the exception

    def _end(self, caller: str, took: float) -> None:
        charge_time(took)
        self.slots.release(caller)

    def close(self) -> None:
        """Wait for the jobs that have begun, and end the threads."""
        self._threads.shutdown()
