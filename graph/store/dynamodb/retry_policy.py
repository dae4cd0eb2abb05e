"""The waits and attempts of the engine, before it raises `DatabaseUnavailable`.

botocore retries single requests after errors of the network or of DynamoDB. The engine retries after
temporary answers (unprocessed items, a conflict of two transactions), in rounds with a random and
growing pause.
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
    """DynamoDB's answer is temporary. After the last round, the caller receives this error."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits of time and number, and the way to wait."""

    connect_seconds: float = 2.0
    read_seconds: float = 2.0  # DynamoDB answers in milliseconds, 1 MB or 100 actions included
    direct_seconds: float = 1.0  # for a direct call, before botocore sends it again
    attempts: int = 3  # of one request by botocore; together they fit into the time limit of a query
    rounds: int = 10  # without progress
    first_pause_seconds: float = 0.05
    longest_pause_seconds: float = 1.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def config(self, open_session: Callable[..., AIOHTTPSession]) -> AioConfig:
        """botocore's configuration. Requests need no validation: this engine makes them in their right shape."""
        return AioConfig(
            connect_timeout=self.connect_seconds,
            read_timeout=self.read_seconds,
            retries={"mode": "standard", "total_max_attempts": self.attempts},
            max_pool_connections=CONNECTIONS,
            parameter_validation=False,
            user_agent=USER_AGENT,  # botocore builds its own twice for each call, in 0.1 ms
            http_session_cls=open_session,  # type: ignore[arg-type]  # it is only called
        )

    async def persist(self, once: Callable[[], Awaitable[T]]) -> T:
        """Call a function until it no longer raises `TryAgain`, or no round is left."""
        rounds = AsyncRetrying(
            retry=retry_if_exception_type(TryAgain),
            stop=stop_after_attempt(self.rounds),
            wait=wait_random_exponential(self.first_pause_seconds, self.longest_pause_seconds),
            sleep=self.sleep,
            reraise=True,
        )
        return await rounds(once)


RETRY_POLICY = RetryPolicy()
