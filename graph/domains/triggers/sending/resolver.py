"""Looks up the addresses of names, and refuses a name of which any address is not allowed.

The HTTP client connects to nothing but the addresses that are returned here, so a name cannot mean one address when it
is checked and another when it is connected to. No answer is kept, so each new connection is checked.
"""

import asyncio
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from graph.domains.triggers.sending.destinations import Destinations, EndpointRefused

TIMEOUT_S = 5.0  # the system's own first attempt takes as long
THREADS = 64  # a name whose server is slow holds one, for as long as the system tries

LookUp = Callable[..., Sequence[tuple[Any, Any, Any, Any, tuple[Any, ...]]]]
"""Has the signature of `socket.getaddrinfo`."""


class NameNotResolved(OSError):
    """The name has no address, or nobody said in time which."""


@dataclass(eq=False)
class Resolver(AbstractResolver):
    """Resolves names for one event loop, in threads of its own. Closing it ends them."""

    destinations: Destinations
    timeout_s: float = TIMEOUT_S
    threads: int = THREADS
    look_up: LookUp = socket.getaddrinfo

    def __post_init__(self) -> None:
        self._threads = ThreadPoolExecutor(self.threads, thread_name_prefix="resolve")
        self._in_progress: dict[str, asyncio.Future[list[str]]] = {}  # by name

    async def check(self, url: str) -> URL:
        """Read the URL of an endpoint, and check all addresses of its host.

        Raises:
            EndpointRefused: It cannot be an endpoint at present.
        """
        read = self.destinations.read(url)
        try:
            await self._checked(read.raw_host or "")
        except NameNotResolved as error:
            raise EndpointRefused.not_public() from error
        return read

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """All addresses of a name, of any family, each of them checked.

        Raises:
            NameNotResolved: It has none, or they were not found in time.
            EndpointRefused: One of them is not allowed.
        """
        return [
            ResolveResult(hostname=host, host=address, port=port, family=_family(address), proto=0, flags=0)
            for address in await self._checked(host)
        ]

    async def _checked(self, host: str) -> list[str]:
        addresses = await self._addresses(host)
        if not all(map(self.destinations.allow, addresses)):
            raise EndpointRefused.not_public()
        return addresses

    async def _addresses(self, host: str) -> list[str]:
        """Look up a name, or wait for the look-up of it that is in progress."""
        found = self._in_progress.get(host)
        if found is None:
            loop = asyncio.get_running_loop()
            found = self._in_progress[host] = loop.run_in_executor(self._threads, self._query, host)
            found.add_done_callback(partial(self._end, host))
        try:
            async with asyncio.timeout(self.timeout_s):
                addresses = await asyncio.shield(found)
        except (OSError, UnicodeError) as error:  # TimeoutError is an OSError
            raise NameNotResolved(f"{host} cannot be resolved") from error
        if not addresses:
            raise NameNotResolved(f"{host} has no address")
        return addresses

    def _query(self, host: str) -> list[str]:
        answers = self.look_up(host, None, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(answer[4][0]) for answer in answers))

    def _end(self, host: str, found: "asyncio.Future[list[str]]") -> None:
        del self._in_progress[host]
        if not found.cancelled():
            found.exception()  # else asyncio logs it if nobody waits any more

    async def close(self) -> None:
        """End the threads. A look-up in progress holds its thread until the system gives up."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
