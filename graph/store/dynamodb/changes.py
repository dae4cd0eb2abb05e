"""The changes of tables, by their streams. A table whose stream cannot be read rings once a second instead.

A false alarm costs one empty read; a change without an alarm is never looked for. So no trouble ends this,
known or not: it makes it slower.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing

from graph.observability.logs import get_logger
from graph.store.dynamodb.client import Connected, Streams, open_streams
from graph.store.dynamodb.errors import (
    NETWORK,
    OUTAGE,
    OVERLOAD,
    REFUSED,
    STREAMLESS,
    UNKNOWN,
    advice_on,
)
from graph.store.dynamodb.retry_policy import RetryPolicy
from graph.store.dynamodb.shards import NoStream, Shards

ROUND_S = 0.25  # between two readings of a shard, each of which is charged
SWEEP_S = 1.0  # between two rings while the stream cannot be read
MOST_SWEEPS = 10  # between two attempts to read it; a first failure has one
GAP_S = 0.1  # between two rings of several tables
PASSING = frozenset({OVERLOAD, OUTAGE, NETWORK})
"""After these the reading goes on where it was; after all else it begins anew."""

Rings = AsyncGenerator[None, None]

logger = get_logger(__name__)


async def changes(tables: Sequence[str], connection: Connected, retry_policy: RetryPolicy) -> Rings:
    """Yields soon after any of the tables may have changed."""
    async with AsyncExitStack() as stack:
        streams = _SharedClient(stack, connection, retry_policy)
        each = [_changes_of(table, connection, streams, retry_policy) for table in tables]
        for rings in each:
            await stack.enter_async_context(aclosing(rings))
        rings = each[0] if len(each) == 1 else _any_of(each, retry_policy)
        async with aclosing(rings):
            async for _ in rings:
                yield


class _SharedClient:
    """The client for the streams of all tables, opened when the first of them is read."""

    def __init__(self, stack: AsyncExitStack, connection: Connected, retry_policy: RetryPolicy) -> None:
        self._stack = stack  # which closes it
        self._connection = connection
        self._retry_policy = retry_policy
        self._opening = asyncio.Lock()
        self._client: Streams | None = None

    async def get(self) -> Streams:
        async with self._opening:
            if self._client is None:
                opening = open_streams(self._connection, self._retry_policy)
                self._client = await self._stack.enter_async_context(opening)
            return self._client


async def _any_of(each: Sequence[Rings], retry_policy: RetryPolicy) -> Rings:
    """Yields after any of them did, once for those that did meanwhile."""
    waiting = {asyncio.create_task(_next(rings)): rings for rings in each}
    try:
        while True:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                rings = waiting.pop(task)
                await task
                waiting[asyncio.create_task(_next(rings))] = rings
            yield
            await retry_policy.sleep(GAP_S)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def _next(rings: Rings) -> None:
    await anext(rings)


async def _changes_of(table: str, connection: Connected, streams: _SharedClient, retry_policy: RetryPolicy) -> Rings:
    """Yields after the first reading, and each that found records, failed, or is the first not to fail again."""
    shards: Shards | None = None
    failures, warned = 0, set[str]()
    while True:
        try:
            client = await streams.get()
            shards = shards or Shards(client, await _stream(table, connection))
            changed = await shards.read() or failures > 0
            failures = 0
        except Exception as error:
            failures += 1
            advice = STREAMLESS if isinstance(error, NoStream) else advice_on(error) or REFUSED
            if advice not in PASSING:
                shards = None
            if advice not in warned:
                warned.add(advice)
                _warn(table, advice, error)
        if not failures:
            if changed:
                yield
            await retry_policy.sleep(ROUND_S)
        for _ in range(min(failures, MOST_SWEEPS)):
            yield
            await retry_policy.sleep(SWEEP_S)


async def _stream(table: str, connection: Connected) -> str:
    described = (await connection.client.describe_table(TableName=table))["Table"]
    if not described.get("StreamSpecification", {}).get("StreamEnabled"):
        raise NoStream
    return described["LatestStreamArn"]


def _warn(table: str, advice: str, error: Exception) -> None:
    said = f" ({type(error).__name__}: {error})" if str(error) else ""
    logger.warning(
        "Changes are looked for once a second",
        cause=f"the stream of table {table} cannot be read: it {advice}{said}",
        exc_info=advice == UNKNOWN,
    )
