"""Batches concurrent writes: the first caller writes for all that wait.

So a store that takes one transaction at a time, such as for the next numbers of a sequence, is not asked once for each
caller, and nobody waits for a timer. If some entries cannot be written together, each is written alone: what is wrong
with one is the failure of its caller, and of nobody else.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from graph.core.errors import DatabaseUnavailable

E = TypeVar("E")

Write = Callable[[Sequence[E]], Awaitable[Collection[E]]]
"""Writes the first of some entries, as many as it can at once. Returns those that are done, at least one."""


class WrittenTogether(Generic[E]):
    """Writes the entries of all callers, some at a time, in the order in which they came."""

    def __init__(self, write: Write[E], *, most: int) -> None:
        """Prepare to write.

        Args:
            most: entries that `write` gets at once.
        """
        self._write = write
        self._most = most
        self._waiting: dict[E, asyncio.Future[None]] = {}
        self._lock = asyncio.Lock()

    async def write(self, entry: E) -> None:
        """Write an entry, and return when it is written.

        Raises:
            Exception: What `write` raised. The entry may be written or not.
        """
        done = self._waiting[entry] = asyncio.get_running_loop().create_future()
        try:
            async with self._lock:
                while not done.done():
                    await self._write_some()
            done.result()
        finally:
            self._waiting.pop(entry, None)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Keep others from writing."""
        async with self._lock:
            yield

    async def _write_some(self) -> None:
        some = list(self._waiting)[: self._most]
        try:
            await self._write_all(some)
        except BaseException as error:
            # Their outcome is unknown, so nobody may write them a second time.
            failure = error if isinstance(error, DatabaseUnavailable) else DatabaseUnavailable(repr(error))
            for entry in some:
                self._end(entry, failure)
            raise

    async def _write_all(self, some: Sequence[E]) -> None:
        """Write entries together; each alone if they are refused, in which case none of them is written."""
        try:
            written = await self._write(some)
        except DatabaseUnavailable:
            raise
        except Exception as error:
            if len(some) == 1:
                self._end(some[0], error)
            else:
                for entry in some:
                    await self._write_all([entry])
            return
        for entry in written:
            self._end(entry, None)

    def _end(self, entry: E, failure: Exception | None) -> None:
        done = self._waiting.pop(entry, None)
        if done is None or done.done():
            return
        if failure:
            done.set_exception(failure)
            done.exception()  # its caller may be gone, so that nobody else asks for it
        else:
            done.set_result(None)
