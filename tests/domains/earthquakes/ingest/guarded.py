"""A database and a way to USGS whose every operation goes through a guard: it counts, refuses or ends in one."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, Protocol, TypeVar

import httpx

from graph.store.contract import Action, Database, Put, Update
from graph.store.entity import Item, Key
from graph.store.query import Page, Query
from tests.domains.earthquakes.ingest.ingests import NO_CERTIFICATES
from tests.domains.earthquakes.watched_database import WatchedDatabase

T = TypeVar("T")


class Guard(Protocol):
    """Called with the name of each operation, what it is about, and the operation itself."""

    async def __call__(self, name: str, about: Any, operation: Callable[[], Awaitable[T]]) -> T:
        """Do the operation, or fail."""


class GuardedDatabase(WatchedDatabase):
    """A database behind a guard."""

    def __init__(self, database: Database, guard: Guard) -> None:
        super().__init__(database)
        self._guard = guard

    async def get(self, key: Key, *, attributes: Collection[str] | None = None) -> Item | None:
        return await self._guard("get", key, lambda: self._database.get(key, attributes=attributes))

    async def get_many(self, keys: Collection[Key], *, attributes: Collection[str] | None = None) -> dict[Key, Item]:
        return await self._guard("get_many", keys, lambda: self._database.get_many(keys, attributes=attributes))

    async def put(self, put: Put) -> bool:
        return await self._guard("put", put, lambda: self._database.put(put))

    async def update(self, update: Update) -> bool:
        return await self._guard("update", update, lambda: self._database.update(update))

    async def transact(self, actions: Sequence[Action]) -> tuple[int, ...]:
        return await self._guard("transact", actions, lambda: self._database.transact(actions))

    async def query(self, query: Query) -> Page:
        return await self._guard("query", query, lambda: self._database.query(query))


class GuardedTransport(httpx.AsyncHTTPTransport):
    """A way to USGS behind a guard."""

    def __init__(self, guard: Guard) -> None:
        super().__init__(verify=NO_CERTIFICATES)
        self._guard = guard

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        send = super().handle_async_request
        return await self._guard("request", request, lambda: send(request))


def failing(error: Exception, *, when: Callable[[str, Any], bool]) -> Guard:
    """A guard that fails instead of each operation of which this holds."""

    async def guard(name: str, about: Any, operation: Callable[[], Awaitable[T]]) -> T:
        if when(name, about):
            raise error
        return await operation()

    return guard


def noting(sizes: list[tuple[str, int]]) -> Guard:
    """A guard that writes down each read of several items and each transaction with its size."""

    async def guard(name: str, about: Any, operation: Callable[[], Awaitable[T]]) -> T:
        if name in ("get_many", "transact"):
            sizes.append((name, len(about)))
        return await operation()

    return guard
