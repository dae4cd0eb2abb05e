"""The waits and attempts of the engine, before it says that the store does not answer.

Two kinds of trouble are tried again: what fails on the way or inside DynamoDB, by botocore,
request by request; and what DynamoDB answers for a moment (unprocessed items, a conflict of
two transactions), by the engine, in rounds with a random pause that grows.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from aiobotocore.config import AioConfig
from aiobotocore.httpsession import AIOHTTPSession
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from graph import __version__
from graph.core.errors import DatabaseUnavailable

T = TypeVar("T")

USER_AGENT = f"quakegraph/{__version__}"
CONNECTIONS = 50  # at once; more requests wait for one of them


class TryAgain(DatabaseUnavailable):
    """What DynamoDB answered holds only for the moment. After the last round it is what the caller gets."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits of time and number, and the way to wait."""

    connect_seconds: float = 2.0
    read_seconds: float = 2.0  # DynamoDB answers in milliseconds, 1 MB or 100 actions included
    direct_seconds: float = 1.0  # for a call before it is botocore's
    attempts: int = 3  # of one request by botocore; all together within the time that a query may take
    rounds: int = 10  # without progress
    first_pause_seconds: float = 0.05
    longest_pause_seconds: float = 1.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def config(self, open_session: Callable[..., AIOHTTPSession]) -> AioConfig:
        """botocore's share. What it would check of a request's shape is ours by construction."""
        return AioConfig(
            connect_timeout=self.connect_seconds,
            read_timeout=self.read_seconds,
            retries={"mode": "standard", "total_max_attempts": self.attempts},
            max_pool_connections=CONNECTIONS,
            parameter_validation=False,
            user_agent=USER_AGENT,  # botocore's own is put together twice a call, for 0.1 ms
            http_session_cls=open_session,  # type: ignore[arg-type]  # called, and no more
        )

    async def persist(self, once: Callable[[], Awaitable[T]]) -> T:
        """Do it, again for as long as it raises `TryAgain` and rounds are left."""
        rounds = AsyncRetrying(
            retry=retry_if_exception_type(TryAgain),
            stop=stop_after_attempt(self.rounds),
            wait=wait_random_exponential(self.first_pause_seconds, self.longest_pause_seconds),
            sleep=self.sleep,
            reraise=True,
        )
        return await rounds(once)


RETRY_POLICY = RetryPolicy()
