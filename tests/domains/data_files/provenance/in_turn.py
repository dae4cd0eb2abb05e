"""Lets several writers of one store take turns, a call of the store at a time, in an order that a test chooses."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from graph.core.errors import BadUserInput
from graph.store.contract import Database
from tests.domains.watches.cuts import Intercepted

T = TypeVar("T")


class Writer(Intercepted):
    """A store that waits for its turn before each call."""

    def __init__(self, database: Database, limit: int | None) -> None:
        super().__init__(database)
        self.transaction_limit = limit or database.transaction_limit
        self._waits = asyncio.Event()
        self._may_go_on: asyncio.Event | None = None
        self.error: BadUserInput | None = None

    async def do(self, work: Callable[[Database], Awaitable[object]]) -> None:
        """Do some work, which may be refused."""
        try:
            await work(self)
        except BadUserInput as refused:
            self.error = refused
        finally:
            self._may_go_on = None
            self._waits.set()

    async def stands(self) -> bool:
        """Wait until the work waits for its turn, or is done. Returns whether it waits."""
        await self._waits.wait()
        return self._may_go_on is not None

    def go_on(self) -> None:
        """Let it make one call."""
        assert self._may_go_on is not None
        self._waits.clear()
        self._may_go_on.set()

    async def around(self, method: str, asked: Any, call: Callable[[], Awaitable[T]]) -> T:
        self._may_go_on = asyncio.Event()
        self._waits.set()
        await self._may_go_on.wait()
        return await call()

    async def put_many(self, puts: Any) -> None:
        await self.around("put_many", puts, partial(super().put_many, puts))


async def in_turn(
    database: Database,
    works: Sequence[Callable[[Database], Awaitable[object]]],
    order: Sequence[int],
    limit: int | None = None,
) -> list[BadUserInput | None]:
    """Do several works at the same time, a call of the store at a time. Returns why each was refused.

    Args:
        order: whose turn it is, over and over again; 0 for the first of those that are not done.
        limit: actions of a transaction.
    """
    writers = [Writer(database, limit) for _ in works]
    async with asyncio.TaskGroup() as tasks:
        for writer, work in zip(writers, works, strict=True):
            tasks.create_task(writer.do(work))
        turn = 0
        while waiting := [writer for writer in writers if await writer.stands()]:
            waiting[order[turn % len(order)] % len(waiting)].go_on()
            turn += 1
    return [writer.error for writer in writers]
