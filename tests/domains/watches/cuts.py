"""Stores that break off at one of their calls, or in which something happens meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import pytest

from graph.core.errors import DatabaseUnavailable
from graph.store.contract import Database, Put, Update
from graph.store.entity import Item, Key
from graph.store.query import ItemPage, Query
from tests.domains.earthquakes.watched_database import WatchedDatabase

T = TypeVar("T")

ACTIONS = 24  # of a transaction, so that a few events take several

either_way = pytest.mark.parametrize(
    ("engine", "way"),
    [("sqlite", "refused"), ("sqlite", "answer lost"), ("dynamodb", "answer lost")],
    indirect=["engine"],
)
"""Both ways of `Cut` on the quick engine, and one on the other."""


class Intercepted(WatchedDatabase):
    """Makes its calls in `around`."""

    async def around(self, method: str, asked: Any, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call of the store. `asked` is its first argument."""
        return await call()

    async def get(self, key: Key, **options: Any) -> Item | None:
        return await self.around("get", key, partial(super().get, key, **options))

    async def get_many(self, keys: Any, **options: Any) -> dict[Key, Item]:
        return await self.around("get_many", keys, partial(super().get_many, keys, **options))

    async def put(self, put: Put) -> bool:
        return await self.around("put", put, partial(super().put, put))

    async def update(self, update: Update) -> bool:
        return await self.around("update", update, partial(super().update, update))

    async def transact(self, actions: Any) -> tuple[int, ...]:
        return await self.around("transact", actions, partial(super().transact, actions))

    async def query(self, query: Query) -> ItemPage:
        return await self.around("query", query, partial(super().query, query))


class Noted(Intercepted):
    """Keeps its calls: their names and first arguments."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.noted: list[tuple[str, Any]] = []

    async def around(self, method: str, asked: Any, call: Callable[[], Awaitable[T]]) -> T:
        self.noted.append((method, asked))
        return await call()


class Meanwhile(Intercepted):
    """Something happens once, just before or just after the first call that is meant."""

    def __init__(
        self,
        database: Database,
        happen: Callable[[], Awaitable[object]],
        is_meant: Callable[[str, Any], bool] = lambda method, _: method == "transact",
        *,
        after: bool = False,
    ) -> None:
        super().__init__(database)
        self._happen: Callable[[], Awaitable[object]] | None = happen
        self._is_meant = is_meant
        self._after = after

    async def around(self, method: str, asked: Any, call: Callable[[], Awaitable[T]]) -> T:
        if not self._happen or not self._is_meant(method, asked):
            return await call()
        happen, self._happen = self._happen, None
        if not self._after:
            await happen()
            return await call()
        answer = await call()
        await happen()
        return answer


async def lose_connection() -> None:
    """Fail as a store does that cannot be reached."""
    raise DatabaseUnavailable("the connection was lost")


class Cut(Intercepted):
    """Breaks off at one of its calls, in one of these ways."""

    WAYS = ("refused", "answer lost", "cancelled")

    def __init__(self, database: Database, way: str) -> None:
        super().__init__(database)
        self.transaction_limit = ACTIONS
        self.left = 0  # calls before it breaks off; 0 for never
        self.way = way

    async def around(self, method: str, asked: Any, call: Callable[[], Awaitable[T]]) -> T:
        self.left -= 1
        if self.left:
            return await call()
        if self.way == "cancelled":
            task = asyncio.current_task()
            assert task is not None
            task.cancel()  # it ends at the first await in the call
            return await call()
        if self.way == "answer lost":
            await call()
        raise DatabaseUnavailable("the connection was lost")


async def cut_off(work: Coroutine[Any, Any, object]) -> None:
    """Let some work break off."""
    with suppress(DatabaseUnavailable, asyncio.CancelledError):
        await asyncio.ensure_future(work)
