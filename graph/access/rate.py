"""The rate limit: how many points a caller may spend in a minute.

The minute slides: points are counted in two windows of a minute, and the older one weighs less and
less. So a caller takes a few bytes, however much it spends. The count is kept in the process, or in a
store that several processes share. While that store does not answer, all callers pass: the limit
protects the service, and must not bring it down.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address
from math import ceil
from typing import cast

from limits import RateLimitItemPerMinute
from limits.aio.storage import SlidingWindowCounterSupport, Storage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from limits.errors import ConfigurationError, StorageError
from limits.storage import storage_from_string

from graph.core.errors import QueryTooComplex, RateLimited
from graph.observability.logs import get_logger
from graph.settings import Misconfigured, Settings

WINDOW_S = 60
PARTS = 10  # `spend_in_time` spends a tenth of a minute's points at once
STORE_TIMEOUT_S = 0.5  # for the shared store; a caller waits for it on every request

Sleep = Callable[[float], Awaitable[object]]

logger = get_logger(__name__)


class UnusableRateStore(Misconfigured):
    """The store is unknown, or its library is not installed."""


class Rates(ABC):
    """What callers have spent."""

    @abstractmethod
    async def spend(self, spender: str, points: int) -> None:
        """Charge a caller.

        Raises:
            RateLimited: Not enough points are left; nothing is charged.
            QueryTooComplex: A caller never has so many points.
        """

    @abstractmethod
    async def spend_in_time(self, spender: str, points: int) -> None:
        """Charge any number of points, and wait as needed. Half of a minute's points stay for other requests."""


class Unlimited(Rates):
    """No limit."""

    async def spend(self, spender: str, points: int) -> None:
        pass

    async def spend_in_time(self, spender: str, points: int) -> None:
        pass


class PointsPerMinute(Rates):
    """A number of points per minute for each caller."""

    def __init__(self, points: int, store: Storage, *, sleep: Sleep = asyncio.sleep) -> None:
        self._points = points
        self._sleep = sleep
        self._item = RateLimitItemPerMinute(points)
        self._limiter = SlidingWindowCounterRateLimiter(store)
        self._store_is_away = False

    async def spend(self, spender: str, points: int) -> None:
        await self._spend(spender, points)

    async def _spend(self, spender: str, points: int, *, leaving: int = 0) -> None:
        if points > self._points:
            raise QueryTooComplex(
                f"The operation costs {points:,} points, and a caller has {self._points:,} a minute: ask for less."
            )
        try:
            async with asyncio.timeout(STORE_TIMEOUT_S):
                cost, needed = max(points, 1), max(points, 1) + leaving
                allowed = not leaving or await self._limiter.test(self._item, spender, cost=needed)
                allowed = allowed and await self._limiter.hit(self._item, spender, cost=cost)
                wait = None if allowed else await self._wait(spender, needed)
        except (StorageError, TimeoutError) as error:
            if not self._store_is_away:
                logger.warning("The store of the rate limit does not answer: all callers pass", cause=str(error))
            self._store_is_away = True
            return
        if self._store_is_away:
            logger.info("The store of the rate limit answers again")
            self._store_is_away = False
        if wait is not None:
            raise RateLimited(wait)

    async def spend_in_time(self, spender: str, points: int) -> None:
        part, half = ceil(self._points / PARTS), self._points // 2
        for spent in range(0, points, part):
            while True:
                try:
                    await self._spend(spender, min(part, points - spent), leaving=half)
                    break
                except RateLimited as refusal:
                    await self._sleep(refusal.retry_after_s)

    async def _wait(self, spender: str, points: int) -> int:
        """Seconds until so many points are left, if nothing else is spent."""
        counts = cast("SlidingWindowCounterSupport", self._limiter.storage)
        older, _, newer, expires_in = await counts.get_sliding_window(self._item.key_for(spender), WINDOW_S)
        left_of_window = (
            expires_in - WINDOW_S
        )  # kept for one more; in Redis a window begins with a caller's first request
        room = self._points - points
        if newer <= room:  # wait until the older window weighs little enough
            seconds = left_of_window - (room - newer + 1) * WINDOW_S / max(older, 1)
        else:  # wait until the newer window has become the older one and weighs little enough
            seconds = left_of_window + WINDOW_S - (room + 1) * WINDOW_S / newer
        return max(1, ceil(seconds))


def rates(settings: Settings) -> Rates:
    """The rate limit of the settings.

    Raises:
        UnusableRateStore: The configured store cannot be used.
    """
    if not settings.rate_limit:
        return Unlimited()
    try:
        store = storage_from_string(f"async+{settings.rate_limit_store}", wrap_exceptions=True)
    except ConfigurationError as error:
        scheme = settings.rate_limit_store.partition(":")[0]
        raise UnusableRateStore(
            f"GRAPH_RATE_LIMIT_STORE: {scheme}:// cannot be used: "  # the rest may hold a password
            f"set `memory://`, or `redis://HOST` with `quakegraph[redis]` installed ({error})"
        ) from error
    return PointsPerMinute(settings.rate_limit, store)  # type: ignore[arg-type]  # `async+` makes it one of these


@lru_cache(maxsize=4096)
def spender(subject: str | None, address: str | None) -> str:
    """The name that points are charged to: the subject, or else the address.

    All IPv6 addresses of a /64, the smallest network that a client is given, count as one.
    """
    if subject is not None:
        return f"subject:{subject}"
    try:
        ip = ip_address(address or "")
    except ValueError:
        return f"address:{address}"
    if isinstance(ip, IPv6Address):
        return f"address:{ip.ipv4_mapped or IPv6Network((ip, 64), strict=False)}"
    return f"address:{ip}"
