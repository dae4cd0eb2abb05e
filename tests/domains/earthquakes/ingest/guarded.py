"""A database and a way to USGS whose every operation goes through a guard: it counts, refuses or ends in one."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

import httpx

from graph.store.contract import Database
from tests.domains.earthquakes.ingest.ingests import NO_CERTIFICATES
from tests.domains.watches.cuts import Intercepted

T = TypeVar("T")


class Guard(Protocol):
    """Called with the name of each operation, what it is about, and the operation itself."""

    async def __call__(self, name: str, about: Any, operation: Callable[[], Awaitable[T]]) -> T:
        """Do the operation, or fail."""


class GuardedDatabase(Intercepted):
    """A database behind a guard."""

    def __init__(self, database: Database, guard: Guard) -> None:
        super().__init__(database)
        self._guard = guard

    async def around(self, method: str, asked: Any, call: Callable[[], Awaitable[T]]) -> T:
        return await self._guard(method, asked, call)


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
