"""The rate limit: how many points a caller may spend in a minute.

The minute slides: points are counted in two windows of a minute, and the older one weighs less and
less. So a caller takes a few bytes, however much it spends. The count is kept in the process, or in a
store that several processes share. While that store does not answer, all callers pass: the limit
protects the service, and must not bring it down.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address
from math import ceil, floor
from typing import NamedTuple, cast

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


class Spent(NamedTuple):
    """What a caller has spent who has too few points left."""

    older: int  # points, in the window of a minute before the present one
    newer: int  # in the present window
    left_s: float  # of the present window


class Rates:
    """A number of points per minute for each caller, which are counted in this process; 0 for no limit."""

    def __init__(
        self, points: int = 0, *, sleep: Sleep = asyncio.sleep, clock: Callable[[], float] = time.time
    ) -> None:
        self.points = points
        self._sleep = sleep
        self._clock = clock  # seconds
        self._window = 0  # number of the present one
        self._older: dict[str, int] = {}
        self._newer: dict[str, int] = {}

    def spend(self, spender: str, points: int, *, leaving: int = 0) -> Awaitable[None] | None:
        """Charge a caller, if so many points and `leaving` more are left. Returns what to wait for, if anything.

        Raises:
            RateLimited: Not enough points are left; nothing is charged.
            QueryTooComplex: A caller never has so many points.
        """
        if not self.points:
            return None
        cost = max(points, 1)
        if cost > self.points:
            raise QueryTooComplex(
                f"The operation costs {points:,} points, and a caller has {self.points:,} a minute: ask for less."
            )
        return self._count(spender, cost, leaving)

    def _count(self, spender: str, points: int, leaving: int) -> Awaitable[None] | None:
        window, passed_s = divmod(self._clock(), WINDOW_S)
        if window != self._window:
            self._older = self._newer if window == self._window + 1 else {}
            self._newer, self._window = {}, int(window)
        older, newer, left_s = self._older.get(spender, 0), self._newer.get(spender, 0), WINDOW_S - passed_s
        if floor(older * left_s / WINDOW_S + newer) + points + leaving > self.points:
            raise self._refusal(Spent(older, newer, left_s), points + leaving)
        self._newer[spender] = newer + points
        return None

    async def spend_in_time(self, spender: str, points: int) -> None:
        """Charge any number of points, and wait as needed. Half of a minute's points stay for other requests."""
        if not self.points:
            return
        part, half = ceil(self.points / PARTS), self.points // 2
        for spent in range(0, points, part):
            while True:
                try:
                    if charged := self.spend(spender, min(part, points - spent), leaving=half):
                        await charged
                    break
                except RateLimited as refusal:
                    await self._sleep(refusal.retry_after_s)

    def _refusal(self, spent: Spent, points: int) -> RateLimited:
        """Says after how many seconds so many points are left, if nothing else is spent."""
        older, newer, left_s = spent
        room = self.points - points
        if newer <= room:  # wait until the older window weighs little enough
            seconds = left_s - (room - newer + 1) * WINDOW_S / max(older, 1)
        else:  # wait until the newer window has become the older one and weighs little enough
            seconds = left_s + WINDOW_S - (room + 1) * WINDOW_S / newer
        return RateLimited(max(1, ceil(seconds)))


class SharedRates(Rates):
    """Points that are counted in a store, which several processes share. While it does not answer, all callers pass."""

    def __init__(self, points: int, store: Storage) -> None:
        super().__init__(points)
        self._item = RateLimitItemPerMinute(points)
        self._limiter = SlidingWindowCounterRateLimiter(store)
        self._is_away = False

    async def _count(self, spender: str, points: int, leaving: int) -> None:
        needed = points + leaving
        try:
            async with asyncio.timeout(STORE_TIMEOUT_S):
                allowed = not leaving or await self._limiter.test(self._item, spender, cost=needed)
                allowed = allowed and await self._limiter.hit(self._item, spender, cost=points)
                spent = None if allowed else await self._spent(spender)
        except (StorageError, TimeoutError) as error:
            if not self._is_away:
                logger.warning("The store of the rate limit does not answer: all callers pass", cause=str(error))
            self._is_away = True
            return
        if self._is_away:
            logger.info("The store of the rate limit answers again")
            self._is_away = False
        if spent is not None:
            raise self._refusal(spent, needed)

    async def _spent(self, spender: str) -> Spent:
        counts = cast("SlidingWindowCounterSupport", self._limiter.storage)
        older, _, newer, expires_in = await counts.get_sliding_window(self._item.key_for(spender), WINDOW_S)
        # Kept for one window more. In Redis a window begins with a caller's first request.
        return Spent(older, newer, expires_in - WINDOW_S)


def rates(settings: Settings) -> Rates:
    """The rate limit of the settings.

    Raises:
        UnusableRateStore: The configured store cannot be used.
    """
    if not settings.rate_limit or settings.rate_limit_store.startswith("memory:"):
        return Rates(settings.rate_limit)
    try:
        store = storage_from_string(f"async+{settings.rate_limit_store}", wrap_exceptions=True)
    except ConfigurationError as error:
        scheme = settings.rate_limit_store.partition(":")[0]
        raise UnusableRateStore(
            f"GRAPH_RATE_LIMIT_STORE: {scheme}:// cannot be used: "  # the rest may hold a password
            f"set `memory://`, or `redis://HOST` with `quakegraph[redis]` installed ({error})"
        ) from error
    return SharedRates(settings.rate_limit, store)  # type: ignore[arg-type]  # `async+` makes it one


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
