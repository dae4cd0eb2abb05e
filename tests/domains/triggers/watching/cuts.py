"""A store that breaks off at one of its calls, for what has to go on from there."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from graph.core.errors import DatabaseUnavailable
from graph.store.contract import Database, Update
from graph.store.entity import Item, Key
from graph.store.query import Page, Query
from tests.domains.earthquakes.watched_database import WatchedDatabase

T = TypeVar("T")

ACTIONS = 24  # of a transaction, so that a few events take several


class Cut(WatchedDatabase):
    """Breaks off at one of its calls, in one of these ways."""

    WAYS = ("refused", "answer lost", "cancelled")

    def __init__(self, database: Database, way: str) -> None:
        super().__init__(database)
        self.transaction_limit = ACTIONS
        self.left = 0  # calls before it breaks off; 0 for never
        self.way = way

    async def _call(self, call: Coroutine[Any, Any, T]) -> T:
        self.left -= 1
        if self.left:
            return await call
        if self.way == "refused":
            call.close()
            raise DatabaseUnavailable("the connection was lost")
        if self.way == "answer lost":
            await call
            raise DatabaseUnavailable("the connection was lost")
        task = asyncio.current_task()
        assert task is not None
        task.cancel()  # it ends at the first await in the call
        return await call

    async def get(self, key: Key, **options: Any) -> Item | None:
        return await self._call(super().get(key, **options))

    async def get_many(self, keys: Any, **options: Any) -> dict[Key, Item]:
        return await self._call(super().get_many(keys, **options))

    async def update(self, update: Update) -> bool:
        return await self._call(super().update(update))

    async def transact(self, actions: Any) -> tuple[int, ...]:
        return await self._call(super().transact(actions))

    async def query(self, query: Query) -> Page:
        return await self._call(super().query(query))


async def cut_off(work: Coroutine[Any, Any, object]) -> None:
    """Let some work break off."""
    with suppress(DatabaseUnavailable, asyncio.CancelledError):
        await asyncio.ensure_future(work)
